# SPDX-License-Identifier: GPL-3.0-or-later
"""The axis with which a head or an eye looks, and the way that a body faces at rest."""

from __future__ import annotations

from typing import NamedTuple

from bpy.types import Object
from mathutils import Vector

from ..errors import SettingError
from ..settings.bend import LOOK_AXES
from .anatomy.body import RestBone
from .anatomy.limbs import ARM, LEG, RestBody
from .armature import find_bone

_AHEAD = 0.7  # cosine of the angle to the front up to which a bone itself looks, as that of an eye
_BONE = Vector((0.0, 1.0, 0.0)).freeze()
_FRONT, _UP = Vector((0.0, -1.0, 0.0)).freeze(), Vector((0.0, 0.0, 1.0)).freeze()
_NEARLY = 0.96  # cosine of the angle to an axis of the armature, along which a body is meant to stand then
_FLAT = 0.1  # length of the product of two unit vectors that are too near to each other to tell a side


class Look(NamedTuple):
    """The `axis` of a bone that looks, the `origin` of the look from its tail, and what is `up` for a face.

    All are in the bone's own axes.
    """

    axis: Vector
    origin: Vector
    up: Vector | None


def look_of(armature: Object, tip: str, chosen: str = "AUTO") -> Look:
    """Return the look of a bone along the `chosen` one of LOOK_AXES, from the middle of the bone.

    AUTO is the bone itself if it points to the front at rest, as that of an eye, and otherwise the front of the body:
    a face looks straight ahead at rest, however its bone leans. An eye may roll, as eyes do. Raises SettingError
    for an unknown axis.
    """
    bone = find_bone(armature, tip)
    middle, into = Vector((0.0, -0.5 * bone.length, 0.0)), bone.matrix_local.to_3x3().transposed()
    own, up = (into @ way for way in stance_of(armature))
    if chosen == "AUTO":
        is_eye = own.y >= _AHEAD
        return Look(_BONE.copy() if is_eye else own, middle, None if is_eye else up)
    if chosen not in LOOK_AXES:
        raise SettingError(f"Axis '{chosen}' is unknown. Choose one of {', '.join(('AUTO', *LOOK_AXES))}.")
    axis = Vector([1.0 if letter == chosen[-1] else 0.0 for letter in "XYZ"])
    axis = -axis if chosen.startswith("-") else axis
    return Look(axis, middle, up if abs(axis.dot(up)) < _AHEAD else None)


def _squared(way: Vector) -> Vector:
    """Return the armature's axis that a direction is near to: feet stand a little ahead of the hips, or behind them."""
    axes = (sign * axis for axis in (Vector((1, 0, 0)), Vector((0, 1, 0)), Vector((0, 0, 1))) for sign in (1.0, -1.0))
    nearest = max(axes, key=way.dot)
    return nearest if nearest.dot(way) > _NEARLY else way


def stance_of(armature: Object) -> tuple[Vector, Vector]:
    """Return the unit directions that are in front of a body and up at rest, armature space.

    The front is square to the line between its legs, or arms, and to that up the legs; -Y where there are none, as
    Blender has it.
    """
    rest = {
        bone.name: RestBone(bone.parent.name if bone.parent else None, tuple(bone.head_local), tuple(bone.tail_local))
        for bone in armature.data.bones
    }
    body = RestBody(rest)
    for kind in (LEG, ARM):
        ends = {limb.side: [Vector(rest[name].head) for name in limb.bones] for limb in body.limbs(kind)}
        if "L" in ends and "R" in ends:
            (left, *_, low_left), (right, *_, low_right) = ends["L"], ends["R"]
            up = (left - low_left) + (right - low_right) if kind is LEG else _UP
            front = (left - right).normalized().cross(up.normalized())
            if front.length > _FLAT:
                return _squared(front.normalized()), _squared(up.normalized())
    return _FRONT.copy(), _UP.copy()

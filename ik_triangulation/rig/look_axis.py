# SPDX-License-Identifier: GPL-3.0-or-later
"""The axis with which a head or an eye looks."""

from __future__ import annotations

from typing import NamedTuple

from bpy.types import Object
from mathutils import Vector

from ..errors import SettingError
from ..settings.goal import LOOK_AXES
from .armature import find_bone
from .stance import stance_of

_AHEAD = 0.7  # cosine of the angle to the front up to which a bone itself looks, as that of an eye
_BONE = Vector((0.0, 1.0, 0.0)).freeze()


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

# SPDX-License-Identifier: GPL-3.0-or-later
"""Joint settings of many bones at once: taken from other sources, copied, mirrored, learned from keys.

Everything is read before the first setting is written: if one bone is refused, none is changed.
"""

from collections.abc import Sequence
from math import ceil, degrees, floor, isfinite, isinf
from typing import NamedTuple

import bpy
import numpy as np
from bpy.types import FCurve, Object, PoseBone
from mathutils import Quaternion

from ..errors import AnimationError, ChainError, FreedomError
from ..items import OFF_AXIS, SHARE
from ..kinematics import Cone, EulerLimits, Freedom, Hinge, Locked, unframed
from ..kinematics.framed import mirror_between, mirrored
from ..kinematics.rotation import rotation_angle
from ..motion.learning import Learned, learn_freedom
from ..rig.armature import find_bone
from ..rig.checks import LONGEST_RANGE
from ..rig.freedom import freedom_of, limits_of, stiffness_of, store
from ..rig.keyframes import curves_of
from ..rig.rotation import channel, limit_order, rotation_from, rotation_of
from ..settings import check_registered
from .shots.writing import all_or_nothing

_LARGEST = 1e6  # [rad] channel value beyond which single precision resolves no rotation


class JointNow(NamedTuple):
    """Freedom and state of a joint: `angle` about its hinge, or from rest [rad]; stiffness `stiff`, 0..1.

    `ends` are the limits that it is at; `outside` is True if it violates them.
    """

    freedom: Freedom
    angle: float
    stiff: float
    ends: Sequence[str]
    outside: bool


def joint_now(bone: PoseBone) -> JointNow:
    """Return freedom and state of a bone's joint as posed. Raises FreedomError and ChainError as freedom_of() does."""
    freedom, rotation = freedom_of(bone), rotation_of(bone)
    allowed = freedom.nearest(rotation)
    if isinstance(freedom, Hinge) and freedom.moves:
        angle = freedom.coordinates(rotation)[0].value
    else:
        angle = rotation_angle(rotation, Quaternion())
    return JointNow(freedom, angle, stiffness_of(bone), freedom.on_limits(allowed), allowed is not rotation)


@all_or_nothing
def copy_to_own(armature: Object, bones: Sequence[str]) -> list[str]:
    """Copy the limits in effect on each bone to its own values; return the names of bones with another source.

    Raises ChainError or FreedomError for limits that do not describe a freedom.
    """
    others = [bone for bone in _found(armature, bones) if bone.ik_triangulation_joint.source != "OWN"]
    read = [(limits_of(bone), stiffness_of(bone)) for bone in others]
    for bone, values in zip(others, read, strict=True):
        store(*values, bone.ik_triangulation_joint)
    return [bone.name for bone in others]


@all_or_nothing
def copy_to_others(armature: Object, source: str, bones: Sequence[str]) -> list[str]:
    """Copy the limits in effect on `source` to the other bones' own values; return the names of these.

    Raises ChainError or FreedomError for limits that do not describe a freedom.
    """
    others = [bone for bone in _found(armature, bones) if bone.name != source]
    if not others:
        raise ChainError(f"No bones but '{source}' are selected. Select those to copy its joint to.")
    (bone,) = _found(armature, [source])
    freedom, stiffness = limits_of(bone), stiffness_of(bone)
    for other in others:
        store(freedom, stiffness, other.ik_triangulation_joint)
    return [other.name for other in others]


@all_or_nothing
def mirror(armature: Object, bones: Sequence[str]) -> list[str]:
    """Copy the mirror image of the bones' limits to own values of the bones on the other side; return their names.

    The mirror is the YZ plane of the armature, in the rest pose. Raises ChainError for a bone without a side in
    its name or a partner, and if both sides are given; FreedomError for limits that cannot be mirrored.
    """
    images = []
    for bone in _found(armature, bones):
        other = _partner(armature, bone, bones)
        rest, other_rest = (each.bone.matrix_local.to_3x3() for each in (bone, other))
        try:
            freedom = mirrored(limits_of(bone), mirror_between(rest, other_rest))
        except FreedomError as error:
            raise FreedomError(f"'{bone.name}' to '{other.name}': {error}") from error
        images.append((freedom, stiffness_of(bone), other))
    for freedom, stiffness, other in images:
        store(freedom, stiffness, other.ik_triangulation_joint)
    return [other.name for _, _, other in images]


@all_or_nothing
def learn(
    armature: Object, bones: Sequence[str], off_axis: float = OFF_AXIS, share: float = SHARE, margin: float = 0.0
) -> dict[str, Learned]:
    """Learn the limits of each bone from its keys, as its own values; return what was learned, by bone.

    The active action is read at every whole frame from the bone's first rotation key to its last. `off_axis` [rad],
    `share` [%] and `margin` [rad] are those of learn_freedom(). Raises AnimationError for a bone without keys, and for
    more frames than can be baked.
    """
    found = {bone.name: _learn(bone, off_axis, share, margin) for bone in _found(armature, bones)}
    for name, learned in found.items():
        bone = armature.pose.bones[name]
        store(learned.freedom, stiffness_of(bone), bone.ik_triangulation_joint)
    return found


def _found(armature: Object, bones: Sequence[str]) -> list[PoseBone]:
    check_registered()
    if not bones:
        raise ChainError("No bones are selected. Select the bones to set up.")
    return [armature.pose.bones[find_bone(armature, name).name] for name in bones]


def _partner(armature: Object, bone: PoseBone, chosen: Sequence[str]) -> PoseBone:
    name = bpy.utils.flip_name(bone.name)
    if name == bone.name:
        raise ChainError(f"'{bone.name}' has no side in its name. Select bones named like 'Arm.L' only.")
    if name in chosen:
        raise ChainError(f"'{bone.name}' and '{name}' are both selected. Select one side, the one to mirror.")
    partner = armature.pose.bones.get(name)
    if partner is None:
        raise ChainError(f"'{bone.name}' has no partner: '{armature.name}' has no bone '{name}'. Deselect or name it.")
    return partner


def _learn(bone: PoseBone, off_axis: float, share: float, margin: float) -> Learned:
    mode, (name, _) = bone.rotation_mode, channel(bone)
    path = bone.path_from_id(name)
    heard = [c for c in curves_of(bone.id_data) if c.data_path == path and not c.mute and not c.is_empty]
    if not heard:
        raise AnimationError(f"'{bone.name}' has no keys on its {mode} rotation to learn from. Key or deselect it.")
    first, last = _span(heard)
    if not all(map(isfinite, (first, last))):
        raise AnimationError(f"Keys of '{bone.name}' are at frames that are no numbers. Delete them.")
    if last - first >= LONGEST_RANGE:
        raise AnimationError(
            f"The rotation keys of '{bone.name}' span {last - first + 1:.0f} frames, which is too many. "
            f"Learn from {LONGEST_RANGE} at most: delete the keys far away."
        )
    rows = _rows(heard, list(getattr(bone, name)), range(ceil(first), floor(last) + 1) or [first])
    if not (np.abs(rows) < _LARGEST).all():
        raise AnimationError(f"Keys of '{bone.name}' are no numbers, or far too large. Delete them.")
    order = limit_order(bone)
    rotations = np.array([rotation_from(row, mode)[:] for row in rows.tolist()])
    return learn_freedom(rotations, order, off_axis, share, margin, rows if order == mode else None)


def _span(curves: Sequence[FCurve]) -> tuple[float, float]:
    """Return the frames of the first and of the last key."""
    ranges = [curve.range() for curve in curves]
    return min(start for start, _ in ranges), max(end for _, end in ranges)


def _rows(curves: Sequence[FCurve], values: Sequence[float], frames: Sequence[float]) -> np.ndarray:
    """Return channel values at these frames, a row each; `values` for channels that have no curve."""
    rows = np.tile(np.array(values, float), (len(frames), 1))
    for curve in curves:
        rows[:, curve.array_index] = [curve.evaluate(frame) for frame in frames]
    return rows


def kind_text(freedom: Freedom) -> str:
    """Return the kind of joint, with the axis of a hinge if it is one of the bone's own axes."""
    freedom = unframed(freedom)
    if isinstance(freedom, Locked) or not freedom.moves:
        return "Locked"
    if isinstance(freedom, Hinge):
        along = [sign + axis for i, axis in enumerate("XYZ") for sign in _sign(freedom.axis[i])]
        return f"Hinge {along[0]}" if along else "Hinge"
    return "Euler" if isinstance(freedom, EulerLimits) else "Cone" if isinstance(freedom, Cone) else "Free"


def range_text(freedom: Freedom) -> str:
    """Return the limits of the joint; empty if there are none."""
    freedom = unframed(freedom)
    if isinstance(freedom, Hinge):
        return _range(freedom.lower, freedom.upper)
    if isinstance(freedom, Cone):
        twist = _range(freedom.twist_lower, freedom.twist_upper)
        return f"to {angle_text(freedom.swing)}" + (f", twist {twist}" if twist else "")
    if isinstance(freedom, EulerLimits):
        ranges = zip("XYZ", freedom.lower, freedom.upper, strict=True)
        return ", ".join(f"{axis} {_range(*ends)}" for axis, *ends in ranges if _range(*ends))
    return ""


def angle_text(angle: float) -> str:
    """Return an angle [rad] in whole degrees."""
    return f"{round(degrees(angle)) + 0}°"


def _sign(part: float) -> list[str]:
    """Return the sign of a unit vector's component of length one, as a list; empty for other components."""
    return [] if abs(part) < 1.0 - 1e-6 else ["" if part > 0.0 else "-"]


def _range(lower: float, upper: float) -> str:
    if isinf(lower) and isinf(upper):
        return ""
    ends = ("any" if isinf(end) else angle_text(end) for end in (lower, upper))
    return " to ".join(ends)

# SPDX-License-Identifier: GPL-3.0-or-later
"""Targets that were made for hands, and whether somebody has turned them since.

A hand whose target is only moved stays natural to its forearm. It turns with its target, over the whole shot, once that
is turned anywhere in it: now, by keys, a driver or a constraint. Keys that hold the rotation with which the target was
made turn nothing, as Blender keys rotation along with location by default; nor does the target's parent.

The rotation is stored on the target: another target of the limb has none, and a copy of this one has it too.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import radians

import numpy as np
from bpy.types import AnimData, Constraint, FCurve, Object, PropertyGroup
from mathutils import Quaternion

from ..kinematics.rotation import rotation_angle
from .keyframes.arrays import enum_number, get_keys
from .nla import curves_in, strips_of
from .rotation import channel, rotation_from

MADE_ROTATION = "ik_triangulation_made_rotation"  # the property of objects
_TURNED = radians(0.1)  # more than this is a turn
_DELTAS = {"rotation_euler": "delta_rotation_euler"}  # of other modes a quaternion
_ONLY_PLACE = {
    "CLAMP_TO",
    "COPY_LOCATION",
    "COPY_SCALE",
    "LIMIT_DISTANCE",
    "LIMIT_LOCATION",
    "LIMIT_SCALE",
    "MAINTAIN_VOLUME",
    "PIVOT",
}
# Constraints that turn their owner if one of these is on.
_SWITCHES = {
    "CHILD_OF": ("use_rotation_x", "use_rotation_y", "use_rotation_z"),
    "FLOOR": ("use_rotation",),
    "FOLLOW_PATH": ("use_curve_follow",),
    "SHRINKWRAP": ("use_track_normal",),
}


def remember_rotation(target: Object) -> None:
    """Store the present rotation of a target as the one with which it was made for a hand."""
    setattr(target, MADE_ROTATION, _rotation(target))


def forget_rotation(target: Object) -> None:
    """Have a hand turn with its target from now on, as if that was turned."""
    setattr(target, MADE_ROTATION, (0.0, 0.0, 0.0, 0.0))


def made_rotation_of(target: Object) -> tuple[float, ...]:
    """Return the quaternion with which a target was made for a hand; zeros, or nothing, if it was not."""
    return tuple(getattr(target, MADE_ROTATION, ()))  # there is none where nothing is registered


def is_as_made(target: Object) -> bool:
    """Tell whether a target was made for a hand and is not turned since, neither now nor anywhere in its animation."""
    stored = made_rotation_of(target)
    if not any(stored):
        return False
    made = Quaternion(stored)
    if rotation_angle(_rotation(target), made) > _TURNED or any(map(_turns, target.constraints)):
        return False
    animation = target.animation_data
    return animation is None or not _is_turned_by(animation, target, made)


def is_not_turned_yet(stored: PropertyGroup) -> bool:
    """Tell whether the tip of a limb, whose settings are `stored`, turns with its target only once that is turned."""
    target = stored.target
    if stored.orientation != "AUTO" or target is None or target.type != "EMPTY":
        return False
    return target.empty_display_type == "ARROWS" and is_as_made(target)


def _rotation(target: Object, curves: Sequence[FCurve] = ()) -> Quaternion:
    """Return the target's own rotation, with its delta; of channels with one of these curves, at its first key."""
    path, delta = _paths(target)
    values = {name: list(getattr(target, name)) for name in (path, delta)}
    for curve in curves:
        values[curve.data_path][curve.array_index] = curve.keyframe_points[0].co.y
    mode = target.rotation_mode
    return rotation_from(values[delta], mode if delta in _DELTAS.values() else "QUATERNION") @ rotation_from(
        values[path], mode
    )


def _paths(target: Object) -> tuple[str, str]:
    """Return the names of the properties by which a target is turned: of its rotation mode, and that of its delta."""
    path = channel(target)[0]
    return path, _DELTAS.get(path, "delta_rotation_quaternion")


def _is_turned_by(animation: AnimData, target: Object, made: Quaternion) -> bool:
    """Tell whether drivers, the active action or NLA strips give a target another rotation than it was made with."""
    paths = _paths(target)
    if any(curve.data_path in paths and not curve.mute for curve in animation.drivers):
        return True
    for curves, replaces in _animations(animation):
        turning = [curve for curve in curves if curve.data_path in paths and not (curve.mute or curve.is_empty)]
        if turning and (not replaces or any(map(_varies, turning))):
            return True
        if turning and rotation_angle(_rotation(target, turning), made) > _TURNED:
            return True
    return False


def _animations(animation: AnimData) -> Iterator[tuple[Sequence[FCurve], bool]]:
    """Yield the F-curves of the active action and of each NLA strip, and whether they replace what is below."""
    yield list(curves_in(animation.action, animation.action_slot)), animation.action_blend_type == "REPLACE"
    for strip in strips_of(animation) if animation.use_nla else ():
        if not strip.mute:
            yield list(curves_in(strip.action, strip.action_slot)), strip.blend_type == "REPLACE"


def _varies(curve: FCurve) -> bool:
    """Tell whether the values of an F-curve differ by half of a turn that counts, or may."""
    if len(curve.sampled_points) or any(not modifier.mute for modifier in curve.modifiers):
        return True
    keys = get_keys(curve, ["co", "handle_left", "handle_right", "interpolation"])
    smooth = keys["interpolation"] == enum_number("interpolation", "BEZIER")
    values = np.concatenate((keys["co"][:, 1], keys["handle_left"][smooth, 1], keys["handle_right"][smooth, 1]))
    return not len(values) or bool(np.ptp(values) > _TURNED / 2.0)


def _turns(constraint: Constraint) -> bool:
    """Tell whether a constraint may turn its owner."""
    if constraint.mute or constraint.type in _ONLY_PLACE:
        return False
    switches = _SWITCHES.get(constraint.type)
    return switches is None or any(getattr(constraint, name) for name in switches)

# SPDX-License-Identifier: GPL-3.0-or-later
"""Times and values of the keyframes that an object's active action has."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Collection

import numpy as np
from bpy.types import FCurve, Keyframe, Object

from ...kinematics.arrays import Mask
from ..rotation import channel
from .arrays import SAME_FRAME, enum_number, get_keys, in_range
from .channelbags import channelbag_of, curves_of, find_curves

GENERATED = "GENERATED"  # Blender's type of keyframes that were not made by hand

ByHand = dict[float, dict[int, float]]  # values of a bone's keyframes by frame and array index


def values_before(armature: Object, path: str, frame: float) -> dict[int, float]:
    """Return the values of the last keyframes before `frame` on a property, by array index."""
    return {index: value for index, (_, value) in keys_beside(armature, path, frame, after=False).items()}


def keys_beside(armature: Object, path: str, frame: float, after: bool) -> dict[int, tuple[float, float]]:
    """Return time and value of the first keyframes `after` a frame, or the last before it, by array index."""
    found = {}
    for index, curve in find_curves(channelbag_of(armature), path).items():
        points = curve.keyframe_points  # in order of time
        first, last = curve.range()
        if not len(points) or (last <= frame + SAME_FRAME if after else first >= frame - SAME_FRAME):
            continue  # the usual case: nothing is beside what was baked
        if after:
            at = bisect_right(points, frame + SAME_FRAME, key=_time)
        else:
            at = bisect_left(points, frame - SAME_FRAME, key=_time) - 1
        if 0 <= at < len(points):
            found[index] = points[at].co.x, points[at].co.y
    return found


def _time(key: Keyframe) -> float:
    return float(key.co.x)


def key_frames(ob: Object, bone: str, first: float, last: float) -> list[float]:
    """Return the times of all keyframes of an object, or of its `bone`, from `first` to `last`, each time once."""
    path = ob.pose.bones[bone].path_from_id() if bone else ""
    curves = [curve for curve in curves_of(ob) if curve.data_path.startswith(path or "pose.bones") == bool(path)]
    times = [get_keys(curve, ["co"])["co"][:, 0] for curve in curves]
    found = np.unique(np.concatenate(times)) if times else np.empty(0)
    found = found[(found >= first) & (found <= last)]
    return [float(time) for time in found[np.diff(found, prepend=-np.inf) > SAME_FRAME]]


def made_by_hand(armature: Object, bones: Collection[str], first: float, last: float) -> dict[str, ByHand]:
    """Return the rotation keyframes of the bones from `first` to `last` that were not generated, in order of time."""
    found: dict[str, ByHand] = {}
    bag = channelbag_of(armature)
    for name in bones:
        bone = armature.pose.bones[name]
        for index, curve in find_curves(bag, bone.path_from_id(channel(bone)[0])).items():
            keys = get_keys(curve, ["type", "co"])
            ours = in_range(keys, first, last) & (keys["type"] != enum_number("type", GENERATED))
            for time, value in keys["co"][ours].tolist():
                found.setdefault(name, {}).setdefault(time, {})[index] = value
    return {name: dict(sorted(keys.items())) for name, keys in found.items()}


def is_baked(armature: Object, bones: Collection[str]) -> bool:
    """Tell whether a bake has left rotation keyframes on one of the bones, in the active action."""
    bag = channelbag_of(armature)
    for bone in (armature.pose.bones[name] for name in bones) if bag is not None else ():
        curves = find_curves(bag, bone.path_from_id(channel(bone)[0]))
        if any(generated(curve).any() for curve in curves.values()):
            return True
    return False


def generated(curve: FCurve) -> Mask:
    """Return a mask of the keyframes that a bake has made."""
    mask: Mask = get_keys(curve, ["type"])["type"] == enum_number("type", GENERATED)
    return mask

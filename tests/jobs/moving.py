# SPDX-License-Identifier: GPL-3.0-or-later
"""A limb and a target that moves."""

from random import Random

import bpy
import numpy as np

from ik_triangulation.rig.limb import Limb

from ..rigs import (
    chain_rig,
    curves_of,
    empty,
    key_location,
    random_rotation,
    rotate,
)


def limb(rig, target, **settings):
    """All bones of the rig."""
    return Limb.from_tip(rig, rig.pose.bones[-1].name, target, **settings)


def moving(bones=3, mode="QUATERNION", frames=range(1, 41, 3)):
    """A rig and a target that goes round it."""
    rig = chain_rig(bones, mode=mode)
    return rig, key_location(empty(), frames)


def bits(values):
    """Numbers as they are stored, so that -0.0 and 0.0 differ."""
    return np.asarray(values, np.float32).tobytes()


def dress(curve):
    """Give the keys of a curve all kinds of attributes."""
    kinds = ("BEZIER", "LINEAR", "ELASTIC", "CONSTANT", "BACK", "BOUNCE")
    for i, key in enumerate(curve.keyframe_points):
        key.interpolation = kinds[i % len(kinds)]
        key.easing = ("AUTO", "EASE_IN", "EASE_OUT")[i % 3]
        key.type = ("KEYFRAME", "EXTREME", "BREAKDOWN")[i % 3]
        key.handle_left_type = key.handle_right_type = ("FREE", "ALIGNED", "VECTOR", "AUTO")[i % 4]
        key.amplitude, key.period, key.back = 0.3 * i, 1.0 + i, 0.5 + i
        key.select_control_point = i % 2 == 0


def animated(kind):
    """A rig with no animation data, an empty action, or keys of every sort."""
    rig, target = moving()
    if kind == "an empty action":
        rig.animation_data_create().action = bpy.data.actions.new("Mine")
    if kind == "keys":
        for name in ("Bone 2", "Bone 0"):
            bone = rig.pose.bones[name]
            bone.keyframe_insert("location", frame=2)
            for frame in (1, 3, 8, 12):
                rotate(bone, random_rotation(Random(frame)))
                bone.keyframe_insert("rotation_quaternion", frame=frame, group="Mine")
        for curve in curves_of(rig):
            dress(curve)
    return rig, target

# SPDX-License-Identifier: GPL-3.0-or-later
"""Limbs that reach, and the path of the tip."""

import bpy
import numpy as np
from mathutils import Quaternion, Vector

from ik_triangulation.kinematics.rotation import rotation_angle
from ik_triangulation.rig.limb import Limb

from ..rigs import (
    chain_rig,
    empty,
    evaluated_tip,
    rotate,
    rotation_from,
    rows,
)

TOLERANCE = 1e-3  # the default one


MIDDLE = "Bone 1"


def posed(bones=4, mode="QUATERNION"):
    """A rig that is bent and turned a little, and a target it reaches."""
    rig = chain_rig(bones, mode=mode)
    rotate(rig.pose.bones["Bone 0"], Quaternion((0.0, 1.0, 0.0), 0.3))
    rotate(rig.pose.bones[MIDDLE], Quaternion((1.0, 0.0, 0.0), -0.6))
    return rig, empty(location=(1.5, 1.0, 1.8))


def limb(rig, target, **settings):
    """All bones of the rig."""
    return Limb.from_tip(rig, rig.pose.bones[-1].name, target, **settings)


def tips(rig, frames):
    """Where the tip is at each frame, in a row each."""
    found = []
    for frame in frames:
        bpy.context.scene.frame_set(frame)
        found.append(evaluated_tip(rig, rig.pose.bones[-1].name)[:])
    return np.array(found)


def rotations(rig, bone):
    """The keyed rotations of a bone."""
    return [rotation_from(rig.pose.bones[bone].rotation_mode, row) for row in rows(rig, bone).tolist()]


def turned(rig, bone):
    """How far [rad] the keyed rotations of a bone are from the first one."""
    first, *others = rotations(rig, bone)
    return np.array([0.0, *(rotation_angle(first, other) for other in others)])


def moving_target(frame):
    return Vector((1.2 + 0.02 * frame, 1.0 - 0.01 * frame, 1.5))

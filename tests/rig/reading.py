# SPDX-License-Identifier: GPL-3.0-or-later
"""Rigs to be read."""

from mathutils import Quaternion


def turn_bone(rig, name):
    pose_bone = rig.pose.bones[name]
    for frame, angle in ((1, -0.5), (20, 0.7)):
        pose_bone.rotation_quaternion = Quaternion((1.0, 0.0, 0.0), angle)
        pose_bone.keyframe_insert("rotation_quaternion", frame=frame)

# SPDX-License-Identifier: GPL-3.0-or-later
"""The button Target from Animation, its settings and its messages."""

import bpy
import pytest
from mathutils import Quaternion

from ...rigs import all_keys, chain_rig, configure, empty, evaluated_tip, rotate

pytestmark = pytest.mark.usefixtures("empty_scene", "addon")


def animated_limb():
    rig, target = chain_rig(4), empty()
    configure(rig, "Bone 3", target=target, chain_count=0)
    for frame, angle in ((1, 0.1), (11, 0.9)):
        rotate(rig.pose.bones["Bone 1"], Quaternion((1.0, 0.0, 0.0), angle))
        rig.pose.bones["Bone 1"].keyframe_insert("rotation_quaternion", frame=frame)
    bpy.context.scene.frame_start, bpy.context.scene.frame_end = 1, 11
    return rig, target


def times(target):
    return [sorted({key[0][0] for key in keys}) for keys in all_keys(target).values()]


def test_it_keys_the_target_over_the_scene_and_a_bake_follows_it():
    rig, target = animated_limb()
    assert bpy.ops.pose.ik_triangulation_target_from_animation() == {"FINISHED"}
    assert times(target) == [[float(frame) for frame in range(1, 12)]] * 6
    assert bpy.ops.pose.ik_triangulation_bake() == {"FINISHED"}
    bpy.context.scene.frame_set(6)
    assert (evaluated_tip(rig, "Bone 3") - target.matrix_world.translation).length < 1e-3


def test_a_range_and_only_the_keys_can_be_asked_for():
    _, target = animated_limb()
    bpy.ops.pose.ik_triangulation_target_from_animation(frame_start=5, only_keys=True)
    assert times(target) == [[11.0]] * 6


def test_all_limbs_are_followed_at_once():
    rig, target = animated_limb()
    other = empty("Other")
    configure(rig, "Bone 1", target=other, chain_count=1)
    configure(rig, "Bone 3", target=target, chain_count=2)
    bpy.ops.pose.ik_triangulation_target_from_animation(all_limbs=True)
    assert times(target) == times(other)


def test_a_target_with_locked_channels_is_reported():
    _, target = animated_limb()
    target.lock_location = (True, True, True)
    with pytest.raises(RuntimeError, match="Unlock its location and rotation"):
        bpy.ops.pose.ik_triangulation_target_from_animation()
    assert not all_keys(target)

# SPDX-License-Identifier: GPL-3.0-or-later
"""Edit a shot by the operators of the panel, on rigs nobody here wrote."""

from math import radians

import bpy
import pytest
from mathutils import Euler

from ..edited import HANDS, opened
from ..rigs import evaluated_tip, nothing_lost, select

KINDS = tuple(HANDS)
each_rig = pytest.mark.parametrize("kind", KINDS)
pytestmark = pytest.mark.usefixtures("empty_scene", "addon")


def arm(kind, rigify_file):
    """A rig of that kind with a limb made by Add Limb on its left hand, and the target."""
    rig, hands, _ = opened(kind, rigify_file)
    select(rig, hands[0])
    bpy.ops.pose.ik_triangulation_limb_add()
    return rig, hands[0], rig.pose.bones[hands[0]].ik_triangulation.target


def pose_by_fk(rig, hand):
    """Turn the two bones above the hand, and the hand, by FK."""
    bones = [rig.pose.bones[hand], *rig.pose.bones[hand].parent_recursive[:2]]
    for bone, turn in zip(bones, ((0.3, 0.2, 0.0), (0.5, 0.0, 0.1), (0.2, 0.1, 0.4)), strict=True):
        bone.rotation_mode = "XYZ"
        bone.rotation_euler = Euler(turn)
    if "hand_fk" in hand:
        rig.pose.bones["upper_arm_parent.L"]["IK_FK"] = 1.0
        rig.update_tag()
    bpy.context.view_layer.update()


@each_rig
def test_after_posing_by_fk_the_target_is_on_the_hand_again(kind, rigify_file):
    rig, hand, target = arm(kind, rigify_file)
    pose_by_fk(rig, hand)
    tip = evaluated_tip(rig, hand)
    assert (target.matrix_world.translation - tip).length > 0.05
    assert bpy.ops.pose.ik_triangulation_target_to_tip() == {"FINISHED"}
    assert (target.matrix_world.translation - tip).length < 1e-5
    assert target.animation_data is None
    forearm = rig.pose.bones[hand].parent
    before = forearm.matrix.to_quaternion()
    bpy.ops.pose.ik_triangulation_solve()
    bpy.context.view_layer.update()
    assert before.rotation_difference(forearm.matrix.to_quaternion()).angle < radians(1.0)
    assert (evaluated_tip(rig, hand) - tip).length < 1e-4


@each_rig
def test_a_target_that_is_keyed_at_the_tip_stays_there(kind, rigify_file):
    rig, hand, target = arm(kind, rigify_file)
    for frame in (1, 20):
        target.keyframe_insert("location", frame=frame)
        target.keyframe_insert("rotation_euler", frame=frame)
    bpy.context.scene.frame_set(10)
    pose_by_fk(rig, hand)
    tip = evaluated_tip(rig, hand)
    assert bpy.ops.pose.ik_triangulation_target_to_tip(key=True) == {"FINISHED"}
    pose = {bone.name: bone.matrix_basis.copy() for bone in rig.pose.bones}
    bpy.context.scene.frame_set(1)
    bpy.context.scene.frame_set(10)
    assert pose[hand] == rig.pose.bones[hand].matrix_basis
    assert (target.matrix_world.translation - tip).length < 1e-5


def test_a_linked_or_locked_target_is_named_and_nothing_changes(rigify_file):
    rig, hand, target = arm("mixamo", rigify_file)
    pose_by_fk(rig, hand)
    target.lock_location[0] = True
    with nothing_lost(), pytest.raises(RuntimeError, match="locked channels"):
        bpy.ops.pose.ik_triangulation_target_to_tip(key=True)
    target.lock_location[0] = False
    target.keyframe_insert("location", frame=1)
    for curve in target.animation_data.action.layers[0].strips[0].channelbags[0].fcurves:
        curve.lock = True
    with nothing_lost(), pytest.raises(RuntimeError, match="locked, muted or sampled"):
        bpy.ops.pose.ik_triangulation_target_to_tip(key=True)

# SPDX-License-Identifier: GPL-3.0-or-later
"""Any bone dragged without a set-up: the body follows, what touches the ground stays, nothing is left in the file."""

from math import radians

import bpy
import pytest
from mathutils import Vector

from ik_triangulation.errors import IKError
from ik_triangulation.jobs.body_drag import BodyDrag, _on_the_ground

from ..bodies import human_rig
from ..edited import opened, t_pose_rig
from ..rigs import chain_rig, curves_of, nothing_lost

pytestmark = pytest.mark.usefixtures("empty_scene", "addon")

L, R = "mixamorig:Left", "mixamorig:Right"


def drag(rig, bone, by, parts=4):
    """A drag of a bone in some parts, still under way."""
    found = BodyDrag(rig, bone, bpy.context.scene, bpy.context.view_layer)
    for part in range(1, parts + 1):
        found.move(Vector(by) * part / parts)
    return found


def tail(rig, bone):
    return rig.matrix_world @ rig.pose.bones[bone].tail


def test_a_hand_that_is_dragged_takes_the_body_along_with_its_feet_pinned():
    rig, hands, feet = opened("mixamo", None)
    objects, start = len(bpy.data.objects), [tail(rig, name) for name in (hands[0], *feet)]
    by = Vector((-0.35, -0.4, -0.9))
    done = drag(rig, hands[0], by)
    assert set(done.pinned) == set(feet)
    assert done.finish() == ""
    assert (tail(rig, hands[0]) - start[0] - by).length < 2e-3
    assert max((tail(rig, name) - place).length for name, place in zip(feet, start[1:], strict=True)) < 1e-3
    assert len(bpy.data.objects) == objects
    assert not any(bone.ik_triangulation.target or bone.ik_triangulation.hold for bone in rig.pose.bones)
    assert not any(bone.ik_triangulation_joint.source == "OWN" for bone in rig.pose.bones)


@pytest.mark.parametrize("released", [False, True])
def test_the_arm_that_is_not_dragged_hangs_as_it_did_however_the_trunk_bends(released):
    rig, bones = human_rig(with_head=True), bpy.context.object.pose.bones
    trunk, before = bones["spine.002"].y_axis.copy(), bones["upper_arm.R"].y_axis.copy()
    done = drag(rig, "hand.L", (-0.1, -0.2, -0.55), parts=8)
    if released:
        done.finish()
    assert trunk.angle(bones["spine.002"].y_axis) > radians(25.0)
    assert before.angle(bones["upper_arm.R"].y_axis) < radians(28.0)


def test_drags_add_up_and_knees_bend_forwards_under_lowered_hips():
    rig = t_pose_rig()
    feet = [tail(rig, f"{side}Foot") for side in (L, R)]
    drag(rig, "mixamorig:Hips", (0.05, 0.0, -0.25)).finish()
    low = tail(rig, "mixamorig:Hips").z
    assert all(rig.pose.bones[f"{side}Leg"].head.y < -0.1 for side in (L, R))
    drag(rig, f"{L}Hand", (-0.2, -0.3, 0.1)).finish()
    assert abs(tail(rig, "mixamorig:Hips").z - low) < 0.1
    assert max((tail(rig, f"{s}Foot") - place).length for s, place in zip((L, R), feet, strict=True)) < 1e-3


@pytest.mark.parametrize("by", [(0.02, 0.0, -0.25), (0.1, 0.0, -0.25), (-0.05, 0.0, -0.1)])
def test_hips_that_are_lowered_and_moved_aside_bend_straight_knees_forwards(by):
    rig = t_pose_rig()
    start = tail(rig, "mixamorig:Hips")
    drag(rig, "mixamorig:Hips", by).finish()
    assert (tail(rig, "mixamorig:Hips") - start - Vector(by)).length < 0.01
    assert all(rig.pose.bones[f"{side}Leg"].head.y < -0.1 for side in (L, R))


def test_a_foot_that_is_dragged_leaves_the_other_one_pinned_and_a_shin_is_dragged_by_its_foot():
    rig = t_pose_rig()
    done = drag(rig, f"{L}Leg", (0.0, -0.3, 0.4))
    assert done.bone == f"{L}Foot"
    assert done.pinned == (f"{R}Foot",)
    assert done.finish() == ""


def test_auto_keying_keys_the_bones_that_turned_and_no_others():
    rig = t_pose_rig()
    bpy.context.scene.tool_settings.use_keyframe_insert_auto = True
    drag(rig, f"{L}Hand", (-0.2, -0.3, -0.1)).finish()
    keyed = {curve.data_path.split('"')[1] for curve in curves_of(rig)}
    assert {f"{L}Arm", f"{L}ForeArm"} <= keyed
    assert not {f"{R}ForeArm", f"{R}Hand"} & keyed, "its arm hangs on"
    bpy.context.scene.tool_settings.use_keyframe_insert_auto = False


def test_esc_restores_the_pose_and_everything_else():
    rig = t_pose_rig()
    rig.pose.bones[f"{R}Arm"].rotation_quaternion = (1.0, 0.2, 0.0, 0.0)
    bpy.context.view_layer.update()
    with nothing_lost():
        drag(rig, f"{L}Hand", (-0.2, -0.3, -0.1)).cancel()


def test_a_rig_that_is_no_body_bends_the_bones_above():
    rig = chain_rig(4)
    place = tail(rig, "Bone 3")
    drag(rig, "Bone 3", (0.6, 0.0, -0.6)).finish()
    assert (tail(rig, "Bone 3") - place - Vector((0.6, 0.0, -0.6))).length < 1e-2
    with nothing_lost(), pytest.raises(IKError, match="Nowhere"):
        drag(rig, "Nowhere", (0.1, 0.0, 0.0))


def test_a_bone_that_cannot_turn_is_not_dragged_and_the_lowest_tips_are_on_the_ground():
    rig, view_layer = chain_rig(3), bpy.context.view_layer
    for bone in rig.pose.bones:
        bone.lock_rotation, bone.lock_rotation_w = (True, True, True), True
    with nothing_lost(), pytest.raises(IKError, match="'Bone 2' cannot turn, nor can what it hangs on"):
        BodyDrag(rig, "Bone 2", bpy.context.scene, view_layer)
    human = human_rig()
    assert _on_the_ground(human, [], view_layer) == ()
    assert _on_the_ground(human, ["hand.L", "foot.L", "foot.R"], view_layer) == ("foot.L", "foot.R")
    human.rotation_euler.y = 0.4
    view_layer.update()
    assert len(_on_the_ground(human, ["foot.L", "foot.R"], view_layer)) == 1

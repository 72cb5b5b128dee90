# SPDX-License-Identifier: GPL-3.0-or-later
"""Set Up Body, and Pose and Bake of a limb that belongs to a body."""

import bpy
import pytest

from ik_triangulation.rig.by_hand import record
from ik_triangulation.ui.last_result import latest

from ...bodies import FEET, HANDS, human_rig, set_up_rig
from ...rigs import all_keys, chain_rig, curves_of, nothing_lost, select

pytestmark = pytest.mark.usefixtures("empty_scene")
LAST = 12


def test_a_humanoid_is_set_up_in_one_press():
    rig = human_rig()
    select(rig, "spine")
    assert bpy.ops.pose.ik_triangulation_body_add() == {"FINISHED"}
    assert [name for name in FEET if rig.pose.bones[name].ik_triangulation.hold] == list(FEET)
    assert rig.data.bones.active.name == "hand.L"


def test_selected_bones_are_the_tips_and_a_whole_rig_selected_is_recognised():
    rig = human_rig()
    select(rig, "forearm.R", "hand.R", "foot.L", "foot.R")
    bpy.ops.pose.ik_triangulation_body_add()
    assert rig.pose.bones["hand.L"].ik_triangulation.target is None
    select(rig, *rig.pose.bones.keys())
    bpy.ops.pose.ik_triangulation_body_add()
    assert rig.pose.bones["hand.L"].ik_triangulation.target is not None


def test_without_hands_and_feet_it_is_told():
    chain_rig(4)
    with nothing_lost(), pytest.raises(RuntimeError, match="Select the tip bones"):
        bpy.ops.pose.ik_triangulation_body_add()


@pytest.mark.parametrize("active", ["hand.R", "foot.L"])
@pytest.mark.parametrize("operator", ["bake", "bake_all"])
def test_a_bake_bakes_the_whole_body_whichever_limb_is_active(operator, active):
    rig = set_up_rig(LAST, (-0.3, -0.3, -0.5))
    select(rig, active)
    assert getattr(bpy.ops.pose, f"ik_triangulation_{operator}")() == {"FINISHED"}
    assert {name.split('"')[1] for name, _ in all_keys(rig)} >= {"hand.L", "hand.R", "shin.L", "spine.001"}
    assert all(latest(rig, name).reached for name in (*HANDS, *FEET))
    assert latest(rig, "foot.L").line == f"Body: Reached {LAST} of {LAST} frames"


def test_the_settings_of_adjust_last_operation_count_for_the_body():
    rig = set_up_rig(LAST)
    bpy.ops.pose.ik_triangulation_bake(frame_start=2, frame_end=4)
    assert {len(keys) for keys in all_keys(rig).values()} == {3}
    bpy.ops.pose.ik_triangulation_bake(step=2)
    assert {len(keys) for keys in all_keys(rig).values()} == {LAST // 2}
    bpy.ops.pose.ik_triangulation_bake(step=1, reduce=True, reduce_tolerance=0.1)
    assert max(len(keys) for keys in all_keys(rig).values()) <= 2 * LAST // 3
    assert "keys" in latest(rig, "foot.L").lines[-1]
    bpy.ops.pose.ik_triangulation_bake(soft_edge=False)
    baked, *_ = record.recorded_body(rig, "hand.L", bpy.context.scene)
    assert not any(limb.soft_edge for limb in baked.limbs)
    assert all(rig.pose.bones[name].ik_triangulation.soft_edge for name in HANDS)


def test_pose_poses_the_body_and_delete_generated_keys_deletes_all_of_it():
    rig = set_up_rig(LAST, (-0.3, -0.3, -0.5))
    bpy.context.scene.frame_set(6)
    bpy.ops.pose.ik_triangulation_solve()
    assert rig.pose.bones["spine"].head.z < 0.99
    bpy.ops.pose.ik_triangulation_bake()
    bpy.ops.pose.ik_triangulation_generated_delete()
    assert not all_keys(rig)


def test_bake_again_and_rebake_keep_keys_that_were_set_since():
    rig = set_up_rig(LAST)
    bpy.ops.pose.ik_triangulation_bake(step=2)
    before = all_keys(rig)
    bpy.ops.pose.ik_triangulation_rebake()
    assert all_keys(rig) == before
    bpy.context.scene.frame_set(5)
    bone = rig.pose.bones["upper_arm.R"]
    bone.rotation_quaternion.x += 0.1
    bone.keyframe_insert("rotation_quaternion", frame=5)
    for curve in curves_of(rig):
        for key in curve.keyframe_points:
            if key.co.x == 5.0 and "upper_arm.R" in curve.data_path:
                key.type = "KEYFRAME"
    own = [key for key in all_keys(rig)['pose.bones["upper_arm.R"].rotation_quaternion', 1] if key[0][0] == 5.0]
    for operator in (bpy.ops.pose.ik_triangulation_rebake, bpy.ops.pose.ik_triangulation_bake):
        operator()
        now = all_keys(rig)['pose.bones["upper_arm.R"].rotation_quaternion', 1]
        assert [key for key in now if key[0][0] == 5.0] == own


def test_bake_all_bakes_a_body_by_the_settings_of_the_active_limb():
    rig = set_up_rig(LAST)
    rig.pose.bones["hand.L"].ik_triangulation.step = 3
    select(rig, "hand.L")
    bpy.ops.pose.ik_triangulation_bake_all()
    assert {len(keys) for keys in all_keys(rig).values()} == {LAST // 3}


@pytest.mark.parametrize("active", ["hand.L", "foot.R"])
def test_a_reach_keys_the_whole_body_whichever_limb_is_active(active):
    rig = set_up_rig(LAST, (-0.3, -0.3, -0.5))
    select(rig, active)
    assert bpy.ops.pose.ik_triangulation_reach(frame_start=1, frame_end=LAST // 2) == {"FINISHED"}
    assert {name.split('"')[1] for name, _ in all_keys(rig)} >= {"hand.L", "hand.R", "shin.L", "spine"}
    assert {len(keys) for keys in all_keys(rig).values()} == {LAST // 2}
    assert latest(rig, "hand.R").reached


def test_a_reach_goes_through_the_stops_of_the_active_limb():
    rig = set_up_rig(LAST, (-0.3, -0.3, -0.5))
    stored = rig.pose.bones["hand.L"].ik_triangulation
    for frame in (5, 9):
        stop = stored.reach_stops.add()
        stop.target, stop.frame = stored.target, frame
    assert bpy.ops.pose.ik_triangulation_reach() == {"FINISHED"}
    assert {len(keys) for keys in all_keys(rig).values()} == {9}


def test_removing_a_held_limb_lets_go_of_it():
    rig = set_up_rig(LAST)
    select(rig, "foot.L")
    bpy.ops.pose.ik_triangulation_limb_remove()
    assert not rig.pose.bones["foot.L"].ik_triangulation.hold

# SPDX-License-Identifier: GPL-3.0-or-later
"""The operators that add and remove limbs, and make targets."""

import bpy
import pytest

from ik_triangulation.rig.limb import selected_bones
from ik_triangulation.ui.last_result import latest

from ...jobs.arms import choose, limbs, two_arms
from ...rigs import chain_rig, empty, nothing_lost

pytestmark = pytest.mark.usefixtures("empty_scene")


@pytest.mark.parametrize(
    ("chosen", "message"),
    [
        (("upper.L", "hand.L"), "'lower.L' is not selected, but lies between others that are"),
        (("hand.R",), "'hand.R' ends a limb already"),
    ],
)
def test_what_makes_no_limb_is_refused_and_nothing_changes(chosen, message):
    rig = two_arms()
    choose(rig, "hand.R")
    bpy.ops.pose.ik_triangulation_limb_add()
    choose(rig, *chosen)
    with nothing_lost(), pytest.raises(RuntimeError, match=message):
        bpy.ops.pose.ik_triangulation_limb_add()


def test_adding_keeps_pose_mode_and_leaves_only_the_tips_selected_and_the_last_active():
    rig = two_arms()
    choose(rig, "lower.L", "lower.R", active="lower.L")
    bpy.ops.pose.ik_triangulation_limb_add()
    assert bpy.context.mode == "POSE"
    assert selected_bones(rig) == ["hand.L", "hand.R"]
    assert rig.data.bones.active.name == list(limbs(rig))[-1]
    bpy.ops.object.mode_set(mode="OBJECT")
    choose(rig, "spine")
    bpy.ops.pose.ik_triangulation_limb_add()
    assert bpy.context.mode == "OBJECT"
    assert rig.data.bones.active.name == "spine"


def test_a_limb_without_a_target_gets_a_new_one():
    rig = chain_rig(3)
    choose(rig, "Bone 2")
    rig.pose.bones["Bone 2"].ik_triangulation.subtarget = "Old"
    assert bpy.ops.pose.ik_triangulation_target_add() == {"FINISHED"}
    assert limbs(rig) == {"Bone 2": (3, "Bone 2 Target")}
    assert rig.pose.bones["Bone 2"].ik_triangulation.subtarget == ""
    assert bpy.ops.pose.ik_triangulation_solve() == {"FINISHED"}


def test_adding_removing_and_new_targets_are_steps_of_undo():
    for name in ("limb_add", "limb_remove", "target_add"):
        assert getattr(bpy.types, f"POSE_OT_ik_triangulation_{name}").bl_options == {"REGISTER", "UNDO"}


def test_what_comes_after_a_removed_limb_begins_anew():
    rig, cup = chain_rig(5), empty("Cup")
    choose(rig, "Bone 4")
    cup.select_set(True)
    bpy.ops.pose.ik_triangulation_limb_add()
    bpy.ops.pose.ik_triangulation_solve()
    rig.pose.bones["Bone 4"].ik_triangulation.chain_count = 3
    assert latest(rig, "Bone 4") is not None
    bpy.ops.pose.ik_triangulation_limb_remove()
    assert latest(rig, "Bone 4") is None
    bpy.ops.pose.ik_triangulation_limb_add()
    assert limbs(rig) == {"Bone 4": (5, "Cup")}


def test_a_bone_with_none_above_it_is_told_to_be_a_limb_of_one(capfd):
    choose(chain_rig(3), "Bone 0")
    bpy.ops.pose.ik_triangulation_limb_add()
    assert "'Bone 0' has no parent bone that can rotate" in capfd.readouterr().out

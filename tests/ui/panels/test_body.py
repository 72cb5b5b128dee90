# SPDX-License-Identifier: GPL-3.0-or-later
"""The panel of the body: set it up, hold and let go of its tips, hips and balance; and its result in one line."""

from dataclasses import replace

import bpy
import pytest

from ik_triangulation.jobs.shots.problem import body_of
from ik_triangulation.jobs.shots.report import NotFollowing, Remedy
from ik_triangulation.ui.last_result import latest, remember_result
from ik_triangulation.ui.operators.bake import POSE_OT_ik_triangulation_follow_set as FollowSet

from ...bodies import set_up_rig
from ...layouts import drawn, recorded
from ...rigs import select
from .states import MAIN, ONLY_RESULT, panel, standard

pytestmark = pytest.mark.usefixtures("empty_scene")


def test_a_lone_limb_is_offered_a_body():
    standard()
    assert drawn(panel("_body"))[-1] == "body_add"


def test_each_tip_can_be_held_and_let_go_of_and_held_again():
    rig = set_up_rig()
    assert drawn(panel("_body")).count("hold") == 4
    rig.pose.bones["foot.L"].ik_triangulation.hold = False
    bpy.context.view_layer.update()
    assert body_of(rig, "hand.L").held == ("foot.R",)
    assert drawn(panel("_body")).count("hold") == 4
    assert drawn(panel("_body"))[-5:] == ["balance", "floor", "heels", "look_at_hands", "swing_arms"]
    rig.ik_triangulation.hips_motion = "FIXED"
    assert "hips_motion" in drawn(panel("_body"))
    select(rig, "foot.R", active="foot.R")
    assert drawn(panel("_goal"))[:2] == ["influence", "hold_where"]


def test_the_result_names_the_hands_that_are_off_and_by_how_much():
    rig = set_up_rig(6)
    bpy.ops.pose.ik_triangulation_solve()
    assert latest(rig, "hand.L").line == "Body: Reached"
    rig.pose.bones["hand.L"].ik_triangulation.target.animation_data_clear()
    rig.pose.bones["hand.L"].ik_triangulation.target.location = (0.5, -5.0, 1.0)
    bpy.ops.pose.ik_triangulation_solve()
    line = latest(rig, "foot.R").line
    assert line.startswith("Missed: hand.L ")
    bpy.ops.pose.ik_triangulation_bake()
    assert latest(rig, "foot.R").line.startswith("Missed at 6 frames: hand.L ")


def test_what_a_result_warns_of_is_below_it_in_a_few_lines_and_whole_in_its_details_and_is_reported_last(capfd):
    rig = set_up_rig()
    bones = rig.pose.bones
    bones["foot.L"].ik_triangulation.solver = bones["hand.L"].ik_triangulation.solver = "CCD"
    bones["hand.L"].ik_triangulation.target.location = (0.5, -5.0, 1.0)
    bpy.ops.pose.ik_triangulation_solve()
    warnings = latest(rig, "hand.L").warnings
    assert len(warnings) == 2, warnings
    assert [tip for tip, of in latest(rig, "hand.L").report.tips.items() if of.missed] == ["hand.L"], "feet stay"
    below = drawn(MAIN)[drawn(MAIN).index(latest(rig, "hand.L").line) + 1 :]
    assert len(below) <= 6, below
    assert below[2].endswith(" …")
    assert [warnings[0].startswith(below[0]), warnings[1].startswith(below[3])] == [True, True]
    assert " ".join(warnings) in " ".join(drawn(ONLY_RESULT))
    said = [line for line in capfd.readouterr().out.splitlines() if line.startswith(("Info: ", "Warning: "))]
    assert said[-2:] == [f"Warning: {warning}" for warning in warnings]


def test_a_thickness_that_a_result_names_is_there_to_be_set():
    rig = set_up_rig()
    bpy.ops.pose.ik_triangulation_solve()
    assert "thickness" not in drawn(panel("_body"))
    report = replace(latest(rig, "hand.L").report, warnings=["Lead its target around the body, or lower Thickness."])
    remember_result(report, rig, bpy.context.scene)
    assert "thickness" in drawn(panel("_body"))


def test_where_the_character_does_not_follow_the_result_has_a_warning_sign_and_names_the_bone():
    rig = set_up_rig()
    bpy.ops.pose.ik_triangulation_solve()
    assert latest(rig, "hand.L").icon == "CHECKMARK"
    note = NotFollowing("DEF-hand.L", "hand.L", 0.3, 1.0, 1, 1, Remedy("upper_arm_parent.L", "IK_FK", 0.0, 1.0))
    remember_result(replace(latest(rig, "hand.L").report, not_following=[note]), rig, bpy.context.scene)
    result = latest(rig, "hand.L")
    assert (result.icon, result.reached, result.line) == ("ERROR", False, "DEF-hand.L does not follow")
    assert drawn(MAIN)[-2:] == ["DEF-hand.L does not follow", "follow_set"]
    assert FollowSet.description(bpy.context, None).endswith(" is on: IK_FK")


def test_several_properties_are_counted_on_the_button_and_named_in_its_tooltip():
    rig = set_up_rig()
    bpy.ops.pose.ik_triangulation_solve()
    notes = [
        NotFollowing("DEF-head", "head", 0.3, 1.0, 1, 1, Remedy("torso", name, 0.0, 1.0))
        for name in ("neck_follow", "head_follow")
    ]
    remember_result(replace(latest(rig, "hand.L").report, not_following=notes), rig, bpy.context.scene)
    assert recorded(MAIN).labels["follow_set"] == "Set 2 Properties"
    assert FollowSet.description(bpy.context, None).endswith(": neck_follow, head_follow")

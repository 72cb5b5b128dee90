# SPDX-License-Identifier: GPL-3.0-or-later
"""Live is switched on and off for a limb by itself, or for the whole body that it belongs to."""

import bpy
import pytest

from ik_triangulation.jobs.live import following as live
from ik_triangulation.ui.last_result import latest

from ...bodies import FEET, HANDS, set_up_rig
from ...rigs import chain_rig, configure, empty, select

pytestmark = pytest.mark.usefixtures("empty_scene")


@pytest.fixture(autouse=True)
def ends(addon):
    yield
    live.stop_all()


@pytest.mark.parametrize("tip", ["hand.L", "foot.R"])
def test_all_limbs_of_a_body_are_live_at_once_and_stop_at_once(tip):
    rig = set_up_rig()
    bpy.ops.pose.ik_triangulation_live(tip=tip)
    assert all(live.is_live(rig, name) for name in (*HANDS, *FEET))
    assert latest(rig, "hand.R").reached
    bpy.ops.pose.ik_triangulation_live(tip="hand.R")
    assert not any(live.is_live(rig, name) for name in (*HANDS, *FEET))
    assert not live.under_way()


def test_a_lone_limb_is_live_until_it_is_switched_off():
    rig = chain_rig(3)
    configure(rig, "Bone 2", target=empty())
    bpy.ops.pose.ik_triangulation_live()
    assert live.is_live(rig, "Bone 2")
    bpy.ops.pose.ik_triangulation_live()
    assert not live.is_live(rig, "Bone 2")


@pytest.mark.parametrize("operator", ["limb_remove", "remove_everything"])
def test_a_limb_that_is_removed_by_its_target_is_live_no_more_and_the_armature_is_active(operator):
    rig = chain_rig(3)
    bpy.context.view_layer.objects.active = rig
    select(rig, "Bone 2")
    bpy.ops.pose.ik_triangulation_limb_add()
    bpy.ops.pose.ik_triangulation_live()
    target = rig.pose.bones["Bone 2"].ik_triangulation.target
    bpy.context.view_layer.objects.active = target
    getattr(bpy.ops.pose, f"ik_triangulation_{operator}")()
    assert not live.under_way()
    assert bpy.context.view_layer.objects.active == rig
    assert [ob.name for ob in bpy.data.objects] == [rig.name]


def test_a_body_that_is_set_up_again_is_live_no_more():
    rig = set_up_rig()
    bpy.context.view_layer.objects.active = rig
    bpy.ops.pose.ik_triangulation_live(tip="hand.L")
    bpy.ops.pose.ik_triangulation_body_add()
    assert not live.under_way()


def test_live_can_be_stopped_only_while_a_limb_is_live_and_needs_a_bone_of_the_rig():
    rig, tip = chain_rig(3), "Bone 2"
    configure(rig, tip, target=empty())
    assert not bpy.ops.pose.ik_triangulation_live_stop.poll()
    with pytest.raises(RuntimeError, match="has no bone 'Nowhere'"):
        bpy.ops.pose.ik_triangulation_live(tip="Nowhere")
    bpy.ops.pose.ik_triangulation_live(tip=tip)
    assert live.is_live(rig, tip)
    assert bpy.ops.pose.ik_triangulation_live_stop() == {"FINISHED"}
    assert not live.is_live(rig, tip)
    assert not bpy.ops.pose.ik_triangulation_live_stop.poll()


def test_live_says_why_it_cannot_be_started_where_no_limb_is_there_or_none_can_be_posed():
    problem = bpy.types.POSE_OT_ik_triangulation_live.poll_problem
    rig = chain_rig(3)
    select(rig, "Bone 2")
    assert problem(bpy.context) == "Choose a target for 'Bone 2'"
    configure(rig, "Bone 1", target=empty())
    assert problem(bpy.context) is None, "some limb could be started"
    rig.data.pose_position = "REST"
    assert "is in Rest Position" in problem(bpy.context)

# SPDX-License-Identifier: GPL-3.0-or-later
"""The buttons of Keys On have the names of the rig, and are there only where it has IK controls."""

import bpy
import pytest

from ik_triangulation.ui.context import control_names

from ..ik_rigs import arm_limb, ik_arm
from ..layouts import drawn
from ..rigs import chain_rig, configure, empty
from .panels.states import panel

pytestmark = pytest.mark.usefixtures("empty_scene")


def arm():
    rig = ik_arm()
    return rig, configure(rig, "Palm", target=arm_limb(rig).target, chain_count=3)


def test_the_names_are_those_of_the_rig():
    _, tip = arm()
    names = control_names(tip)
    assert (names.tip, names.ik, names.bones) == ("Palm", "Grip, Aim", ["Grip", "Aim"])


def test_they_are_found_anew_when_a_constraint_is_gone():
    rig, tip = arm()
    assert control_names(tip) is control_names(tip)
    rig.pose.bones["Ulna"].constraints.remove(rig.pose.bones["Ulna"].constraints[0])
    bpy.context.view_layer.update()  # as Blender does before it draws
    assert control_names(tip) is None


def test_a_rig_without_ik_controls_has_no_names():
    rig = chain_rig(3)
    assert control_names(configure(rig, "Bone 2", target=empty(), chain_count=3)) is None


def test_the_panel_has_a_button_for_each_and_a_choice_that_the_rig_lacks_can_be_taken_back():
    _, tip = arm()
    assert {"Palm", "Grip, Aim"} <= set(drawn(panel("_keys")))
    rig = chain_rig(3, name="Plain")
    tip = configure(rig, "Bone 2", target=empty(), chain_count=3)
    assert "keys_on" not in drawn(panel("_keys"))
    tip.ik_triangulation.keys_on = "IK"
    assert "keys_on" in drawn(panel("_keys"))


def test_the_controls_of_the_active_limb_are_baked_and_their_keys_deleted_by_the_buttons():
    rig, tip = arm()
    tip.ik_triangulation.keys_on = "IK"
    rig.data.bones.active = rig.data.bones["Palm"]
    assert bpy.ops.pose.ik_triangulation_bake(frame_start=1, frame_end=6) == {"FINISHED"}
    assert rig.animation_data.action.layers[0].strips[0].channelbags[0].fcurves
    assert bpy.ops.pose.ik_triangulation_generated_delete() == {"FINISHED"}

# SPDX-License-Identifier: GPL-3.0-or-later
"""Limbs are made from what is selected, and targets where their tips are; refused, nothing changes."""

import bpy
import pytest

from ik_triangulation.presets import find_preset
from ik_triangulation.presets.file import read_preset
from ik_triangulation.presets.limb import apply_preset
from ik_triangulation.rig.scene_objects import home

from ..rigs import chain_rig, empty, evaluated_tip, nothing_lost
from .arms import choose, limbs, two_arms

pytestmark = pytest.mark.usefixtures("empty_scene")


def test_a_single_bone_becomes_a_limb_with_those_above_it_up_to_a_branch_and_a_target_at_its_tip():
    rig = chain_rig(5)
    rig.location, rig.scale = (1.0, 2.0, 3.0), (2.0, 2.0, 2.0)
    rig.pose.bones["Bone 2"].rotation_quaternion = (0.9, 0.3, 0.1, 0.0)
    choose(rig, "Bone 4")
    bpy.context.view_layer.update()
    assert bpy.ops.pose.ik_triangulation_limb_add() == {"FINISHED"}
    assert limbs(rig) == {"Bone 4": (5, "Bone 4 Target")}
    target = rig.pose.bones["Bone 4"].ik_triangulation.target
    bpy.context.view_layer.update()
    assert (target.matrix_world.translation - evaluated_tip(rig, "Bone 4")).length < 1e-5
    bone = rig.matrix_world @ rig.pose.bones["Bone 4"].matrix
    assert target.matrix_world.to_quaternion().rotation_difference(bone.to_quaternion()).angle < 1e-3
    assert tuple(target.matrix_world.to_scale()) == pytest.approx((1.0, 1.0, 1.0), abs=1e-5)
    assert bpy.context.view_layer.objects.active == rig
    assert bpy.context.mode == "POSE"
    assert bpy.ops.pose.ik_triangulation_solve() == {"FINISHED"}


def test_a_limb_near_the_root_takes_as_many_bones_as_there_are():
    rig = chain_rig(5)
    choose(rig, "Bone 1")
    bpy.ops.pose.ik_triangulation_limb_add()
    assert limbs(rig) == {"Bone 1": (2, "Bone 1 Target")}


def with_a_locked_bone_between():
    """Controls with a bone between them that only passes on what it gets, as generated rigs have it."""
    rig = chain_rig(5)
    rig.pose.bones["Bone 3"].lock_rotation = (True, True, True)
    rig.pose.bones["Bone 3"].lock_rotation_w = rig.pose.bones["Bone 3"].lock_rotations_4d = True
    return rig


@pytest.mark.parametrize(("chosen", "count"), [(("Bone 4",), 5), (("Bone 1", "Bone 2", "Bone 4"), 4)])
def test_bones_that_cannot_turn_do_not_count_and_need_not_be_selected(chosen, count):
    rig = with_a_locked_bone_between()
    choose(rig, *chosen, active="Bone 4")
    bpy.ops.pose.ik_triangulation_limb_add()
    assert limbs(rig) == {"Bone 4": (count, "Bone 4 Target")}


def test_a_preset_gives_no_joint_to_a_bone_that_cannot_turn():
    rig = with_a_locked_bone_between()
    applied = apply_preset(rig, ["Bone 1", "Bone 2", "Bone 3", "Bone 4"], read_preset(find_preset("Human Arm")))
    assert applied.joints == {"Bone 1": "shoulder", "Bone 2": "elbow", "Bone 4": "wrist"}
    assert rig.pose.bones["Bone 3"].ik_triangulation_joint.source == "AUTO"


def test_what_the_armature_moves_is_no_target():
    rig, cup = chain_rig(3), empty("Cup")
    cup.parent, cup.parent_type, cup.parent_bone = rig, "BONE", "Bone 1"
    choose(rig, "Bone 2")
    cup.select_set(True)
    bpy.ops.pose.ik_triangulation_limb_add()
    assert limbs(rig) == {"Bone 2": (3, "Bone 2 Target")}


def test_what_only_goes_with_the_armature_object_may_be_a_target():
    rig, cup = chain_rig(3), empty("Cup")
    cup.parent = rig
    choose(rig, "Bone 2")
    cup.select_set(True)
    bpy.ops.pose.ik_triangulation_limb_add()
    assert limbs(rig) == {"Bone 2": (3, "Cup")}


@pytest.mark.parametrize("how", ["eye", "screen"])
def test_a_new_target_is_not_put_where_it_would_be_hidden(how):
    rig = chain_rig(3)
    hidden = bpy.data.collections.new("Hidden")
    bpy.context.scene.collection.children.link(hidden)
    hidden.objects.link(rig)
    (bpy.context.view_layer.layer_collection.children["Hidden"] if how == "eye" else hidden).hide_viewport = True
    choose(rig, "Bone 2")
    bpy.ops.pose.ik_triangulation_limb_add()
    assert bpy.data.objects["Bone 2 Target"].visible_get()


def test_a_removed_limb_comes_back_without_the_bone_and_the_selection_of_before():
    rig = chain_rig(4)
    choose(rig, "Bone 3")
    stored = rig.pose.bones["Bone 3"].ik_triangulation
    stored.target, stored.subtarget, stored.use_selected = rig, "Bone 0", True
    bpy.ops.pose.ik_triangulation_limb_remove()
    bpy.ops.pose.ik_triangulation_limb_add()
    assert (stored.subtarget, stored.use_selected) == ("", False)
    assert bpy.ops.pose.ik_triangulation_solve() == {"FINISHED"}


def test_a_bone_left_from_another_target_does_not_count():
    rig, cup = chain_rig(3), empty("Cup")
    choose(rig, "Bone 2")
    stored = rig.pose.bones["Bone 2"].ik_triangulation
    stored.target, stored.subtarget, stored.pole_target, stored.pole_subtarget = cup, "Old", cup, "Old"
    assert bpy.ops.pose.ik_triangulation_solve() == {"FINISHED"}


def test_selected_bones_that_end_elsewhere_are_refused():
    rig = two_arms()
    choose(rig, "hand.L")
    bpy.ops.pose.ik_triangulation_limb_add()
    rig.pose.bones["hand.L"].ik_triangulation.use_selected = True
    choose(rig, "lower.R", "hand.R", active="hand.L")
    select_only(rig, "lower.R", "hand.R")
    with nothing_lost(), pytest.raises(RuntimeError, match=r"The selected bones end in 'hand\.R'"):
        bpy.ops.pose.ik_triangulation_solve()


def select_only(rig, *names):
    """Select these bones whatever is active, which Blender 4.5 selects as well."""
    for bone in rig.pose.bones:
        (bone if hasattr(bone, "select") else bone.bone).select = bone.name in names


def test_a_new_target_is_where_it_can_be_seen_and_changed():
    rig = chain_rig(3)
    hidden = bpy.data.collections.new("Hidden")
    bpy.context.scene.collection.children.link(hidden)
    hidden.objects.link(rig)
    bpy.context.scene.collection.objects.unlink(rig)
    assert home(rig, bpy.context.scene, bpy.context.view_layer) == hidden
    bpy.context.view_layer.layer_collection.children["Hidden"].exclude = True
    assert home(rig, bpy.context.scene, bpy.context.view_layer) == bpy.context.scene.collection


def test_the_other_selected_object_becomes_the_target():
    rig, cup = chain_rig(3), empty("Cup")
    choose(rig, "Bone 2")
    cup.select_set(True)
    bpy.ops.pose.ik_triangulation_limb_add()
    assert limbs(rig) == {"Bone 2": (3, "Cup")}
    assert len(bpy.data.objects) == 2


def test_each_line_of_selected_bones_becomes_a_limb():
    rig = two_arms()
    choose(rig, "upper.L", "lower.L", "hand.L", "lower.R", "hand.R")
    bpy.ops.pose.ik_triangulation_limb_add()
    assert limbs(rig) == {"hand.L": (3, "hand.L Target"), "hand.R": (2, "hand.R Target")}


def test_those_that_are_limbs_stay_as_they_are():
    rig = two_arms()
    choose(rig, "hand.L")
    bpy.ops.pose.ik_triangulation_limb_add()
    rig.pose.bones["hand.L"].ik_triangulation.chain_count = 2
    choose(rig, "hand.L", "hand.R")
    bpy.ops.pose.ik_triangulation_limb_add()
    assert limbs(rig) == {"hand.L": (2, "hand.L Target"), "hand.R": (3, "hand.R Target")}
    assert rig.data.bones.active.name == "hand.R"


def test_a_removed_limb_keeps_its_settings_and_its_bones_and_takes_the_empty_that_was_made_for_it():
    rig = chain_rig(3)
    choose(rig, "Bone 2")
    bpy.ops.pose.ik_triangulation_limb_add()
    rig.pose.bones["Bone 2"].ik_triangulation.solver = "CCD"
    assert bpy.ops.pose.ik_triangulation_limb_remove() == {"FINISHED"}
    assert limbs(rig) == {}
    assert rig.pose.bones["Bone 2"].ik_triangulation.solver == "CCD"
    assert "Bone 2 Target" not in bpy.data.objects
    with pytest.raises(RuntimeError, match="Choose a limb in the list"):
        bpy.ops.pose.ik_triangulation_limb_remove()

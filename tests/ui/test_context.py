# SPDX-License-Identifier: GPL-3.0-or-later
"""What the active bone and the selection make the limb; why there is none."""

import bpy
import pytest

from ..rigs import (
    chain_rig,
    configure,
    curves_of,
    empty,
    evaluated_tip,
    nothing_lost,
    place,
    select,
)
from .operators.rebuilt import standard

pytestmark = pytest.mark.usefixtures("empty_scene")


def test_the_subtarget_is_taken_from_the_settings():
    rig, _ = standard()
    other = chain_rig(2, name="Other")
    bpy.ops.object.mode_set(mode="OBJECT")
    other.location = (0.5, 0.5, 1.0)
    configure(rig, "Bone 3", target=other, subtarget="Bone 1")
    bpy.ops.pose.ik_triangulation_solve()
    goal = other.matrix_world @ other.pose.bones["Bone 1"].head
    assert (evaluated_tip(rig, "Bone 3") - goal).length < 1.1e-3


def test_selected_bones_are_turned_and_those_between_them_stay():
    rig, target = standard(use_selected=True)
    select(rig, "Bone 3", "Bone 1")
    rig.data.bones.active = rig.data.bones["Bone 3"]
    assert bpy.ops.pose.ik_triangulation_solve() == {"FINISHED"}
    turned = [bone.name for bone in rig.pose.bones if tuple(bone.rotation_quaternion) != (1.0, 0.0, 0.0, 0.0)]
    assert turned == ["Bone 1", "Bone 3"]
    bpy.ops.pose.ik_triangulation_bake(frame_start=1, frame_end=3)
    assert {curve.group.name for curve in curves_of(rig)} == {"Bone 1", "Bone 3"}
    assert target.animation_data.action is not rig.animation_data.action


@pytest.mark.parametrize("how", ["bone", "collection"])
def test_selected_bones_that_are_hidden_stay(how):
    rig, _ = standard(use_selected=True)
    select(rig, "Bone 1", "Bone 2", "Bone 3", active="Bone 3")
    if how == "bone":
        bone = rig.pose.bones["Bone 1"]
        (bone if hasattr(bone, "select") else bone.bone).hide = True
    else:
        hidden = rig.data.collections.new("Hidden")
        hidden.assign(rig.data.bones["Bone 1"])
        hidden.is_visible = False
    bpy.ops.pose.ik_triangulation_solve()
    turned = [bone.name for bone in rig.pose.bones if tuple(bone.rotation_quaternion) != (1.0, 0.0, 0.0, 0.0)]
    assert turned == ["Bone 2", "Bone 3"]


def test_the_settings_of_the_active_bone_count_whichever_end_of_the_selection_it_is():
    rig, _ = standard()
    configure(rig, "Bone 1", target=empty("Near", (0.3, 0.3, 1.5)), use_selected=True)
    select(rig, "Bone 0", "Bone 1")
    bpy.ops.pose.ik_triangulation_solve()
    assert (evaluated_tip(rig, "Bone 1") - bpy.data.objects["Near"].location).length < 1.1e-3


def no_object():
    standard()
    bpy.ops.object.mode_set(mode="OBJECT")
    bpy.context.view_layer.objects.active = None


def another_object():
    _, target = standard()
    bpy.ops.object.mode_set(mode="OBJECT")
    bpy.context.view_layer.objects.active = target


def edit_mode():
    standard()
    bpy.ops.object.mode_set(mode="EDIT")


def no_active_bone():
    rig, _ = standard()
    rig.data.bones.active = None


def no_bones():
    bpy.ops.object.mode_set(mode="OBJECT") if bpy.context.object else None
    rig = place(bpy.data.objects.new("Rig", bpy.data.armatures.new("Rig")))
    bpy.context.view_layer.objects.active = rig


def rest_position():
    standard()[0].data.pose_position = "REST"


def no_target():
    standard()[0].pose.bones["Bone 3"].ik_triangulation.target = None


@pytest.mark.parametrize("operator", ["ik_triangulation_solve", "ik_triangulation_bake", "ik_triangulation_reach"])
@pytest.mark.parametrize(
    ("build", "reason"),
    [
        (no_object, "Select an armature"),
        (another_object, "Select an armature"),
        (edit_mode, "Leave Edit Mode first"),
        (no_active_bone, "Make the bone at the end of the limb active"),
        (no_bones, "Make the bone at the end of the limb active"),
        (rest_position, "'Rig' shows its Rest Position: switch to Pose Position"),
        (no_target, "Choose a target for 'Bone 3'"),
    ],
    ids=lambda value: getattr(value, "__name__", None),
)
def test_what_cannot_be_pressed_says_why(operator, build, reason):
    build()
    press = getattr(bpy.ops.pose, operator)
    assert not press.poll()
    with nothing_lost(), pytest.raises(RuntimeError, match=reason):
        press()


def test_it_works_in_object_mode():
    rig, target = standard()
    bpy.context.scene.frame_set(2)
    bpy.ops.object.mode_set(mode="OBJECT")
    assert bpy.ops.pose.ik_triangulation_solve() == {"FINISHED"}
    assert bpy.ops.pose.ik_triangulation_bake(frame_start=1, frame_end=3) == {"FINISHED"}
    assert bpy.context.mode == "OBJECT"
    assert (evaluated_tip(rig, "Bone 3") - target.matrix_world.translation).length < 1.1e-3

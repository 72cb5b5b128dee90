# SPDX-License-Identifier: GPL-3.0-or-later
"""Behind the bones that an animator sees, the controls that turn them are found by what copies what."""

import bpy
import pytest
from mathutils import Vector

from ik_triangulation.rig.controls import Controls, Links

from ..jobs.interfering import doubled
from ..rigs import chain_rig

pytestmark = pytest.mark.usefixtures("empty_scene")


def test_a_rig_without_constraints_has_no_controls_but_its_bones():
    controls = Controls(chain_rig(3))
    assert controls.control("Bone 1") == "Bone 1"
    assert controls.chain("Bone 2") == []
    assert controls.count("Bone 2") is None


@pytest.mark.parametrize("number", range(3))
def test_of_a_bone_that_copies_another_that_one_is_the_control(number):
    rig, _ = doubled()
    controls = Controls(rig)
    assert controls.control(f"Skin {number}") == f"Bone {number}"
    assert controls.control(f"Bone {number}") == f"Bone {number}"


def test_the_chain_of_a_control_goes_up_to_where_it_begins():
    controls = Controls(doubled()[0])
    assert controls.chain("Bone 2") == ["Bone 2", "Bone 1", "Bone 0"]
    assert controls.chain("Skin 2") == []


def test_a_limb_that_is_chosen_by_its_first_bone_ends_at_its_last():
    controls = Controls(doubled()[0])
    assert controls.end("Bone 0") == "Bone 2"
    assert controls.end("Bone 2") == "Bone 2"


def test_a_control_that_another_bone_places_is_none():
    rig, _ = doubled()
    held = rig.pose.bones["Bone 1"].constraints.new("COPY_ROTATION")
    held.target, held.subtarget = rig, "Skin 0"
    assert Controls(rig).control("Skin 1") == "Skin 1"


def test_a_control_is_shown_where_the_deform_bone_that_copies_it_is_turned_as_it_is():
    rig, _ = doubled()
    controls, copying = Controls(rig), rig.pose.bones["Skin 1"].constraints[0]
    for influence in (1.0, 0.0):
        copying.influence = influence
        rig.pose.bones["Bone 1"].rotation_quaternion = (0.8, 0.6, 0.0, 0.0)
        bpy.context.view_layer.update()
        assert controls.is_shown("Bone 1") == bool(influence)


def with_bone(rig, name, parent="", above=""):
    """Give a rig one more bone of length 1: at the end of its parent, or as the parent of another."""
    bpy.ops.object.mode_set(mode="EDIT")
    bones = rig.data.edit_bones
    bone, parent = bones.new(name), bones.get(parent)
    bone.head = parent.tail if parent else (0.0, 0.0, -1.0)
    bone.tail, bone.parent = bone.head + Vector((0.0, 0.0, 1.0)), parent
    if above:
        bones[above].parent = bone
    bpy.ops.object.mode_set(mode="POSE")
    return rig


def test_of_a_bone_that_does_not_turn_the_control_is_that_of_what_it_hangs_on():
    rig = with_bone(doubled()[0], "End", parent="Skin 2")
    end = rig.pose.bones["End"]
    end.rotation_mode = "XYZ"
    for locked, found in (
        ((True, True, True), "Bone 2"),
        ((False, True, True), "Bone 2"),
        ((False, False, True), "End"),
    ):
        end.lock_rotation = locked
        assert Controls(rig).control("End") == found


def test_the_chain_of_a_control_begins_below_a_bone_that_nothing_follows():
    rig = with_bone(doubled()[0], "Root", above="Bone 0")
    controls = Controls(rig)
    assert controls.chain("Bone 2") == ["Bone 2", "Bone 1", "Bone 0"]
    assert controls.count("Bone 2") == 3
    assert controls.end("Bone 0") == "Bone 2"


def test_bones_that_follow_are_told_with_how_they_do():
    rig = doubled()[0]
    links = Links(rig)
    assert links.copies("Bone 1") == {"Skin 1": True}
    assert links.deforming("Bone 1") == ["Skin 1"]
    assert links.deforming("Bone 1", ["Skin 1"]) == []
    assert list(links.back_from("Skin 1")) == ["Skin 1", "Bone 1", "Skin 0", "Bone 0"]
    rig.pose.bones["Bone 2"].constraints.new("CHILD_OF").target = rig
    copy = rig.pose.bones["Bone 2"].constraints.new("COPY_LOCATION")
    copy.target, copy.subtarget = rig, "Bone 0"
    assert Links(rig).leaders["Bone 2"] == {}  # only where the bone goes on to point somewhere
    track = rig.pose.bones["Bone 2"].constraints.new("DAMPED_TRACK")
    track.target, track.subtarget = rig, "Skin 0"
    assert Links(rig).leaders["Bone 2"] == {"Bone 0": True}
    assert list(Links(rig).copies("Bone 0")) == ["Skin 0"]  # it is elsewhere


@pytest.mark.parametrize(("off", "turn", "is_there"), [(0.0009, 0.0, True), (0.0011, 0.0, False), (0.0, 0.02, False)])
def test_bones_are_in_one_frame_up_to_rounding(off, turn, is_there):
    rig = chain_rig(2)
    bpy.ops.object.mode_set(mode="EDIT")
    first, second = rig.data.edit_bones
    second.use_connect, second.parent = False, None
    second.head, second.tail, second.roll = first.head, first.tail, first.roll + turn
    second.head.x, second.tail.x = first.head.x + off, first.tail.x + off
    bpy.ops.object.mode_set(mode="POSE")
    links = Links(rig)
    assert links.in_one_frame("Bone 0", "Bone 1") is is_there
    assert links.at_one_place("Bone 0", "Bone 1") is (off < 0.001)


def test_the_target_of_an_armature_constraint_leads_as_its_slots_say():
    rig = doubled()[0]
    bone = rig.pose.bones["Skin 1"]
    bone.constraints.remove(bone.constraints[0])
    carried = bone.constraints.new("ARMATURE")
    for subtarget in ("Bone 1", "Bone 2", "nowhere"):
        slot = carried.targets.new()
        slot.target, slot.subtarget = rig, subtarget
    carried.targets.new().target = chain_rig(1, name="Other")
    links = Links(rig)
    assert links.leaders["Skin 1"] == {"Bone 1": True, "Bone 2": True}
    assert "Skin 1" in links.followers["Bone 1"]
    assert "Skin 1" not in links.followers["Bone 2"], "it is elsewhere"

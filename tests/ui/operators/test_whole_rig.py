# SPDX-License-Identifier: GPL-3.0-or-later
"""Add Limb with a whole rig selected sets up its body, and never makes a limb of every lip and tooth."""

import bpy
import pytest
from mathutils import Vector

from ...bodies import FEET, HANDS, human_rig
from ...jobs.arms import body, limbs
from ...layouts import drawn
from ...rigs import armature, chain_rig, empty, nothing_lost, select
from ..panels.states import MAIN

pytestmark = pytest.mark.usefixtures("empty_scene")


def whole(rig):
    bpy.context.view_layer.objects.active = rig
    select(rig, *rig.pose.bones.keys())
    return rig


def octopus():
    """A hub with eight arms of two bones."""
    specs = [{"name": "hub", "head": (0, 0, 0), "tail": (0, 0, 1)}]
    for number in range(8):
        way = Vector((number - 3.5, 1.0, 0.0))
        for part in range(2):
            parent = specs[-1]["name"] if part else "hub"
            specs.append({"name": f"{part} {number}", "head": way * (1 + part), "tail": way * (2 + part)})
            specs[-1]["parent"] = parent
    return armature("Octopus", specs)


def with_fingers():
    """A human with five fingers on either hand."""
    rig = human_rig()
    bpy.ops.object.mode_set(mode="EDIT")
    for side, sign in (("L", 1.0), ("R", -1.0)):
        for number, finger in enumerate(("thumb", "f_index", "f_middle", "f_ring", "f_pinky")):
            bone = rig.data.edit_bones.new(f"{finger}.01.{side}")
            bone.head, bone.tail = (sign * 0.72, 0.02 * number, 1.14), (sign * 0.76, 0.02 * number, 1.12)
            bone.parent = rig.data.edit_bones[f"hand.{side}"]
    bpy.ops.object.mode_set(mode="POSE")
    return rig


def test_of_a_whole_rig_the_body_is_set_up(capfd):
    rig, before = whole(body()), len(bpy.data.objects)
    assert drawn(MAIN, 900)[:3] == [
        f"{len(rig.pose.bones)} bones are selected: set up the body, or click a hand or foot",
        "body_add",
        "limb_add",
    ]
    assert bpy.ops.pose.ik_triangulation_limb_add() == {"FINISHED"}
    assert set(limbs(rig)) == {"hand L", "hand R", "head"}
    assert [tip for tip in ("foot L", "foot R") if rig.pose.bones[tip].ik_triangulation.hold] == ["foot L", "foot R"]
    assert len(bpy.data.objects) == before + 3
    assert f"{len(rig.pose.bones)} bones are selected, so their body was set up" in capfd.readouterr().out


def test_of_most_bones_with_few_tips_as_well():
    rig = human_rig()
    select(rig, *(name for name in rig.pose.bones.keys() if not name.startswith(("toe", "heel", "spine"))))
    bpy.ops.pose.ik_triangulation_limb_add()
    assert set(limbs(rig)) == set(HANDS)
    assert all(rig.pose.bones[foot].ik_triangulation.hold for foot in FEET)


def test_where_no_body_is_found_it_says_what_to_click():
    whole(octopus())
    with (
        nothing_lost(),
        pytest.raises(RuntimeError, match="17 bones are selected, and they are no body"),
    ):
        bpy.ops.pose.ik_triangulation_limb_add()


def test_an_object_is_the_target_of_one_limb_not_of_all():
    rig = whole(body())
    cup = empty("Cup")
    bpy.ops.object.mode_set(mode="OBJECT")
    cup.select_set(True)
    bpy.context.view_layer.objects.active = rig
    bpy.ops.object.mode_set(mode="POSE")
    with nothing_lost(), pytest.raises(RuntimeError, match="that is to reach 'Cup'"):
        bpy.ops.pose.ik_triangulation_limb_add()


def test_all_bones_of_one_line_are_one_limb_and_few_tips_that_are_no_body_are_limbs():
    rig = whole(chain_rig(4))
    bpy.ops.pose.ik_triangulation_limb_add()
    assert set(limbs(rig)) == {"Bone 3"}
    rig = octopus()
    bpy.context.view_layer.objects.active = rig
    select(rig, "hub", *(f"{part} {number}" for number in range(5) for part in range(2)))
    bpy.ops.pose.ik_triangulation_limb_add()
    assert len(limbs(rig)) == 5


def test_ten_fingers_are_ten_limbs():
    rig = with_fingers()
    select(rig, *(bone.name for bone in rig.pose.bones if bone.parent and bone.parent.name in HANDS))
    bpy.ops.pose.ik_triangulation_limb_add()
    assert len(limbs(rig)) == 10

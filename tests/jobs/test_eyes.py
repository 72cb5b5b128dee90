# SPDX-License-Identifier: GPL-3.0-or-later
"""An eye is one bone that looks, and shares what it looks at with the other eye and the head."""

import bpy
import pytest
from mathutils import Vector

from ik_triangulation.jobs.bake import bake_limbs
from ik_triangulation.jobs.setup import add_limbs, set_up_body
from ik_triangulation.rig.anatomy.names import is_eye, turned_eye
from ik_triangulation.rig.limb import Limb

from ..bodies import human_rig
from ..rigs import select

pytestmark = pytest.mark.usefixtures("empty_scene")


@pytest.mark.parametrize(
    "name",
    [
        *("eye.L", "DEF-eye.R", "ORG-eye.L", "master_eye.L", "mixamorig:LeftEye", "c_eye.l", "J_Adj_L_FaceEye"),
        *("CC_Base_R_Eye", "lEye", "Eye_L_Ctrl", "FACIAL_L_Eye", "左目", "eyeball_r"),
    ],
)
def test_eyes_of_common_rigs_are_known(name):
    assert is_eye(name)


@pytest.mark.parametrize(
    "name",
    ["eyes", "eyelid.L", "lid.T.L", "brow.L", "eye_target.L", "MCH-eye.L", "hand.L", "両目", "eyebrow.R", "head"],
)
def test_lids_brows_targets_and_helpers_are_none(name):
    assert not is_eye(name)


def test_a_generated_rig_turns_its_master():
    assert turned_eye("eye.L", {"eye.L", "master_eye.L"}) == "master_eye.L"
    assert turned_eye("DEF-eye.L", {"eye.L", "DEF-eye.L", "master_eye.L"}) == "master_eye.L"
    assert turned_eye("eye.L", {"eye.L"}) == "eye.L"


def face(lean=0.0):
    """A human with a head and two eyes that look to the front, or lean up from there."""
    rig = human_rig(with_head=True)
    bpy.context.view_layer.objects.active = rig
    bpy.ops.object.mode_set(mode="EDIT")
    for side, sign in (("L", 1.0), ("R", -1.0)):
        eye = rig.data.edit_bones.new(f"eye.{side}")
        eye.head = Vector((sign * 0.033, -0.05, 1.66))
        eye.tail = eye.head + Vector((0.0, -0.03, lean))
        eye.parent = rig.data.edit_bones["head"]
    bpy.ops.object.mode_set(mode="POSE")
    return rig


def off(rig, name, place):
    """Angle between an eye's axis and the way to a place [degrees]."""
    bone = rig.pose.bones[name]
    middle = rig.matrix_world @ ((bone.head + bone.tail) / 2.0)
    axis = (rig.matrix_world.to_3x3() @ (bone.tail - bone.head)).normalized()
    return axis.angle(place - middle) * 57.2957795


def test_both_eyes_look_at_one_ball_before_the_face():
    rig = face()
    select(rig, "eye.L", "eye.R")
    assert bpy.ops.pose.ik_triangulation_limb_add() == {"FINISHED"}
    left, right = (rig.pose.bones[name].ik_triangulation for name in ("eye.L", "eye.R"))
    assert [limb.chain_count for limb in (left, right)] == [1, 1]
    assert left.orientation == right.orientation == "LOOK"
    assert left.target == right.target
    assert left.target.empty_display_type == "SPHERE"
    assert left.target.location.x == pytest.approx(0.0, abs=1e-5)
    assert left.target.location.y == pytest.approx(-0.05 - 0.015 - 0.6, abs=1e-3)
    for frame, place in ((1, (0.3, -0.8, 1.5)), (10, (-0.4, -0.6, 1.9))):
        left.target.location = place
        left.target.keyframe_insert("location", frame=frame)
    reports = bake_limbs([Limb.of(rig.pose.bones[name]) for name in ("eye.L", "eye.R")], 1, 10)
    assert all(report.all_reached for report in reports)
    for frame in (1, 4, 10):
        bpy.context.scene.frame_set(frame)
        for name in ("eye.L", "eye.R"):
            assert off(rig, name, left.target.matrix_world.translation) < 0.1


def test_an_eye_looks_at_what_the_head_looks_at():
    rig = face()
    set_up_body(rig)
    add_limbs(rig, ["eye.L"])
    head, eye = (rig.pose.bones[name].ik_triangulation for name in ("head", "eye.L"))
    assert eye.target == head.target


def test_an_object_that_is_selected_as_well_is_looked_at():
    rig = face()
    cup = bpy.data.objects.new("Cup", None)
    bpy.context.scene.collection.objects.link(cup)
    add_limbs(rig, ["eye.R"], cup)
    assert rig.pose.bones["eye.R"].ik_triangulation.target == cup
    assert rig.pose.bones["eye.R"].ik_triangulation.orientation == "LOOK"

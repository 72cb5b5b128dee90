# SPDX-License-Identifier: GPL-3.0-or-later
"""Bake All Limbs: every limb of the armature that is enabled, all of them or none."""

from math import nan
from random import Random

import bpy
import pytest
from mathutils import Vector

from ik_triangulation.jobs.bake import bake_limbs
from ik_triangulation.rig.limb import Limb
from ik_triangulation.ui.last_result import latest
from ik_triangulation.ui.operators.bake import POSE_OT_ik_triangulation_bake_all

from ...rigs import (
    all_keys,
    armature,
    configure,
    curve_of,
    curves_of,
    empty,
    evaluated_tip,
    key_frames,
    key_location,
    nothing_lost,
    path_point,
    push_down,
    select,
)
from ..test_modal_job import Recorder, event, pressed

pytestmark = pytest.mark.usefixtures("empty_scene")

SIDES = {"L": 1.0, "R": -1.0}


def body():
    """A spine with two arms of two bones; all three follow a target each."""
    specs = [{"name": "Hip", "head": (0, 0, 0), "tail": (0, 0.1, 1)}]
    specs.append({"name": "Chest", "head": (0, 0.1, 1), "tail": (0, 0, 2), "parent": "Hip", "connect": True})
    for side, x in SIDES.items():
        upper, hand = f"Upper.{side}", f"Hand.{side}"
        specs.append({"name": upper, "head": (x, 0, 2), "tail": (2 * x, 0.1, 2), "parent": "Chest"})
        specs.append({"name": hand, "head": (2 * x, 0.1, 2), "tail": (3 * x, 0, 2), "parent": upper, "connect": True})
    rig = armature("Rig", specs)
    paths = {f"Hand.{side}": lambda f, x=x: Vector((2 * x, 0, 2)) + path_point(f) * 0.3 for side, x in SIDES.items()}
    paths["Chest"] = lambda f: Vector((0.3, 0.01 * f, 1.7))
    for tip in ("Hand.L", "Hand.R", "Chest"):
        configure(rig, tip, target=key_location(empty(f"To {tip}"), range(1, 31), paths[tip]), chain_count=2)
    bpy.context.scene.frame_end = 12
    return rig


def reaches(rig, tip, frames=range(1, 13)):
    worst = 0.0
    for frame in frames:
        bpy.context.scene.frame_set(frame)
        worst = max(worst, (evaluated_tip(rig, tip) - bpy.data.objects[f"To {tip}"].location).length)
    return worst < 1.1e-3


def test_all_limbs_are_baked_each_after_what_it_stands_on(capfd):
    rig = body()
    assert bpy.ops.pose.ik_triangulation_bake_all() == {"FINISHED"}
    assert all(reaches(rig, tip) for tip in ("Hand.L", "Hand.R", "Chest"))
    assert "Info: 3 limbs reached 36 of 36 frames, largest distance " in capfd.readouterr().out
    assert all(latest(rig, tip).reached for tip in ("Hand.L", "Hand.R", "Chest"))


def test_it_writes_the_keys_of_the_call():
    rig = body()
    bpy.ops.pose.ik_triangulation_bake_all(frame_start=2, frame_end=9, step=2)
    pressed = repr(all_keys(rig))
    bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
    rig = body()
    tips = [bone.name for bone in rig.pose.bones if bone.ik_triangulation.target]
    bake_limbs([Limb.of(rig.pose.bones[tip]) for tip in tips], 2, 9, 2)
    assert repr(all_keys(rig)) == pressed


def test_limbs_that_are_not_enabled_or_have_no_target_are_left_out():
    rig = body()
    rig.pose.bones["Hand.R"].ik_triangulation.enabled = False
    rig.pose.bones["Chest"].ik_triangulation.target = None
    bpy.ops.pose.ik_triangulation_bake_all()
    assert reaches(rig, "Hand.L")
    assert [curve_of(rig, name, 0) for name in ("Hip", "Chest", "Upper.R", "Hand.R")] == [None] * 4


def test_each_limb_has_the_range_and_the_keys_it_is_set_to():
    rig = body()
    own = {"use_scene_range": False, "frame_start": 3, "frame_end": 9, "step": 3, "interpolation": "CONSTANT"}
    configure(rig, "Hand.L", **own)
    bpy.ops.pose.ik_triangulation_bake_all()
    assert key_frames(curve_of(rig, "Hand.L", 0)) == [3, 6, 9]
    assert {key.interpolation for key in curve_of(rig, "Hand.L", 0).keyframe_points} == {"CONSTANT"}
    assert key_frames(curve_of(rig, "Hand.R", 0)) == list(range(1, 13))
    assert reaches(rig, "Hand.L", (3, 6, 9))


def test_a_limb_of_selected_bones_takes_those_above_its_tip():
    rig = body()
    configure(rig, "Hand.L", use_selected=True)
    select(rig, "Upper.L", "Hand.L", "Upper.R")
    bpy.ops.pose.ik_triangulation_bake_all()
    assert reaches(rig, "Hand.L")
    assert reaches(rig, "Hand.R")


def test_what_was_baked_is_taken_back_if_a_later_limb_fails():
    rig = body()
    for curve in curves_of(bpy.data.objects["To Hand.R"]):
        curve.keyframe_points[5].co.y = nan
    with nothing_lost(), pytest.raises(RuntimeError, match=r"Target 'To Hand\.R' has an invalid position"):
        bpy.ops.pose.ik_triangulation_bake_all()
    assert rig.animation_data is None


@pytest.mark.parametrize("destination", ["ACTION", "NEW_ACTION", "NLA_TRACK"])
def test_cancelled_at_any_moment_in_a_window_it_loses_nothing(destination, monkeypatch, long):
    for seconds in ("_SLICE", "_LONGEST"):  # however busy the machine is
        monkeypatch.setattr(f"ik_triangulation.ui.operators.base.{seconds}", 0.0)
    random, rig = Random(destination), body()
    for tip in ("Hand.L", "Hand.R", "Chest"):
        configure(rig, tip, destination=destination, mark_misses=True)
    rig.pose.bones["Hip"].keyframe_insert("rotation_quaternion", frame=4)
    if destination == "NLA_TRACK":
        push_down(rig)
    rig.pose.bones["Hand.L"].rotation_quaternion = (0.6, 0.0, 0.8, 0.0)  # posed, not keyed
    for _ in range(70 if long else 8):
        with nothing_lost():
            recorder = Recorder()
            operator, context = pressed(POSE_OT_ik_triangulation_bake_all, recorder)
            operator.begin(context)
            for _ in range(random.randrange(36)):
                assert operator.modal(context, event()) == {"RUNNING_MODAL"}
            assert operator.modal(context, event("ESC")) == {"CANCELLED"}
            assert recorder.is_clean


def test_limbs_that_share_a_bone_are_baked_as_one_body():
    rig = body()
    configure(rig, "Hand.L", chain_count=0)
    assert bpy.ops.pose.ik_triangulation_bake_all() == {"FINISHED"}
    assert {"Chest", "Hand.L", "Hand.R"} <= {name for name in rig.pose.bones.keys() if latest(rig, name)}
    assert latest(rig, "Hand.L").reached


def test_it_needs_an_armature_and_a_limb():
    rig = body()
    rig.data.bones.active = None
    assert bpy.ops.pose.ik_triangulation_bake_all.poll()
    for bone in rig.pose.bones:
        bone.ik_triangulation.enabled = False
    with nothing_lost(), pytest.raises(RuntimeError, match="No limb of 'Rig' is enabled and has a target"):
        bpy.ops.pose.ik_triangulation_bake_all()
    rig.data.pose_position = "REST"
    with pytest.raises(RuntimeError, match="'Rig' is in Rest Position"):
        bpy.ops.pose.ik_triangulation_bake_all()

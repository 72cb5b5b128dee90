# SPDX-License-Identifier: GPL-3.0-or-later
"""Bake where a bake is replaces it with the present settings, and keeps the keys made by hand since."""

import bpy
import pytest

from ik_triangulation.rig.keyframes import is_baked, made_by_hand

from ...layouts import drawn
from ...rigs import all_keys, curves_of, evaluated_tip, nothing_lost
from ..panels.states import MAIN
from .rebuilt import standard

pytestmark = pytest.mark.usefixtures("empty_scene")
BONES = ["Bone 1", "Bone 2", "Bone 3"]


def bake(first=1, last=20):
    return bpy.ops.pose.ik_triangulation_bake(frame_start=first, frame_end=last)


def correct(rig, frame=10):
    """Key another rotation of a bone by hand."""
    bone = rig.pose.bones["Bone 2"]
    bpy.context.scene.frame_set(frame)
    bone.rotation_quaternion = (0.9, 0.3, 0.2, 0.1)
    bone.keyframe_insert("rotation_quaternion")
    for curve in curves_of(rig):
        for key in curve.keyframe_points if '"Bone 2"' in curve.data_path else ():
            key.type = "KEYFRAME" if key.co.x == frame else key.type


def distance(rig, target, frame):
    bpy.context.scene.frame_set(frame)
    return (evaluated_tip(rig, "Bone 3") - target.matrix_world.translation).length


def test_a_correction_by_hand_is_kept_and_the_rest_is_baked_anew():
    rig, target = standard()
    bake()
    correct(rig)
    for curve in target.animation_data.action.layers[0].strips[0].channelbags[0].fcurves:
        for key in curve.keyframe_points:
            key.co.y *= 0.9
        curve.update()
    assert bake() == {"FINISHED"}
    assert list(made_by_hand(rig, BONES, 1, 20)["Bone 2"]) == [10]
    assert all(distance(rig, target, frame) < 1.1e-3 for frame in (1, 5, 15, 20))


def test_the_present_settings_count():
    rig, _ = standard()
    bake()
    rig.pose.bones["Bone 3"].ik_triangulation.interpolation = "CONSTANT"
    bake()
    assert {key.interpolation for curve in curves_of(rig) for key in curve.keyframe_points[:-1]} == {"CONSTANT"}


def test_where_frames_were_not_baked_before_keys_by_hand_are_replaced_as_at_first():
    rig, target = standard()
    bake(1, 20)
    correct(rig, 25)
    bake(1, 30)
    assert not made_by_hand(rig, BONES, 1, 30)
    assert distance(rig, target, 25) < 1.1e-3


def test_after_baked_keys_are_deleted_it_is_the_first_bake_again():
    rig, _ = standard()
    correct(rig, 5)
    bake()
    bpy.ops.pose.ik_triangulation_generated_delete()
    assert not is_baked(rig, BONES)
    assert made_by_hand(rig, BONES, 1, 20)
    bake()
    assert not made_by_hand(rig, BONES, 1, 20)


def test_the_button_says_so():
    rig, _ = standard()
    assert "bake" in drawn(MAIN)
    with nothing_lost():
        assert not is_baked(rig, BONES)
    bake()
    with nothing_lost():
        assert is_baked(rig, BONES)
    assert not is_baked(rig, ["Bone 0"])
    assert all_keys(rig)


def test_re_bake_takes_the_settings_of_the_bake_before_and_not_those_of_the_limb():
    rig, target = standard()
    with pytest.raises(RuntimeError, match="bake"):
        bpy.ops.pose.ik_triangulation_rebake()
    bake(1, 20)
    rig.pose.bones["Bone 3"].ik_triangulation.interpolation = "CONSTANT"
    correct(rig)
    assert bpy.ops.pose.ik_triangulation_rebake() == {"FINISHED"}
    assert "CONSTANT" not in {key.interpolation for curve in curves_of(rig) for key in curve.keyframe_points}
    assert list(made_by_hand(rig, BONES, 1, 20)["Bone 2"]) == [10]
    assert all(distance(rig, target, frame) < 1.1e-3 for frame in (1, 5, 15, 20))
    rig.data.bones.active = None
    with pytest.raises(RuntimeError, match="Make the bone at the end of the limb active"):
        bpy.ops.pose.ik_triangulation_rebake()
    rig.data.pose_position = "REST"
    with pytest.raises(RuntimeError, match="is in Rest Position"):
        bpy.ops.pose.ik_triangulation_rebake()

# SPDX-License-Identifier: GPL-3.0-or-later
"""Animated values that differ from their keyframes are the same after an evaluation as before."""

import bpy
import pytest

from ik_triangulation.rig.keyframes.unkeyed import AnimatedValues

from ...rigs import chain_rig

pytestmark = pytest.mark.usefixtures("empty_scene")
NAME = 'a "quoted" \\ name'


def animated():
    """A rig with keys of all kinds, posed off them."""
    rig = chain_rig(3, names=("Bone 0", NAME, "Bone 2"))
    bone, euler = rig.pose.bones[NAME], rig.pose.bones["Bone 2"]
    euler.rotation_mode = "XYZ"
    bone["own"] = 0.5
    bone.keyframe_insert('["own"]')
    bone.keyframe_insert("rotation_quaternion")
    bone.keyframe_insert("location")
    euler.keyframe_insert("rotation_euler")
    rig.keyframe_insert("location")
    bpy.context.view_layer.update()
    bone["own"] = 0.75
    bone.rotation_quaternion = (0.6, 0.0, 0.8, 0.0)
    bone.location = (1.0, 2.0, 3.0)
    euler.rotation_euler = (0.1, 0.2, 0.3)
    rig.location = (4.0, 5.0, 6.0)
    return rig


def values(rig):
    bone, euler = rig.pose.bones[NAME], rig.pose.bones["Bone 2"]
    found = (bone.rotation_quaternion, bone.location, euler.rotation_euler, rig.location, [bone["own"]])
    return [tuple(each) for each in found]


def test_values_off_their_keys_are_restored():
    rig = animated()
    before = values(rig)
    saved = AnimatedValues(rig, [])
    bpy.context.scene.frame_set(bpy.context.scene.frame_current)
    assert values(rig) != before
    saved.update_and_restore(bpy.context.view_layer)
    assert values(rig) == before


def test_channels_that_are_left_out_show_their_keys():
    rig = animated()
    bone = rig.pose.bones[NAME]
    saved, path = AnimatedValues(rig, []), bone.path_from_id("rotation_quaternion")
    bpy.context.scene.frame_set(bpy.context.scene.frame_current)
    saved.update_and_restore(bpy.context.view_layer, [(path, 0), (path, 1), (path, 3)])
    assert tuple(bone.rotation_quaternion) == pytest.approx((1.0, 0.0, 0.8, 0.0))
    assert tuple(bone.location) == (1.0, 2.0, 3.0)


def test_a_path_without_keys_is_restored_if_it_is_named_and_no_other():
    rig = chain_rig(2)
    bone = rig.pose.bones["Bone 0"]
    saved = AnimatedValues(rig, [bone.path_from_id("rotation_quaternion")])
    bone.rotation_quaternion, bone.location = (0.0, 1.0, 0.0, 0.0), (1.0, 0.0, 0.0)
    saved.update_and_restore(bpy.context.view_layer)
    assert tuple(bone.rotation_quaternion) == (1.0, 0.0, 0.0, 0.0)
    assert tuple(bone.location) == (1.0, 0.0, 0.0)


def test_keys_of_what_is_no_longer_there_are_no_hindrance():
    rig = animated()
    rig.pose.bones["Bone 2"].name = "Other"
    before = tuple(rig.location)
    saved = AnimatedValues(rig, ["nonsense[", 'pose.bones["Gone"].location'])
    saved.update_and_restore(bpy.context.view_layer)
    assert tuple(rig.location) == before

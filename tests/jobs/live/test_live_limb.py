# SPDX-License-Identifier: GPL-3.0-or-later
"""A live limb knows what it followed and how it was posed, and goes back to that when a drag is cancelled."""

import bpy
import pytest
from mathutils import Quaternion

from ik_triangulation.jobs.live.character import LiveLimb, rotations_of
from ik_triangulation.jobs.live.state import LiveChannels, is_animated, surroundings_of
from ik_triangulation.rig.frames.samples import sample
from ik_triangulation.rig.limb import selected_limb

from ...rigs import chain_rig, configure, empty

pytestmark = pytest.mark.usefixtures("addon", "empty_scene")

TIP = "Bone 2"
TURNED = (0.8, 0.6, 0.0, 0.0)


def standard(**settings):
    rig, target = chain_rig(3), empty()
    limb = selected_limb(configure(rig, TIP, target=target, chain_count=3, **settings))
    live = LiveLimb(rig, limb, bpy.context.scene)
    live.look(*looking(rig))
    return rig, limb, live


def looking(rig):
    """How a live limb looks at a rig that somebody may have changed."""
    depsgraph = bpy.context.evaluated_depsgraph_get()
    return rig, bpy.context.scene, depsgraph, {rig, rig.data}, False


def sampled(limb):
    bpy.context.view_layer.update()
    return sample(limb, bpy.context.evaluated_depsgraph_get(), 1.0)


def surroundings_now(limb):
    return surroundings_of(sampled(limb), bpy.context.evaluated_depsgraph_get())


def test_an_armature_is_found_under_another_name_and_not_without_its_bone():
    rig, _, live = standard()
    rig.name = "Another"
    assert live.armature() == rig
    assert live.name == "Another"
    bpy.context.view_layer.objects.active = rig
    bpy.ops.object.mode_set(mode="EDIT")
    rig.data.edit_bones.remove(rig.data.edit_bones[TIP])
    bpy.ops.object.mode_set(mode="OBJECT")
    assert live.armature() is None


def test_surroundings_differ_if_the_target_moves_and_only_then():
    rig, limb, _ = standard()
    before = surroundings_now(limb)
    rig.pose.bones["Bone 1"].rotation_quaternion = TURNED
    assert surroundings_now(limb) == before
    limb.target.location.x += 0.1
    assert surroundings_now(limb) != before


def test_a_drag_that_is_cancelled_restores_the_pose_before_it():
    rig, limb, live = standard()
    live.surroundings = before = surroundings_now(limb)
    live.remember(rig, before, held=False)
    pose = LiveChannels(limb.pose_bones).read(rig)
    rig.pose.bones["Bone 1"].rotation_quaternion = TURNED
    assert live.cancel_drag(rig)
    assert LiveChannels(limb.pose_bones).read(rig) == live.posed == pose
    live.surroundings = ("elsewhere",)
    assert not live.cancel_drag(rig)


def test_only_a_pose_made_by_somebody_else_counts_as_the_one_before():
    rig, limb, live = standard(influence=0.5)
    rig.pose.bones["Bone 1"].rotation_quaternion = TURNED
    live.posed = LiveChannels(limb.pose_bones).read(rig)  # by the live limb itself
    assert not live.remember(rig, (), held=False)
    assert live.before["Bone 1"] == Quaternion()
    live.posed = b""
    assert live.remember(rig, (), held=False)
    assert live.before == rotations_of(limb)


def test_settings_that_changed_are_told():
    rig, _, live = standard()
    assert live.look(*looking(rig))[2] is False
    rig.pose.bones[TIP].ik_triangulation.tolerance = 0.02
    assert live.look(*looking(rig))[2] is True
    assert live.look(*looking(rig))[2] is False


def test_a_limb_with_rotation_keys_is_animated():
    rig, limb, _ = standard()
    assert not is_animated(limb)
    rig.pose.bones["Bone 1"].keyframe_insert("rotation_quaternion", frame=1)
    assert is_animated(limb)

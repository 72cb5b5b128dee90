# SPDX-License-Identifier: GPL-3.0-or-later
"""A body with keys of any bone, or of the place of its hips, is animated; others can be live over it."""

import bpy
import pytest

from ik_triangulation.jobs.live.character import LiveBody
from ik_triangulation.jobs.live.state import LiveChannels, is_animated
from ik_triangulation.jobs.shots.problem import body_of

from ...bodies import set_up_rig
from ...rigs import push_down

pytestmark = pytest.mark.usefixtures("empty_scene")


def test_keys_of_the_hips_place_count_only_where_it_moves():
    rig = set_up_rig()
    body = body_of(rig, "hand.L")
    rig.pose.bones["spine"].keyframe_insert("location", frame=1)
    assert is_animated(body, "spine")
    assert not is_animated(body)
    rig.pose.bones["shin.L"].keyframe_insert("rotation_quaternion", frame=1)
    assert is_animated(body)


def test_strips_are_overridden_and_what_they_change_at_a_frame_change_is_nobodys_pose():
    rig = set_up_rig()
    body, shin, thigh = body_of(rig, "hand.L"), rig.pose.bones["shin.L"], rig.pose.bones["thigh.L"]
    shin.keyframe_insert("rotation_quaternion", frame=1)
    channels = LiveChannels([thigh, shin])
    assert not channels.has_strips
    strip = push_down(rig)
    assert not channels.suits(rig)
    channels = LiveChannels([thigh, shin])
    assert channels.has_strips
    assert not is_animated(body)
    before = channels.read(rig)
    shin.rotation_quaternion = 0.8, 0.6, 0.0, 0.0
    assert not channels.is_changed(channels.read(rig), before, new_frame=True)
    assert channels.is_changed(channels.read(rig), before, new_frame=False)
    thigh.rotation_quaternion = 0.8, 0.6, 0.0, 0.0
    assert channels.is_changed(channels.read(rig), before, new_frame=True)
    strip.mute = True
    assert not channels.suits(rig)


def test_an_armature_that_is_gone_is_none():
    rig = set_up_rig()
    state = LiveBody(rig, body_of(rig, "hand.L"), "hand.L", bpy.context.scene)
    rig.name = "Another"
    assert state.armature() == rig
    bpy.data.objects.remove(rig)
    assert state.armature() is None

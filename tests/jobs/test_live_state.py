# SPDX-License-Identifier: GPL-3.0-or-later
"""A body with keys of any bone, or of the place of its hips, is animated; others can be live over it."""

import bpy
import pytest

from ik_triangulation.jobs.live_character import LiveBody
from ik_triangulation.jobs.live_state import is_animated
from ik_triangulation.jobs.problem import body_of

from ..bodies import set_up_rig

pytestmark = pytest.mark.usefixtures("empty_scene")


def test_keys_of_the_hips_place_count_only_where_it_moves():
    rig = set_up_rig()
    body = body_of(rig, "hand.L")
    rig.pose.bones["spine"].keyframe_insert("location", frame=1)
    assert is_animated(body, "spine")
    assert not is_animated(body)
    rig.pose.bones["shin.L"].keyframe_insert("rotation_quaternion", frame=1)
    assert is_animated(body)


def test_strips_count_unless_they_are_muted():
    rig = set_up_rig()
    body = body_of(rig, "hand.L")
    rig.pose.bones["shin.L"].keyframe_insert("rotation_quaternion", frame=1)
    action, rig.animation_data.action = rig.animation_data.action, None
    track = rig.animation_data.nla_tracks.new()
    track.strips.new("Strip", 1, action)
    assert is_animated(body)
    track.mute = True
    assert not is_animated(body)


def test_an_armature_that_is_gone_is_none():
    rig = set_up_rig()
    state = LiveBody(rig, body_of(rig, "hand.L"), "hand.L", bpy.context.scene)
    rig.name = "Another"
    assert state.armature() == rig
    bpy.data.objects.remove(rig)
    assert state.armature() is None

# SPDX-License-Identifier: GPL-3.0-or-later
"""A body with keys of any bone, or of the place of its hips, is animated; others can be live over it."""

from math import inf
from time import perf_counter
from types import SimpleNamespace

import bpy
import pytest

from ik_triangulation.jobs.live import following
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


class Waiting(SimpleNamespace):
    """A live limb that only remembers what it is told to do."""

    def __init__(self, ago, **values):
        then = perf_counter() - ago
        super().__init__(comes_to_rest=True, moved=then, changed=then, untold=False, done=[], problem="", **values)
        self.scene, self.frame = bpy.context.scene.session_uid, bpy.context.scene.frame_current

    def armature(self):
        return "Rig"

    def rest(self, armature):
        self.done.append(("rest", armature))
        return len(self.done) < 2

    def key(self, armature, *_):
        self.done.append(("key", armature))


def test_live_poses_rest_and_are_keyed_once_nothing_has_moved_for_a_while(monkeypatch):
    calm, moved = Waiting(1.0), Waiting(0.0)
    monkeypatch.setattr(following, "_live", {(1, "a"): calm, (1, "b"): moved})
    later = []
    monkeypatch.setattr(following, "_call_later", lambda timer, seconds: later.append(timer))
    assert following._rest() == following._SETTLED
    assert following._key() == following._SETTLED
    assert (calm.done, moved.done) == ([], [])
    moved.comes_to_rest = False
    assert following._rest() is None
    assert (calm.done, calm.untold, moved.done, moved.untold) == ([("rest", "Rig")], True, [("rest", "Rig")], True)
    assert later == [following._measure] * 2
    assert following._rest() is None
    assert len(later) == 2  # what already rests is not measured again
    calm.done.clear(), moved.done.clear()
    moved.changed, calm.frame = calm.changed, calm.frame + 1
    assert following._key() is None
    assert (calm.done, moved.done) == ([], [("key", "Rig")])
    assert (calm.changed, moved.changed) == (-inf, -inf)
    assert following._key() is None
    assert moved.done == [("key", "Rig")]


def test_what_animates_a_rig_is_read_again_once_somebody_keys_it():
    rig = set_up_rig()
    state = LiveBody(rig, body_of(rig, "hand.L"), "hand.L", bpy.context.scene)
    first = state.moving(rig, set(), False)
    assert state.moving(rig, {bpy.context.scene}, False) is first
    assert state.moving(rig, {rig}, True) is first, "a change of frame touches the rig as well"
    second = state.moving(rig, {rig}, False)
    assert second is not first
    action = rig.pose.bones["hand.L"].ik_triangulation.target.animation_data.action
    assert state.moving(rig, {action}, False) is not second
    assert not state.solve_upcoming(0.0)

# SPDX-License-Identifier: GPL-3.0-or-later
"""Shells are computed once for each chain, a little at a time, and until then spheres stand in for them."""

from math import pi
from time import perf_counter
from types import SimpleNamespace

import bpy
import pytest
from mathutils import Matrix, Quaternion, Vector

from ik_triangulation.errors import ChainError
from ik_triangulation.kinematics import Cone, Hinge, Pose
from ik_triangulation.maps import shell
from ik_triangulation.maps.shell import spheres
from ik_triangulation.ui.overlay import handlers, limb

from ...chains import straight

X = Vector((1.0, 0.0, 0.0))


@pytest.fixture(autouse=True)
def _forget(monkeypatch):
    monkeypatch.setattr(shell, "_FINE", 6)  # as many targets as can be searched well within the time for a shell
    limb.forget_shells()
    yield
    limb.forget_shells()


def limited(upper=1.0):
    return straight((1.0, 0.7), [Cone(0.9, -0.5, 0.5), Hinge(X, -0.5, upper)]).rest_pose()


def compute():
    while not limb._pending[0].work():
        pass
    limb._pending.clear()


def test_a_free_limb_has_its_spheres_at_once():
    pose = straight((1.0, 0.4)).rest_pose()
    found = limb.shells_of(pose)
    assert found.limited
    assert len(found.surfaces) == len(spheres(pose)) == 2
    assert not limb._pending


def test_spheres_stand_in_until_a_shell_is_computed():
    before = limb.shells_of(limited())
    assert not before.limited
    assert bpy.app.timers.is_registered(limb._work)
    compute()
    after = limb.shells_of(limited())
    assert after.limited
    assert len(after.surfaces) == 1
    assert not limb._pending


def test_a_shell_is_the_same_in_every_pose_and_place_and_another_with_other_limits():
    limb.shells_of(limited())
    compute()
    pose = limited()
    moved = Pose(pose.chain, Matrix.Translation(X) @ Matrix.Rotation(pi / 3.0, 4, "Z"), [Quaternion(X, 0.3)] * 2)
    assert limb.shells_of(moved).surfaces == limb.shells_of(limited()).surfaces
    assert not limb.shells_of(limited(upper=1.2)).limited


def test_work_is_done_in_short_slices():
    limb.shells_of(limited())
    assert not limb._pending[0].work()
    assert limb._pending[0].seconds < 1.0


def test_only_the_latest_shells_are_kept():
    for number in range(limb._KEPT + 3):
        limb._keep((number,), None)
    assert len(limb._shells) == limb._KEPT
    assert (0,) not in limb._shells


def test_disabling_stops_the_work(addon, monkeypatch):
    monkeypatch.setattr(handlers, "_loaded", True)  # as after a redraw
    limb.shells_of(limited())
    addon.unregister()
    try:
        assert not bpy.app.timers.is_registered(limb._work)
        assert not limb._pending
    finally:
        addon.register()


def test_a_timer_waits_for_a_limb_that_settles_and_for_playback_and_then_works_in_slices(monkeypatch):
    playing, redrawn = SimpleNamespace(is_animation_playing=False), []
    context = SimpleNamespace(window_manager=SimpleNamespace(windows=[SimpleNamespace(screen=playing)]))
    monkeypatch.setattr(limb, "bpy", SimpleNamespace(context=context, app=bpy.app))
    monkeypatch.setattr(limb, "redraw", lambda: redrawn.append(1))
    assert limb._work() is None
    limb.shells_of(limited())
    (wanted,) = limb._pending
    wanted.since = perf_counter() + 60.0
    assert limb._work() == limb._SETTLED
    wanted.since = 0.0
    playing.is_animation_playing = True
    assert limb._work() == limb._PLAYING
    assert wanted.job is None
    playing.is_animation_playing = False
    monkeypatch.setattr(limb, "_SLICE", 0.0)
    assert limb._work() == limb._PAUSE
    assert wanted.job is not None
    monkeypatch.setattr(limb, "_SLICE", 60.0)
    assert not redrawn
    assert limb._work() is None
    assert redrawn == [1]
    assert not limb._pending
    assert limb.shells_of(limited()).limited


def test_a_shell_that_takes_too_long_or_cannot_be_had_is_given_up(monkeypatch):
    monkeypatch.setattr(limb, "_LONGEST", -1.0)
    monkeypatch.setattr(limb, "_SLICE", 0.0)
    limb.shells_of(limited())
    assert limb._pending[0].work()
    limb._pending.clear()
    assert not limb.shells_of(limited()).limited
    assert not limb._pending, "it is not begun again"
    monkeypatch.setattr(limb, "_SLICE", 60.0)

    def failing(pose):
        yield 0, 1
        raise ChainError("broken")

    monkeypatch.setattr(limb.reach_shell, "steps", failing)
    limb.shells_of(limited(0.8))
    assert limb._pending[0].work()
    limb._pending.clear()
    assert not limb.shells_of(limited(0.8)).limited
    assert not limb._pending

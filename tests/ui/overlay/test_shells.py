# SPDX-License-Identifier: GPL-3.0-or-later
"""Shells are computed once for each chain, a little at a time, and until then spheres stand in for them."""

from math import pi

import bpy
import pytest
from mathutils import Matrix, Quaternion, Vector

from ik_triangulation.kinematics import Cone, Hinge, Pose
from ik_triangulation.maps import shell
from ik_triangulation.maps.shell import spheres
from ik_triangulation.ui.overlay import handlers, shells

from ...chains import straight

X = Vector((1.0, 0.0, 0.0))


@pytest.fixture(autouse=True)
def _forget(monkeypatch):
    monkeypatch.setattr(shell, "_FINE", 6)  # as many targets as can be searched well within the time for a shell
    shells.forget_shells()
    yield
    shells.forget_shells()


def limited(upper=1.0):
    return straight((1.0, 0.7), [Cone(0.9, -0.5, 0.5), Hinge(X, -0.5, upper)]).rest_pose()


def compute():
    while not shells._pending[0].work():
        pass
    shells._pending.clear()


def test_a_free_limb_has_its_spheres_at_once():
    pose = straight((1.0, 0.4)).rest_pose()
    found = shells.shells_of(pose)
    assert found.limited
    assert len(found.surfaces) == len(spheres(pose)) == 2
    assert not shells._pending


def test_spheres_stand_in_until_a_shell_is_computed():
    before = shells.shells_of(limited())
    assert not before.limited
    assert bpy.app.timers.is_registered(shells._work)
    compute()
    after = shells.shells_of(limited())
    assert after.limited
    assert len(after.surfaces) == 1
    assert not shells._pending


def test_a_shell_is_the_same_in_every_pose_and_place_and_another_with_other_limits():
    shells.shells_of(limited())
    compute()
    pose = limited()
    moved = Pose(pose.chain, Matrix.Translation(X) @ Matrix.Rotation(pi / 3.0, 4, "Z"), [Quaternion(X, 0.3)] * 2)
    assert shells.shells_of(moved).surfaces == shells.shells_of(limited()).surfaces
    assert not shells.shells_of(limited(upper=1.2)).limited


def test_work_is_done_in_short_slices():
    shells.shells_of(limited())
    assert not shells._pending[0].work()
    assert shells._pending[0].seconds < 1.0


def test_only_the_latest_shells_are_kept():
    for number in range(shells._KEPT + 3):
        shells._keep((number,), None)
    assert len(shells._shells) == shells._KEPT
    assert (0,) not in shells._shells


def test_disabling_stops_the_work(addon, monkeypatch):
    monkeypatch.setattr(handlers, "_loaded", True)  # as after a redraw
    shells.shells_of(limited())
    addon.unregister()
    try:
        assert not bpy.app.timers.is_registered(shells._work)
        assert not shells._pending
    finally:
        addon.register()

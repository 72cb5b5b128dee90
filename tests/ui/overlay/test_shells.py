# SPDX-License-Identifier: GPL-3.0-or-later
"""Shells are computed once for each chain, a little at a time, and until then spheres stand in for them."""

from math import pi

import bpy
import pytest
from mathutils import Matrix, Quaternion, Vector

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

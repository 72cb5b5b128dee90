# SPDX-License-Identifier: GPL-3.0-or-later
"""Jobs that fail at their end give back settings, and what is remembered of poses and places, to the last value."""

from contextlib import suppress

import bpy
import pytest

from ik_triangulation.jobs import follow_rig
from ik_triangulation.jobs.bake import bake_body
from ik_triangulation.jobs.body_drag import recognised
from ik_triangulation.jobs.edits.mirror import mirror_motion
from ik_triangulation.jobs.find_contacts import find_contacts
from ik_triangulation.jobs.pose import solve_body_pose
from ik_triangulation.jobs.setup import set_up_body
from ik_triangulation.jobs.shots.problem import body_of

from ..bodies import human_rig, set_up_rig, sliding_rig, walking_body
from ..interrupted import BrokenError, FailingWrite, everything

pytestmark = pytest.mark.usefixtures("empty_scene", "addon")
LAST = 12


def bare():
    rig = human_rig()
    bpy.context.view_layer.objects.active = rig
    return rig


def one_sided():
    """A body whose left hand has settings of its own."""
    rig = set_up_rig(LAST)
    stored = rig.pose.bones["hand.L"].ik_triangulation
    stored.influence, stored.tolerance = 0.25, 0.02
    return rig


def placed():
    """A body whose hips were placed by a job before, so that there is a place to remember."""
    rig = set_up_rig(LAST)
    bpy.context.scene.frame_set(5)
    solve_body_pose(body_of(rig, "hand.L"))
    bpy.context.scene.frame_set(LAST // 2)
    return rig


JOBS = {
    "set up": (bare, set_up_body),
    "mirror": (one_sided, lambda rig: mirror_motion(rig, ["hand.L"])),
    "contacts": (lambda: sliding_rig(LAST), lambda rig: find_contacts(rig, 1, LAST)),
    "bake": (placed, lambda rig: bake_body(body_of(rig, "hand.L"), 1, LAST)),
    "pose": (placed, lambda rig: solve_body_pose(body_of(rig, "hand.L"))),
}


@pytest.mark.parametrize(("make", "job"), JOBS.values(), ids=JOBS)
def changed_since(before):
    bpy.context.view_layer.update()
    after = everything()
    return {name for name in before | after if before.get(name) != after.get(name)}


@pytest.mark.parametrize(("make", "job"), JOBS.values(), ids=JOBS)
def test_settings_and_remembered_poses_come_back(make, job):
    rig = make()
    bpy.context.view_layer.update()
    before = everything()
    with FailingWrite(float("inf"), at_end=True) as seam, suppress(BrokenError):
        job(rig)
    assert seam.failed
    assert changed_since(before) == set()


def test_following_that_fails_after_the_body_was_set_up_leaves_none(monkeypatch):
    source, rig = walking_body(LAST), bare()
    before = everything()
    monkeypatch.setattr(follow_rig, "Following", None)  # what it reports, at its end
    with pytest.raises(TypeError):
        follow_rig.follow_rig(rig, source, 1, LAST)
    assert changed_since(before) == set()


def test_a_drag_without_a_set_up_leaves_none():
    rig = bare()
    before = everything()
    with recognised(rig) as body:
        assert body is not None
        assert changed_since(before)
    assert changed_since(before) == set()

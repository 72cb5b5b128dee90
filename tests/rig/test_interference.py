# SPDX-License-Identifier: GPL-3.0-or-later
"""What else moves a limb: what does nothing is not looked at frame by frame."""

import pytest

from ik_triangulation.jobs.bake import bake
from ik_triangulation.rig.dependencies import may_interfere

from ..jobs.interfering import LAST, copied, faded_in, limb, moving

pytestmark = pytest.mark.usefixtures("empty_scene")


def test_a_constraint_that_fades_in_is_told_from_the_frame_on_at_which_it_does():
    rig, target = moving()
    faded_in(rig)
    report = bake(limb(rig, target), 1, LAST)
    assert [result.reached for result in report.frames] == [True] * 5 + [False] * (LAST - 5)
    assert any("'Copy Rotation' on 'Bone 1' moves the tip" in warning for warning in report.warnings)


def muted(rig):
    copied(rig).mute = True


def without_influence(rig):
    copied(rig).influence = 0.0


@pytest.mark.parametrize("idle", [muted, without_influence, lambda rig: None])
def test_what_does_nothing_is_not_looked_at_frame_by_frame(idle):
    rig, target = moving()
    idle(rig)
    arm = limb(rig, target)
    assert not may_interfere(arm)
    report = bake(arm, 1, LAST)
    assert report.all_reached
    assert not report.warnings

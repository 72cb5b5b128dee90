# SPDX-License-Identifier: GPL-3.0-or-later
"""Switches that keep deform bones from following a limb are named."""

import pytest

from ik_triangulation.jobs.bake import bake

from ..jobs.interfering import LAST, by_object, doubled, limb

pytestmark = pytest.mark.usefixtures("empty_scene")


def test_bones_that_several_things_keep_from_following_are_told_without_a_remedy():
    rig, target = doubled()
    by_object(rig)
    rig.pose.bones["Skin 2"].constraints[0].mute = True
    arm = limb(rig, target)
    report = bake(arm, 1, LAST)
    [note] = report.not_following
    assert note.remedy is None
    assert any("other constraints or bones move it" in warning for warning in report.warnings)


def test_what_copies_the_limb_from_another_place_is_not_meant_to_follow():
    rig, target = doubled()
    copy = rig.pose.bones["Skin 2"].constraints[0]
    copy.mute = True
    copy.subtarget = "Bone 0"
    report = bake(limb(rig, target), 1, LAST)
    assert report.all_reached
    assert not report.not_following

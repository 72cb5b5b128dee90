# SPDX-License-Identifier: GPL-3.0-or-later
"""The buttons IK to FK and FK to IK take the limb of the selected control, or all limbs."""

import bpy
import pytest

from ...ik_rigs import ik_arm
from ...jobs.test_transfer import KEYS, frames_of, key_ik, off
from ...rigs import chain_rig, nothing_lost, select

pytestmark = pytest.mark.usefixtures("addon", "empty_scene")


def test_the_motion_goes_to_fk_and_back_to_ik():
    rig = ik_arm()
    key_ik(rig)
    before = frames_of(rig, KEYS)
    select(rig, "Grip")
    bpy.context.scene.frame_end = 12
    assert bpy.ops.pose.ik_triangulation_transfer(to="FK") == {"FINISHED"}
    assert max(off(before, frames_of(rig, KEYS))) < 0.1
    select(rig, "Base")  # which belongs to no limb: all are taken
    assert bpy.ops.pose.ik_triangulation_transfer(to="IK", keys="ALL", frame_end=12) == {"FINISHED"}
    assert max(off(before, frames_of(rig, KEYS))) < 0.1


def test_a_rig_without_ik_is_told():
    chain_rig(3)
    with nothing_lost(), pytest.raises(RuntimeError, match="no IK constraint turns two bones"):
        bpy.ops.pose.ik_triangulation_transfer(to="FK")

# SPDX-License-Identifier: GPL-3.0-or-later
"""Keys of controls are written as a transaction, and what they replace comes back."""

import bpy
import pytest

from ik_triangulation.jobs.bake import bake, delete_generated
from ik_triangulation.rig.keyframes import generated

from ..ik_rigs import arm_limb, ik_arm
from ..rigs import all_keys, curves_of

pytestmark = pytest.mark.usefixtures("empty_scene")


@pytest.mark.parametrize("mode", ["QUATERNION", "AXIS_ANGLE", "XYZ", "ZXY"])
def test_controls_have_generated_keys_in_their_rotation_mode(mode):
    rig = ik_arm()
    rig.pose.bones["Grip"].rotation_mode = mode
    report = bake(arm_limb(rig, keys_on="IK"), 1, 6)
    assert report.all_reached
    assert report.keys == sum(len(curve.keyframe_points) for curve in curves_of(rig))
    assert all(generated(curve).all() for curve in curves_of(rig))
    assert len(curves_of(rig)) == 3 + (3 if len(mode) == 3 else 4) + 3


def test_the_present_frame_is_posed_at_once():
    rig = ik_arm()
    limb = arm_limb(rig, keys_on="IK")
    bpy.context.scene.frame_set(4)
    bake(limb, 1, 6)
    shown = rig.pose.bones["Grip"].location.copy()
    bpy.context.scene.frame_set(5)
    bpy.context.scene.frame_set(4)
    assert (rig.pose.bones["Grip"].location - shown).length < 1e-6


def test_keys_made_by_hand_come_back_with_the_last_generated_one():
    rig = ik_arm()
    for frame in (2, 5, 30):
        for name in ("Grip", "Aim"):
            rig.pose.bones[name].location.z = 0.01 * frame
            rig.pose.bones[name].keyframe_insert("location", frame=frame)
    before = all_keys(rig)
    for _ in range(2):
        bake(arm_limb(rig, keys_on="IK"), 1, 6)
        assert all_keys(rig) != before
    delete_generated(rig, ["Grip", "Aim"])
    assert all_keys(rig) == before

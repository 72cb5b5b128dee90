# SPDX-License-Identifier: GPL-3.0-or-later
"""A mirror whose writes fail leaves everything as it was; Euler angles in any order are mirrored with their curves."""

import bpy
import pytest
from mathutils import Euler

from ik_triangulation.errors import ChainError
from ik_triangulation.jobs.edits.mirror import mirror_motion

from ...bodies import human_rig, keyed_target, tails
from ...interrupted import writes_that_undo_all
from ...rigs import all_keys, nothing_lost

pytestmark = pytest.mark.usefixtures("empty_scene", "addon")


def waving(mode):
    """Both arms turned by hand differently, the left one with a target."""
    rig = human_rig()
    for side, sign in (("L", 1.0), ("R", -0.4)):
        bone = rig.pose.bones[f"upper_arm.{side}"]
        bone.rotation_mode = mode
        for frame, turn in ((1, (0.2, 0.1, 0.3)), (9, (0.6, -0.5, 0.2)), (20, (-0.3, 0.4, 0.9))):
            if mode == "QUATERNION":
                bone.rotation_quaternion = Euler([sign * each for each in turn]).to_quaternion()
            else:
                bone.rotation_euler = [sign * each for each in turn]
            bone.keyframe_insert("rotation_quaternion" if mode == "QUATERNION" else "rotation_euler", frame=frame)
    stored = rig.pose.bones["hand.L"].ik_triangulation
    stored.target, stored.chain_count = keyed_target(rig, "hand.L", {1: (0, 0, 0), 20: (-0.1, -0.2, 0.1)}), 3
    return rig


@pytest.mark.parametrize("mode", ["QUATERNION", "XYZ", "ZYX"])
@pytest.mark.parametrize("roll", [0.0, 0.7])
def test_arms_change_sides_whatever_their_axes(mode, roll):
    rig = waving(mode)
    bpy.ops.object.mode_set(mode="EDIT")
    rig.data.edit_bones["upper_arm.R"].roll += roll
    bpy.ops.object.mode_set(mode="POSE")
    frames = (1, 9, 20) if roll else range(1, 21)  # on other axes curves go other ways between keys
    before = [tails(rig, f"hand.{side}", frames) for side in "LR"]
    mirror_motion(rig, ["hand.L"])
    after = [tails(rig, f"hand.{side}", frames) for side in "RL"]
    for now, old in zip(after, before, strict=True):
        for place, was in zip(now, old, strict=True):
            assert abs(place.x + was.x) + (place.yz - was.yz).length < 1e-4
    mirror_motion(rig, ["hand.R"])
    for side, old in zip("LR", before, strict=True):
        pairs = zip(tails(rig, f"hand.{side}", frames), old, strict=True)
        assert max((now - was).length for now, was in pairs) < 1e-5


def test_a_mirror_that_fails_leaves_everything_as_it_was():
    rig = waving("XYZ")
    keys = all_keys(rig)
    assert writes_that_undo_all(lambda: mirror_motion(rig, ["hand.L"]), 9)
    assert all_keys(rig) != keys
    with nothing_lost(), pytest.raises(ChainError, match="No limbs are selected"):
        mirror_motion(rig, [])
    with nothing_lost(), pytest.raises(ChainError, match="ends no limb"):
        mirror_motion(rig, ["foot.L"])

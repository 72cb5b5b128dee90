# SPDX-License-Identifier: GPL-3.0-or-later
"""A mirror whose writes fail leaves everything as it was; Euler angles in any order are mirrored with their curves."""

import bpy
import numpy as np
import pytest
from mathutils import Euler, Matrix

from ik_triangulation.errors import ChainError, TargetError
from ik_triangulation.jobs.bake import bake, delete_generated
from ik_triangulation.jobs.edits.mirror import mirror_motion
from ik_triangulation.jobs.setup import set_up_body
from ik_triangulation.rig.limb import Limb
from ik_triangulation.rig.targets.untouched import is_as_made, is_waiting

from ...bodies import human_rig, keyed_target, tails
from ...interrupted import writes_that_undo_all
from ...rigs import all_keys, curve_of, nothing_lost

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


def test_targets_of_which_one_hangs_on_the_rig_change_sides_in_the_space_of_the_rig():
    rig = human_rig()
    set_up_body(rig)
    rig.location, rig.rotation_euler = (0.4, 0.2, 0.0), (0.0, 0.0, 0.5)
    bpy.context.view_layer.update()
    targets = [rig.pose.bones[f"hand.{side}"].ik_triangulation.target for side in "LR"]
    for target, parent, place in zip(targets, (None, rig), ((0.5, -0.2, 1.1), (-0.4, -0.3, 0.7)), strict=True):
        target.parent, target.location, target.rotation_mode = parent, place, "XYZ"
        target.rotation_euler = (0.3, 0.1, place[0])
    targets[1].matrix_parent_inverse = Matrix.Translation((0.1, 0.2, 0.3)) @ Matrix.Rotation(0.4, 4, "X")
    bpy.context.view_layer.update()

    def seen():
        return [np.array(rig.matrix_world.inverted() @ target.matrix_world) for target in targets]

    before, sides = seen(), [np.array(rig.pose.bones[f"hand.{side}"].bone.matrix_local)[:3, :3] for side in "LR"]
    mirror_motion(rig, ["hand.L"])
    bpy.context.view_layer.update()
    plane = np.diag((-1.0, 1.0, 1.0))
    for now, was, own, other in zip(seen(), before[::-1], sides, sides[::-1], strict=True):
        assert now[:3, 3] == pytest.approx(plane @ was[:3, 3], abs=1e-5)
        # A target turns as the bone does whose turns off its rest are mirrored.
        turned = plane @ was[:3, :3] @ other.T @ plane @ own
        assert np.abs(now[:3, :3] - turned).max() < 1e-4


def test_a_mirror_that_fails_leaves_everything_as_it_was():
    rig = waving("XYZ")
    keys = all_keys(rig)
    assert writes_that_undo_all(lambda: mirror_motion(rig, ["hand.L"]), 9)
    assert all_keys(rig) != keys
    with nothing_lost(), pytest.raises(ChainError, match="No limbs are selected"):
        mirror_motion(rig, [])
    with nothing_lost(), pytest.raises(ChainError, match="ends no limb"):
        mirror_motion(rig, ["foot.L"])


def test_a_mirrored_bake_comes_later_with_the_keys_that_it_replaced():
    rig = waving("QUATERNION")
    keys = {side: [tuple(key.co) for key in curve_of(rig, f"upper_arm.{side}", 1).keyframe_points] for side in "LR"}
    limb = Limb.from_tip(rig, "hand.L", rig.pose.bones["hand.L"].ik_triangulation.target, 3)
    bake(limb, 1, 20)
    before = tails(rig, "hand.L", range(1, 21))
    made = mirror_motion(rig, ["hand.L"], 10.0)
    assert made.targets == ("Target hand.L",)
    assert set(made.bones) == {f"{bone}.{side}" for bone in ("upper_arm", "forearm", "hand") for side in "LR"}
    stored = rig.pose.bones["hand.R"].ik_triangulation
    assert (stored.target.name, stored.chain_count) == ("Target hand.L", 3)
    assert rig.pose.bones["hand.L"].ik_triangulation.target is None
    for now, was in zip(tails(rig, "hand.R", range(11, 31)), before, strict=True):
        assert abs(now.x + was.x) + (now.yz - was.yz).length < 1e-4
    delete_generated(rig, ["upper_arm.R", "forearm.R", "hand.R"])
    for side, other in ("LR", "RL"):
        found = np.array([tuple(key.co) for key in curve_of(rig, f"upper_arm.{other}", 1).keyframe_points])
        assert found == pytest.approx(np.array(keys[side]) + np.array((10.0, 0.0)), abs=1e-6)


def test_targets_that_wait_change_sides_and_only_one_of_two_may_have_keys():
    rig = human_rig()
    set_up_body(rig)
    bones, targets = rig.pose.bones, {side: rig.pose.bones[f"hand.{side}"].ik_triangulation.target for side in "LR"}
    targets["L"].location.z += 0.1
    targets["L"].keyframe_insert("location", frame=1)
    bpy.context.view_layer.update()
    assert (is_waiting(bones["hand.L"]), is_waiting(bones["hand.R"])) == (False, True)
    place = targets["L"].matrix_world.translation.copy()
    mirror_motion(rig, ["hand.L"])
    assert (is_waiting(bones["hand.L"]), is_waiting(bones["hand.R"])) == (True, False)
    now = targets["R"].matrix_world.translation
    assert abs(now.x + place.x) + (now.yz - place.yz).length < 1e-5
    assert targets["L"].animation_data is None or targets["L"].animation_data.action is None
    assert targets["R"].animation_data.action is not None
    assert all(map(is_as_made, targets.values()))


def test_what_has_no_mirror_image_is_named_and_nothing_changes():
    rig = waving("XYZ")
    target = rig.pose.bones["hand.L"].ik_triangulation.target
    rig.data.bones["forearm.R"].name = "elbow.R"
    with nothing_lost(), pytest.raises(ChainError, match=r"'forearm.L' has no partner: .* has no bone 'forearm.R'"):
        mirror_motion(rig, ["hand.L"])
    rig.data.bones["elbow.R"].name = "forearm.R"
    target.delta_location.x = 0.1
    with nothing_lost(), pytest.raises(TargetError, match="has delta transforms"):
        mirror_motion(rig, ["hand.L"])
    target.delta_location.x = 0.0
    rig.keyframe_insert("location", frame=1)
    with nothing_lost(), pytest.raises(TargetError, match=r"Parent 'Target hand\.L' to it first"):
        mirror_motion(rig, ["hand.L"])
    for name in ("hand.L", "hand.R"):
        rig.data.bones[name].name = name.replace("hand", "paw")
    rig.data.bones["paw.R"].name = "claw"
    with nothing_lost(), pytest.raises(ChainError, match=r"'paw.L' has no partner: .* has no bone 'paw.R'"):
        mirror_motion(rig, ["paw.L"])

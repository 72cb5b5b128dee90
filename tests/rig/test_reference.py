# SPDX-License-Identifier: GPL-3.0-or-later
"""The reference of a limb is what somebody made by hand, at every frame, and never what was solved or baked."""

from math import inf
from random import Random

import bpy
import numpy as np
import pytest

from ik_triangulation.jobs.bake import bake, delete_generated, rebake
from ik_triangulation.jobs.pose import solve_pose
from ik_triangulation.jobs.reach import reach
from ik_triangulation.rig.by_hand.reference import reference_rotations
from ik_triangulation.rig.limb import Limb

from ..interrupted import BrokenError, FailingWrite
from ..modes import every_mode
from ..rigs import (
    all_keys,
    chain_rig,
    curves_of,
    empty,
    key_location,
    push_down,
    random_rotation,
    rotate,
    rotation_from,
    rotation_property,
)

pytestmark = pytest.mark.usefixtures("empty_scene")

FRAMES = [*range(-5, 60), 12.5]
REST = (1.0, 0.0, 0.0, 0.0)


def limb_of(mode="QUATERNION", **settings):
    """An arm that stands somehow, its second bone in another mode, and its moving target."""
    rig, target = chain_rig(3, mode=mode), key_location(empty(), range(1, 60, 7))
    rig.pose.bones["Bone 1"].rotation_mode = "ZXY"
    pose(rig, 1)
    return Limb.from_tip(rig, "Bone 2", target, **settings)


def pose(rig, seed):
    random = Random(seed)
    for bone in rig.pose.bones:
        rotate(bone, random_rotation(random))


def key(rig, frames, names=("Bone 0", "Bone 1", "Bone 2")):
    """Key another pose at each of the frames."""
    for frame in frames:
        bpy.context.scene.frame_set(int(frame))
        pose(rig, frame)
        for name in names:
            rig.pose.bones[name].keyframe_insert(rotation_property(rig.pose.bones[name]), frame=frame)


def reference(limb, frames=FRAMES):
    return reference_rotations(limb, frames, bpy.context.scene)


def shown(limb, frames=FRAMES):
    """The rotations that Blender shows at these frames."""
    scene, rows = bpy.context.scene, []
    before = scene.frame_current
    for frame in frames:
        scene.frame_set(int(frame), subframe=frame % 1.0)
        bones = [limb.armature.pose.bones[name] for name in limb.bones]
        rows.append(
            [rotation_from(bone.rotation_mode, tuple(getattr(bone, rotation_property(bone)))) for bone in bones]
        )
    scene.frame_set(before)
    return np.moveaxis(np.array(rows), 0, 2)


def same(one, other, within=1e-5):
    """Whether rotations are the same, whatever their signs."""
    one, other = np.broadcast_arrays(one, other)
    return np.abs(np.abs((one * other).sum(1)) - 1.0).max() < within


def standing(limb):
    return shown(limb, [bpy.context.scene.frame_current])


# Nothing was ever written


@every_mode
def test_a_limb_without_keys_has_the_pose_in_which_it_stands(mode):
    limb = limb_of(mode)
    assert reference(limb).shape == (3, 4, 1)
    assert same(reference(limb), standing(limb))


def test_values_that_say_no_rotation_are_rest():
    limb = limb_of("AXIS_ANGLE")
    limb.armature.pose.bones["Bone 0"].rotation_axis_angle = (1.0, 0.0, 0.0, 0.0)
    limb.armature.pose.bones["Bone 2"].rotation_mode = "QUATERNION"
    limb.armature.pose.bones["Bone 2"].rotation_quaternion = (0.0, 0.0, 0.0, 0.0)
    assert reference(limb)[[0, 2], :, 0].tolist() == [[*REST], [*REST]]


@every_mode
def test_keys_made_by_hand_count_at_every_frame_as_blender_plays_them(mode):
    limb = limb_of(mode)
    key(limb.armature, (1, 12, 31, 44))
    assert reference(limb).shape == (3, 4, len(FRAMES))
    assert same(reference(limb), shown(limb))
    frames = list(np.linspace(1.0, 44.0, 300))
    assert same(reference(limb, frames), shown(limb, frames))


def test_bones_without_keys_stand_still_beside_those_with_keys():
    limb = limb_of()
    key(limb.armature, (1, 12, 31), ["Bone 1"])
    assert same(reference(limb), shown(limb))


def test_muted_curves_do_not_count():
    limb = limb_of()
    key(limb.armature, (1, 12))
    for curve in curves_of(limb.armature):
        curve.mute = True
    pose(limb.armature, 5)
    assert same(reference(limb), standing(limb))


def test_time_stretching_counts():
    limb = limb_of()
    key(limb.armature, (1, 12, 31))
    bpy.context.scene.render.frame_map_new = 200
    assert same(reference(limb), shown(limb))


# After a bake


@every_mode
@pytest.mark.parametrize("keyed", [False, True])
def test_a_second_bake_has_the_same_reference(mode, keyed):
    limb = limb_of(mode)
    if keyed:
        key(limb.armature, (1, 12, 31, 44))
    first = reference(limb)
    for _ in range(2):
        bake(limb, 5, 40)
        assert np.abs(reference(limb) - first).max() < 1e-6
    bpy.context.scene.frame_set(33)
    assert np.abs(reference(limb) - first).max() < 1e-6
    bake(limb, 10, 50, 3)
    rebake(limb.armature, limb.tip)
    reach(limb, 20, 30)
    assert np.abs(reference(limb) - first).max() < 1e-6


def test_keys_that_were_replaced_count_between_those_that_were_not_and_new_ones():
    limb = limb_of()
    key(limb.armature, (1, 12, 31, 44))
    first = reference(limb)
    bake(limb, 10, 35)
    key(limb.armature, (20,))
    for curve in curves_of(limb.armature):  # Blender keeps the type of a key that is keyed anew
        next(each for each in curve.keyframe_points if each.co.x == 20).type = "KEYFRAME"
    by_hand = shown(limb, [20])
    assert same(reference(limb, [20]), by_hand)
    assert same(reference(limb, [1, 12, 31, 44]), first[:, :, [FRAMES.index(frame) for frame in (1, 12, 31, 44)]])
    second = reference(limb)
    bake(limb, 5, 44)
    assert np.abs(reference(limb) - second).max() < 1e-6


def test_every_interpolation_that_blender_has_counts():
    limb = limb_of()
    key(limb.armature, (1, 12, 31, 44))
    for number, curve in enumerate(curves_of(limb.armature)):
        for each in curve.keyframe_points:
            each.interpolation = ("ELASTIC", "SINE", "CONSTANT", "BACK", "LINEAR")[number % 5]
    first = shown(limb)
    bake(limb, 5, 40)
    actions, posed = len(bpy.data.actions), standing(limb)
    assert same(reference(limb), first)
    bpy.context.view_layer.update()
    assert len(bpy.data.actions) == actions
    assert same(standing(limb), posed)


def test_a_cycle_that_was_baked_over_goes_on():
    limb = limb_of()
    key(limb.armature, (1, 8, 15))
    for curve in curves_of(limb.armature):
        curve.modifiers.new("CYCLES")
    first = shown(limb)
    for ends in ((1, 15), (1, 50), (5, 40)):
        bake(limb, *ends)
        assert same(reference(limb), first)


@pytest.mark.parametrize("kind", ["NEW_ACTION", "NLA_TRACK"])
def test_wherever_a_bake_was_written_to_a_second_has_the_same_reference(kind):
    for keyed in (False, True):
        limb = limb_of(destination=kind)
        if keyed:
            key(limb.armature, (1, 12, 31, 44))
            if kind == "NLA_TRACK":
                push_down(limb.armature)
        first = reference(limb)
        bake(limb, 5, 40)
        bpy.context.scene.frame_set(33)
        assert np.abs(reference(limb) - first).max() < 1e-6, keyed
        bake(limb, 5, 40)
        bpy.context.scene.frame_set(21)
        assert np.abs(reference(limb) - first).max() < 1e-6, keyed
        bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)


def test_limbs_that_share_bones_share_what_was_replaced():
    limb = limb_of()
    key(limb.armature, (1, 12, 31, 44))
    first = reference(limb)
    bake(limb, 5, 40)
    upper = Limb.from_tip(limb.armature, "Bone 1", limb.target)
    bake(upper, 5, 40)
    assert np.abs(reference(upper) - first[:2]).max() < 1e-6


def test_a_bake_of_which_nothing_is_known_has_rest_as_its_reference():
    limb = limb_of()
    bake(limb, 5, 40)
    del limb.armature.animation_data.action["ik_triangulation_replaced"]
    assert (reference(limb) == np.array(REST)[:, None]).all()


def test_a_pose_on_top_of_a_bake_is_one_by_hand():
    limb = limb_of()
    bake(limb, 5, 40)
    bpy.context.scene.frame_set(20)
    pose(limb.armature, 9)
    by_hand = standing_now(limb)
    assert same(reference(limb), by_hand)
    bake(limb, 5, 40)
    bpy.context.scene.frame_set(31)
    assert same(reference(limb), by_hand)


@pytest.mark.parametrize("subframe", [0.0, 0.25, 0.75])
def test_a_bake_that_is_shown_between_frames_is_no_pose_by_hand(subframe):
    limb = limb_of()
    before = reference(limb)
    bake(limb, 5, 40)
    bpy.context.scene.frame_set(20, subframe=subframe)
    assert same(reference(limb), before)


def standing_now(limb):
    bones = [limb.armature.pose.bones[name] for name in limb.bones]
    rows = [rotation_from(bone.rotation_mode, tuple(getattr(bone, rotation_property(bone)))) for bone in bones]
    return np.array(rows)[:, :, None]


def test_a_bake_that_was_solved_over_is_no_pose_by_hand():
    limb = limb_of()
    first = reference(limb)
    bake(limb, 5, 40)
    bpy.context.scene.frame_set(20)
    limb.target.animation_data_clear()
    limb.target.location = (0.1, 0.9, 1.0)
    solve_pose(limb)
    assert np.abs(reference(limb) - first).max() < 1e-6


# After a solved pose


@every_mode
def test_a_solved_pose_is_no_reference_and_one_changed_by_hand_is(mode):
    limb = limb_of(mode)
    first = reference(limb)
    for place in ((0.5, 0.5, 1.0), (-0.5, 0.5, 1.3)):
        limb.target.animation_data_clear()
        limb.target.location = place
        solve_pose(limb)
        assert not same(standing_now(limb), first, 1e-3)
        assert np.abs(reference(limb) - first).max() < 1e-6
    rotate(limb.armature.pose.bones["Bone 1"], random_rotation(Random(7)))
    second = reference(limb)
    assert same(second, standing_now(limb))  # all of it: the other bones were seen and left so
    solve_pose(limb)
    assert np.abs(reference(limb) - second).max() < 1e-6


def test_a_solved_pose_in_another_rotation_mode_is_still_none():
    limb = limb_of()
    first = reference(limb)
    solve_pose(limb)
    for bone, mode in zip(limb.armature.pose.bones, ("XYZ", "AXIS_ANGLE", "YXZ"), strict=True):
        rotation = rotation_from(bone.rotation_mode, tuple(getattr(bone, rotation_property(bone))))
        bone.rotation_mode = mode
        rotate(bone, rotation)
    assert same(reference(limb), first)


def test_a_solve_that_fails_leaves_the_memory_as_it_was():
    limb = limb_of()
    solve_pose(limb)
    first = reference(limb)
    pose(limb.armature, 3)
    second = standing_now(limb)

    with FailingWrite(inf, at_end=True), pytest.raises(BrokenError):
        solve_pose(limb)
    assert same(reference(limb), second)
    assert not same(second, first, 1e-3)


def test_a_bake_after_a_solved_pose_goes_by_the_pose_before_both():
    limb = limb_of()
    first = reference(limb)
    solve_pose(limb)
    bake(limb, 5, 40)
    bpy.context.scene.frame_set(12)
    assert np.abs(reference(limb) - first).max() < 1e-6


# Kept, undone, deleted


@pytest.mark.parametrize("way", ["solved", "baked", "keyed and baked"])
def test_it_is_saved_with_the_file(way, tmp_path):
    limb = limb_of()
    if way == "keyed and baked":
        key(limb.armature, (1, 12, 31, 44))
    first = reference(limb)
    solve_pose(limb) if way == "solved" else bake(limb, 5, 40)
    path = str(tmp_path / "rig.blend")
    bpy.ops.wm.save_as_mainfile(filepath=path)
    bpy.ops.wm.open_mainfile(filepath=path)
    limb = Limb.from_tip(bpy.data.objects["Rig"], "Bone 2", bpy.data.objects["Target"])
    assert np.abs(reference(limb) - first).max() < 1e-6


def test_undo_brings_back_the_reference_of_then():
    limb = limb_of()
    first = reference(limb)
    solve_pose(limb)
    bpy.ops.ed.undo_push(message="Solved")
    pose(limb.armature, 4)
    second = standing_now(limb)
    solve_pose(limb)
    bpy.ops.ed.undo_push(message="Solved again")
    assert same(reference(limb), second)
    bpy.ops.ed.undo()
    limb = Limb.from_tip(bpy.data.objects["Rig"], "Bone 2", bpy.data.objects["Target"])
    assert np.abs(reference(limb) - first).max() < 1e-6
    bpy.ops.ed.redo()
    limb = Limb.from_tip(bpy.data.objects["Rig"], "Bone 2", bpy.data.objects["Target"])
    assert same(reference(limb), second)


@every_mode
def test_without_its_keys_a_bake_leaves_the_reference_of_before(mode):
    limb = limb_of(mode)
    first = reference(limb)
    bake(limb, 5, 40)
    bpy.context.scene.frame_set(33)
    delete_generated(limb.armature, limb.bones)
    assert not all_keys(limb.armature)
    assert same(reference(limb), first)
    solve_pose(limb)
    bake(limb, 5, 40)
    assert same(reference(limb), first)


# In the NLA


def in_strips(limb, *strips):
    """Put actions of keys at 1, 12 and 31 into strips on one track each, with these attributes."""
    for number, changes in enumerate(strips):
        key(limb.armature, (1 + number, 12, 31))
        animation = limb.armature.animation_data
        strip = animation.nla_tracks.new().strips.new("Strip", 1, animation.action)
        animation.action = None
        for name, value in changes.items():
            setattr(strip, name, value)


@pytest.mark.parametrize(
    "changes",
    [
        {},
        {"frame_start_ui": 8.0, "scale": 1.5},
        {"repeat": 1.6},
        {"repeat": 2.0},
        {"use_reverse": True},
        {"frame_start_ui": 8.0, "extrapolation": "HOLD_FORWARD"},
        {"frame_start_ui": 8.0, "extrapolation": "NOTHING"},
    ],
)
def test_what_is_keyed_by_hand_in_the_nla_counts_as_it_is_played(changes):
    limb = limb_of()
    in_strips(limb, {}, changes)
    assert same(reference(limb), shown(limb), 1e-4)


def test_muted_strips_and_tracks_do_not_count():
    limb = limb_of()
    in_strips(limb, {}, {"mute": True}, {})
    limb.armature.animation_data.nla_tracks[2].mute = True
    limb.armature.animation_data.nla_tracks.new().strips.new("No slot", 1, bpy.data.actions.new("Empty"))
    assert same(reference(limb), shown(limb), 1e-4)
    limb.armature.animation_data.use_nla = False
    assert reference(limb).shape == (3, 4, 1)

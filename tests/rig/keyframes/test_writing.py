# SPDX-License-Identifier: GPL-3.0-or-later
"""Baked keys: how they are interpolated, where they are, how they are told from others, and how to be rid of them."""

from random import Random

import bpy
import pytest

from ik_triangulation.errors import AnimationError, ChainError
from ik_triangulation.jobs.bake import bake, delete_generated
from ik_triangulation.jobs.pose import solve_pose
from ik_triangulation.rig.limb import Limb

from ...interrupted import writes_that_undo_all
from ...modes import every_mode
from ...rigs import (
    all_keys,
    chain_rig,
    configure,
    curve_of,
    curves_of,
    empty,
    evaluated_tip,
    key_frames,
    key_location,
    nothing_lost,
    path_point,
    random_rotation,
    rotate,
    rotation_property,
)

pytestmark = pytest.mark.usefixtures("empty_scene")


def moving(mode="QUATERNION", frames=range(1, 41, 3)):
    """A rig of three bones and a target that goes round it."""
    rig = chain_rig(3, mode=mode)
    return rig, key_location(empty(), frames)


def limb(rig, target, **settings):
    return Limb.from_tip(rig, "Bone 2", target, **settings)


def kinds(rig, what):
    """The values that an attribute of the rig's keys has."""
    return {getattr(key, what) for curve in curves_of(rig) for key in curve.keyframe_points}


def keyed_by_hand(rig, frames, **kinds):
    """Rotation keys of all bones of all kinds of rotations."""
    for bone in rig.pose.bones:
        for frame in frames:
            rotate(bone, random_rotation(Random(f"{bone.name}{frame}")))
            bone.keyframe_insert(rotation_property(bone), frame=frame, **kinds)


# Interpolation


@pytest.mark.parametrize("interpolation", ["LINEAR", "BEZIER", "CONSTANT"])
@pytest.mark.parametrize("step", [1, 2])
def test_keys_are_interpolated_as_wanted(interpolation, step):
    rig, target = moving()
    bake(limb(rig, target, interpolation=interpolation), 1, 11, step)
    assert kinds(rig, "interpolation") == {interpolation}


@pytest.mark.parametrize(("step", "interpolation"), [(1, "LINEAR"), (3, "BEZIER")])
def test_of_itself_it_is_linear_where_every_frame_is_baked(step, interpolation):
    rig, target = moving()
    bake(limb(rig, target), 1, 13, step)
    assert kinds(rig, "interpolation") == {interpolation}


def test_on_twos_every_pose_is_held_for_two_frames():
    rig, target = moving(frames=range(1, 42))
    bake(limb(rig, target, interpolation="CONSTANT"), 1, 11, 2)
    scene = bpy.context.scene
    for frame in range(1, 11, 2):
        scene.frame_set(frame)
        tip = evaluated_tip(rig, "Bone 2")
        assert (tip - path_point(frame)).length < 1.1e-3
        scene.frame_set(frame + 1)
        assert evaluated_tip(rig, "Bone 2") == tip


def test_keys_outside_the_range_keep_their_interpolation():
    rig, target = moving()
    keyed_by_hand(rig, (1, 30))
    bake(limb(rig, target, interpolation="CONSTANT"), 10, 20)
    for curve in curves_of(rig):
        keys = list(curve.keyframe_points)
        assert [keys[0].interpolation, keys[-1].interpolation] == ["BEZIER", "BEZIER"]
        assert {key.interpolation for key in keys[1:-1]} == {"CONSTANT"}


# On the target's own keys


def test_keys_are_only_where_the_target_has_some():
    rig, target = moving(frames=(1, 4, 9, 20, 33))
    target.rotation_euler.x = 0.3
    target.keyframe_insert("rotation_euler", index=0, frame=12.5)
    report = bake(limb(rig, target, only_target_keys=True), 2, 25)
    assert {tuple(key_frames(curve)) for curve in curves_of(rig)} == {(4.0, 9.0, 12.5, 20.0)}
    assert [result.frame for result in report.frames] == [4.0, 9.0, 12.5, 20.0]
    assert report.all_reached
    assert kinds(rig, "interpolation") == {"BEZIER"}


def test_keys_of_the_target_at_the_ends_of_the_range_count():
    rig, target = moving(frames=(1, 9, 20, 33))
    bake(limb(rig, target, only_target_keys=True), 9, 20)
    assert {tuple(key_frames(curve)) for curve in curves_of(rig)} == {(9.0, 20.0)}


def test_keys_are_only_where_the_targets_bone_has_some():
    rig, _ = moving()
    other = chain_rig(2, name="Other")
    for name, frames in (("Bone 0", (2, 5)), ("Bone 1", (3, 8))):
        for frame in frames:
            rotate(other.pose.bones[name], random_rotation(Random(frame)))
            other.pose.bones[name].keyframe_insert("rotation_quaternion", frame=frame)
    other.keyframe_insert("location", frame=7)
    bake(limb(rig, other, subtarget="Bone 1", only_target_keys=True), 1, 20)
    assert key_frames(curves_of(rig)[0]) == [3, 8]
    bpy.ops.object.mode_set(mode="OBJECT")
    bake(limb(rig, other, subtarget="Bone 0", only_target_keys=True), 1, 20)
    assert key_frames(curves_of(rig)[0]) == [2, 5]


def test_a_target_without_keys_in_the_range_is_told():
    rig, target = moving(frames=(1, 40))
    message = "Target 'Target' has no keys from frame 2 to 25. Turn off Only at Target's Keys."
    with nothing_lost(), pytest.raises(AnimationError, match=message):
        bake(limb(rig, target, only_target_keys=True), 2, 25)


# Generated keys


def test_baked_keys_are_marked_and_solved_ones_are_not():
    rig, target = moving()
    bake(limb(rig, target), 1, 5)
    assert kinds(rig, "type") == {"GENERATED"}
    bpy.context.scene.frame_set(9)
    solve_pose(limb(rig, target), key=True)
    assert {key.type for curve in curves_of(rig) for key in curve.keyframe_points if key.co.x == 9} == {"KEYFRAME"}


@every_mode
def test_only_generated_rotation_keys_of_the_bones_are_deleted(mode):
    rig, target = moving(mode=mode)
    keyed_by_hand(rig, (-3, 30.5, 40))
    other = rig.pose.bones["Bone 0"]
    other.keyframe_insert("location", frame=4, keytype="GENERATED")
    before = {path: repr(keys) for path, keys in all_keys(rig).items()}
    count = bake(limb(rig, target), 1, 12).keys
    posed = repr([tuple(getattr(bone, rotation_property(bone))) for bone in rig.pose.bones])
    assert delete_generated(rig, [bone.name for bone in rig.pose.bones]) == count
    assert {path: repr(keys) for path, keys in all_keys(rig).items()} == before
    assert repr([tuple(getattr(bone, rotation_property(bone))) for bone in rig.pose.bones]) == posed


def test_those_of_other_bones_and_outside_the_range_stay():
    rig, target = moving()
    bake(limb(rig, target), 1, 20)
    assert delete_generated(rig, ["Bone 0", "Bone 2"], 5, 10) == 2 * 4 * 6
    assert key_frames(curve_of(rig, "Bone 1", 0)) == list(range(1, 21))
    for name in ("Bone 0", "Bone 2"):
        assert key_frames(curve_of(rig, name, 3)) == [*range(1, 5), *range(11, 21)]


def test_curves_that_are_left_without_keys_go_with_them():
    rig, target = moving()
    bake(limb(rig, target), 1, 5)
    assert delete_generated(rig, ["Bone 0", "Bone 1"]) == 2 * 4 * 5
    assert {curve.group.name for curve in curves_of(rig)} == {"Bone 2"}


def test_where_nothing_is_generated_nothing_changes():
    rig, _ = moving()
    with nothing_lost():
        assert delete_generated(rig, ["Bone 0"]) == delete_generated(rig, []) == 0
    keyed_by_hand(rig, (1, 5))
    with nothing_lost():
        assert delete_generated(rig, ["Bone 0"]) == 0
    with nothing_lost(), pytest.raises(ChainError, match="Bone 'Gone' is not in 'Rig'"):
        delete_generated(rig, ["Gone"])


def test_deleting_that_fails_at_any_write_changes_nothing():
    rig, target = moving()
    keyed_by_hand(rig, (-3, 30.5, 40))
    bake(limb(rig, target), 1, 12)
    bpy.context.view_layer.update()
    rig.pose.bones["Bone 0"].rotation_quaternion = (0.6, 0.0, 0.8, 0.0)  # posed, not keyed
    assert writes_that_undo_all(lambda: delete_generated(rig, ["Bone 0", "Bone 1", "Bone 2"]), stride=3) > 10


@pytest.mark.parametrize("way", ["the whole", "the range", "the selected bones"])
def test_the_operator_deletes_what_the_call_does(way):
    rig, target = moving()
    bake(limb(rig, target), 1, 20)
    configure(rig, "Bone 2", chain_count=2, use_scene_range=False, frame_start=3, frame_end=8)
    if way == "the selected bones":
        for bone in rig.pose.bones:
            (bone if hasattr(bone, "select") else bone.bone).select = bone.name != "Bone 1"
        rig.pose.bones["Bone 2"].ik_triangulation.use_selected = True
    assert bpy.ops.pose.ik_triangulation_generated_delete(use_range=way == "the range") == {"FINISHED"}
    left = {bone.name: curve_of(rig, bone.name, 0) for bone in rig.pose.bones}
    left = {name: key_frames(curve) if curve else [] for name, curve in left.items()}
    whole, rest = list(range(1, 21)), [1, 2, *range(9, 21)] if way == "the range" else []
    kept, *gone = ("Bone 1", "Bone 0", "Bone 2") if way == "the selected bones" else ("Bone 0", "Bone 1", "Bone 2")
    assert left == {kept: whole, gone[0]: rest, gone[1]: rest}
    with nothing_lost():
        assert bpy.ops.pose.ik_triangulation_generated_delete(use_range=way == "the range") == {"CANCELLED"}


def test_the_operator_needs_an_active_bone_but_no_target():
    rig, _ = moving()
    assert bpy.ops.pose.ik_triangulation_generated_delete.poll()
    rig.data.bones.active = None
    with pytest.raises(RuntimeError, match="Make the bone at the end of the limb active"):
        bpy.ops.pose.ik_triangulation_generated_delete()


def test_the_operator_says_what_is_in_the_way():
    rig, target = moving()
    bake(limb(rig, target), 1, 5)
    configure(rig, "Bone 2", chain_count=9)
    with nothing_lost(), pytest.raises(RuntimeError, match="Chain length 9 is more than"):
        bpy.ops.pose.ik_triangulation_generated_delete()
    configure(rig, "Bone 2", chain_count=0)
    curves_of(rig)[0].lock = True
    with nothing_lost(), pytest.raises(RuntimeError, match="1 F-Curves of 'Bone 0' are locked"):
        bpy.ops.pose.ik_triangulation_generated_delete()

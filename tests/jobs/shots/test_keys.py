# SPDX-License-Identifier: GPL-3.0-or-later
"""What is written: the rotation that was solved, without jumps, where it was asked for and nowhere else."""

from math import nextafter, pi, radians, tau
from random import Random

import bpy
import numpy as np
import pytest
from mathutils import Quaternion, Vector

from ik_triangulation.jobs.bake import bake
from ik_triangulation.jobs.pose import solve_pose
from ik_triangulation.kinematics import Hinge
from ik_triangulation.rig.rotation import run_of

from ...modes import every_euler_mode, every_mode
from ...rigs import (
    all_keys,
    chain_rig,
    curve_of,
    curves_of,
    empty,
    evaluated_tip,
    key_frames,
    key_location,
    key_of,
    keys_of,
    path_point,
    random_rotation,
    rotate,
    rotation_from,
    rotation_property,
    rows,
)
from ..moving import bits, dress, limb, moving

pytestmark = pytest.mark.usefixtures("empty_scene")

# The rotation


@every_mode
def test_a_baked_bone_runs_on_from_the_keys_before_the_range(mode):
    """The last key before the range is two turns, or the other sign, away from the values that come to mind first."""
    rig, target = moving(mode=mode)
    bake(limb(rig, target), 1, 10)
    for bone in rig.pose.bones:
        for index in range(len(rows(rig, bone.name)[0])):
            curve = curve_of(rig, bone.name, index)
            for key in curve.keyframe_points:
                if mode == "QUATERNION":
                    key.co.y = -key.co.y
                elif mode != "AXIS_ANGLE" or index == 0:
                    key.co.y += 2.0 * tau
            curve.update()
    bake(limb(rig, target), 11, 20)
    for bone in rig.pose.bones:
        values = rows(rig, bone.name)
        assert len(values) == 20
        assert np.abs(np.diff(values, axis=0)).max() < 1.5, bone.name
    if mode == "QUATERNION":
        assert all((np.sum(rows(rig, b.name)[1:] * rows(rig, b.name)[:-1], axis=1) > 0.0).all() for b in rig.pose.bones)


def test_a_partly_locked_bone_runs_on_from_the_keys_before_the_range():
    rig, target = moving(mode="XYZ")
    for bone in rig.pose.bones:
        bone.lock_rotation[1] = True
    bake(limb(rig, target), 1, 10)
    for bone in rig.pose.bones:
        for index in (0, 2):
            curve = curve_of(rig, bone.name, index)
            for key in curve.keyframe_points:
                key.co.y += 2.0 * tau
            curve.update()
        rig.pose.bones[bone.name].rotation_euler = (0.0, 0.0, 0.0)
    bake(limb(rig, target), 11, 20)
    for bone in rig.pose.bones:
        for index in (0, 2):
            values = [key.co.y for key in curve_of(rig, bone.name, index).keyframe_points]
            assert np.abs(np.diff(values)).max() < pi


# Where keys go


@pytest.mark.parametrize("mode", ["QUATERNION", "XYZ"])
def test_keys_are_replaced_inside_the_range_and_kept_bit_by_bit_outside(mode):
    rig, target = moving(mode=mode)
    bone = rig.pose.bones["Bone 1"]
    for frame in (-7, 1, 4.5, 9, 10, 12.25, 15, 20, 20.4, 21, 33):
        rotate(bone, random_rotation(Random(str(frame))))
        bone.keyframe_insert(rotation_property(bone), frame=frame)
    for curve in curves_of(rig):
        dress(curve)
    before = {path: [key for key in keys if not 10 <= key[0][0] <= 20] for path, keys in all_keys(rig).items()}
    bake(limb(rig, target), 10, 20)
    after = all_keys(rig)
    for path, outside in before.items():
        assert repr([key for key in after[path] if not 10 <= key[0][0] <= 20]) == repr(outside)
        assert [key[0][0] for key in after[path] if 10 <= key[0][0] <= 20] == list(range(10, 21))
        assert [key[0][0] for key in after[path]] == sorted(key[0][0] for key in after[path])


def test_every_second_frame_clears_the_keys_between():
    rig, target = moving()
    bake(limb(rig, target), 1, 21)
    bake(limb(rig, target), 5, 15, step=2)
    for curve in curves_of(rig):
        assert key_frames(curve) == [*range(1, 5), *range(5, 16, 2), *range(16, 22)]


def test_a_step_that_does_not_meet_the_end_stops_before_it_and_clears_up_to_it():
    rig, target = moving()
    bake(limb(rig, target), 1, 12)
    bake(limb(rig, target), 1, 12, step=5)
    assert key_frames(curves_of(rig)[0]) == [1, 6, 11]


def test_an_action_and_a_slot_are_made_where_there_are_none():
    rig, target = moving()
    assert rig.animation_data is None
    bake(limb(rig, target), 1, 5)
    animation = rig.animation_data
    assert animation.action.name == "RigAction"
    assert animation.action_slot.identifier == "OBRig"
    assert {curve.group.name for curve in curves_of(rig)} == {"Bone 0", "Bone 1", "Bone 2"}
    assert len(bpy.data.actions) == 2  # and the target's


def test_an_empty_action_gets_a_slot():
    rig, target = moving()
    rig.animation_data_create().action = bpy.data.actions.new("Mine")
    bake(limb(rig, target), 1, 5)
    assert rig.animation_data.action.name == "Mine"
    assert len(rig.animation_data.action.slots) == 1
    assert len(curves_of(rig)) == 12


def test_other_bones_keys_in_the_same_action_stay_as_they_are():
    rig, target = moving(4)
    other = rig.pose.bones["Bone 0"]
    for frame in (1, 8, 12):
        rotate(other, random_rotation(Random(frame)))
        other.location = (frame, 0.0, 0.0)
        other.keyframe_insert("rotation_quaternion", frame=frame)
        other.keyframe_insert("location", frame=frame)
    rig.pose.bones["Bone 2"].keyframe_insert("scale", frame=3)
    for curve in curves_of(rig):
        dress(curve)
    before = all_keys(rig)
    bake(limb(rig, target, chain_count=3), 1, 10)
    after = all_keys(rig)
    assert {path: repr(after[path]) for path in before} == {path: repr(keys) for path, keys in before.items()}
    assert len(after) == len(before) + 12


def test_a_key_made_by_hand_is_like_a_baked_one_but_for_its_type():
    rig, target = moving()
    bake(limb(rig, target), 5, 6)
    bone = rig.pose.bones["Bone 0"]
    bone.keyframe_insert("rotation_quaternion", frame=30)
    keys = curve_of(rig, "Bone 0", 0).keyframe_points
    assert [getattr(keys[0], n) for n in ("easing", "handle_left_type", "handle_right_type")] == [
        getattr(keys[2], n) for n in ("easing", "handle_left_type", "handle_right_type")
    ]
    assert key_of(keys[0])[8:11] == key_of(keys[2])[8:11]


# What the artist sees afterwards


# Locks and limits


@pytest.mark.parametrize("axis", range(3))
@every_euler_mode
def test_a_locked_euler_axis_keeps_its_value_and_gets_no_keys(mode, axis):
    rig, target = moving(mode=mode)
    for bone in rig.pose.bones:
        bone.rotation_euler = (0.1, -0.2, 0.15)
        bone.lock_rotation[axis] = True
    before = [bits(bone.rotation_euler[axis]) for bone in rig.pose.bones]
    report = bake(limb(rig, target), 1, 8)
    assert [bits(bone.rotation_euler[axis]) for bone in rig.pose.bones] == before
    assert {curve.array_index for curve in curves_of(rig)} == {0, 1, 2} - {axis}
    assert not report.warnings


@pytest.mark.parametrize("angle", [7.0, -4.0])
def test_a_locked_euler_axis_beyond_half_a_turn_keeps_its_value(angle):
    rig = chain_rig(3, mode="XYZ")
    bone = rig.pose.bones["Bone 1"]
    bone.rotation_euler, bone.lock_rotation[0] = (angle, 0.1, 0.2), True
    before = bits(bone.rotation_euler[0])
    report = solve_pose(limb(rig, empty()), key=True)
    assert bits(bone.rotation_euler[0]) == before
    assert not report.warnings


@every_mode
def test_a_bone_locked_on_all_axes_keeps_its_values_and_gets_no_keys(mode):
    rig, target = moving(mode=mode)
    bone = rig.pose.bones["Bone 1"]
    prop = rotation_property(bone)
    setattr(
        bone, prop, {"QUATERNION": (0.9, 0.4, 0.0, 0.1), "AXIS_ANGLE": (0.7, 1.0, 2.0, 0.0)}.get(mode, (0.2, 4, -7))
    )
    bone.lock_rotation = (True, True, True)
    before = bits(getattr(bone, prop))
    report = bake(limb(rig, target), 1, 8)
    assert bits(getattr(bone, prop)) == before
    assert {curve.group.name for curve in curves_of(rig)} == {"Bone 0", "Bone 2"}
    assert not report.warnings


@pytest.mark.parametrize("mode", ["QUATERNION", "AXIS_ANGLE"])
@pytest.mark.parametrize("lock", ["w", "x"])
def test_a_bone_locked_channel_by_channel_keeps_its_values_and_gets_no_keys(mode, lock):
    rig, target = moving(mode=mode)
    bone = rig.pose.bones["Bone 1"]
    prop = rotation_property(bone)
    setattr(bone, prop, (0.9, 0.4, 0.0, 0.1))
    bone.lock_rotations_4d = True
    bone.lock_rotation_w, bone.lock_rotation[0] = lock == "w", lock == "x"
    before = bits(getattr(bone, prop))
    report = bake(limb(rig, target), 1, 8)
    assert bits(getattr(bone, prop)) == before
    assert {curve.group.name for curve in curves_of(rig)} == {"Bone 0", "Bone 2"}
    assert not report.warnings


def test_a_partly_locked_quaternion_keeps_its_euler_angle_about_the_locked_axis():
    """A quaternion has no channel to leave out: as in Blender's transforms, the lock holds the Euler angle."""
    rig, target = moving()
    bone = rig.pose.bones["Bone 1"]
    bone.lock_rotation[2], bone.lock_rotations_4d = True, False
    bake(limb(rig, target), 1, 20)
    for row in rows(rig, "Bone 1"):
        assert abs(rotation_from("QUATERNION", row).to_euler("YXZ").z) < 1e-5


def test_a_locked_channel_that_is_animated_stays_so_and_is_followed():
    rig, target = moving(mode="XYZ")
    bone = rig.pose.bones["Bone 1"]
    for frame, angle in ((1, -0.3), (20, 0.6)):
        bone.rotation_euler[1] = angle
        bone.keyframe_insert("rotation_euler", index=1, frame=frame)
    bone.lock_rotation[1] = True
    before = repr(keys_of(curve_of(rig, "Bone 1", 1)))
    report = bake(limb(rig, target), 1, 20)
    assert repr(keys_of(curve_of(rig, "Bone 1", 1))) == before
    assert report.all_reached
    assert [warning.partition(",")[0] for warning in report.warnings] == ["Solved frame by frame"]
    for frame in (1, 9, 20):
        bpy.context.scene.frame_set(frame)
        assert (evaluated_tip(rig, "Bone 2") - target.matrix_world.translation).length < 1.1e-3


@pytest.mark.parametrize("how", ["locked channels", "locked in the IK panel", "own setting"])
def test_a_bone_that_may_not_turn_keeps_its_animation_and_is_followed(how):
    rig, target = moving()
    bone = rig.pose.bones["Bone 1"]
    for frame, angle in ((1, -0.3), (20, 0.6)):
        bone.rotation_quaternion = Quaternion((1.0, 0.0, 0.0), angle)
        bone.keyframe_insert("rotation_quaternion", frame=frame)
    if how == "locked channels":
        bone.lock_rotation = (True, True, True)
    elif how == "own setting":
        bone.ik_triangulation_joint.source, bone.ik_triangulation_joint.kind = "OWN", "LOCKED"
    else:
        bone.lock_ik_x = bone.lock_ik_y = bone.lock_ik_z = True
    before = {path: repr(keys) for path, keys in all_keys(rig).items()}
    report = bake(limb(rig, target), 1, 20)
    assert report.all_reached
    assert [warning.partition(",")[0] for warning in report.warnings] == ["Solved frame by frame"]
    after = all_keys(rig)
    assert {path: repr(after[path]) for path in before} == before
    for frame in (1, 9, 20):
        bpy.context.scene.frame_set(frame)
        assert (evaluated_tip(rig, "Bone 2") - target.matrix_world.translation).length < 1.1e-3


@every_mode
def test_solving_with_locks_leaves_locked_values_alone(mode):
    rig = chain_rig(3, mode=mode)
    bone = rig.pose.bones["Bone 1"]
    bone.lock_rotation = (True, True, True)
    setattr(bone, rotation_property(bone), (0.5, 0.5, 0.1, 0.2) if len(mode) > 3 else (0.5, 0.1, 0.2))
    before = bits(getattr(bone, rotation_property(bone)))
    solve_pose(limb(rig, empty()), key=True)
    assert bits(getattr(bone, rotation_property(bone))) == before
    assert {curve.group.name for curve in curves_of(rig)} == {"Bone 0", "Bone 2"}


def limit(bone, axis, low, high):
    """Limit an axis in the bone's Inverse Kinematics panel."""
    setattr(bone, f"use_ik_limit_{axis}", True)
    setattr(bone, f"ik_min_{axis}", low)
    setattr(bone, f"ik_max_{axis}", high)


@every_euler_mode
def test_stored_euler_angles_stay_inside_the_limits_of_the_ik_panel(mode):
    random = Random(mode)
    rig = chain_rig(4, mode=mode)
    target = key_location(empty(), range(1, 61), lambda frame: 1.6 * path_point(frame))  # often out of reach
    for bone in rig.pose.bones:
        for axis in "xyz":
            limit(bone, axis, -random.uniform(0.0, 1.0), random.uniform(0.0, 1.0))
    bake(limb(rig, target, smooth=False), 1, 60, step=2)
    for bone in rig.pose.bones:
        low = np.array([bone.ik_min_x, bone.ik_min_y, bone.ik_min_z], np.float32)
        high = np.array([bone.ik_max_x, bone.ik_max_y, bone.ik_max_z], np.float32)
        values = rows(rig, bone.name).astype(np.float32)
        assert (values >= low).all()
        assert (values <= high).all()
        assert ((values == low) | (values == high)).any(), "no limit was ever met"


@pytest.mark.parametrize("axis", "xyz")
@every_euler_mode
def test_a_hinge_of_the_ik_panel_turns_about_its_axis_alone_and_inside_its_limits(mode, axis):
    rig = chain_rig(4, mode=mode)
    target = key_location(empty(), range(1, 61), lambda frame: 1.6 * path_point(frame))
    free = "xyz".index(axis)
    for bone in list(rig.pose.bones)[1:]:
        for other in "xyz":
            setattr(bone, f"lock_ik_{other}", other != axis)
        limit(bone, axis, radians(-20.0), radians(130.0))
    bake(limb(rig, target), 1, 60, step=2)
    for bone in list(rig.pose.bones)[1:]:
        low, high = getattr(bone, f"ik_min_{axis}"), getattr(bone, f"ik_max_{axis}")
        values = rows(rig, bone.name)
        assert values[:, free].min() >= nextafter(low, -9.0) - 1e-6
        assert values[:, free].max() <= nextafter(high, 9.0) + 1e-6
        assert np.abs(np.delete(values, free, axis=1)).max() < 1e-6


def test_stored_values_of_a_hinge_do_not_exceed_its_limits_by_a_bit():
    """Kept as a quaternion in single precision an angle is known to 1e-7 only; what is stored is held to the limits."""
    hinge = Hinge(Vector((1.0, 0.0, 0.0)), -0.3, 0.7)
    random = Random(1)
    rotations = [hinge.nearest(Quaternion((1.0, 0.0, 0.0), random.uniform(-3.0, 3.0))) for _ in range(200)]
    values = np.asarray(run_of(rotations, "XYZ", [hinge] * 200, (0.0, 0.0, 0.0)))
    assert values[:, 0].min() >= -0.3
    assert values[:, 0].max() <= 0.7
    assert np.abs(values[:, 1:]).max() == 0.0


def test_fewer_keys_are_at_the_target_s_own_and_two_where_nothing_moves():
    rig, target = moving(frames=(1, 14, 40), mode="XYZ")
    rig.pose.bones[1].lock_ik_y = rig.pose.bones[1].lock_ik_z = True
    bake(limb(rig, target, reduce=True), 1, 40)
    times = {round(key.co.x) for curve in curves_of(rig) for key in curve.keyframe_points}
    assert {1, 14, 40} <= times
    assert len(times) < 20
    for index in (1, 2):
        curve = curve_of(rig, rig.pose.bones[1].name, index)
        assert [round(key.co.x) for key in curve.keyframe_points] == [1, 40]
        assert len({curve.evaluate(frame) for frame in range(1, 41)}) == 1

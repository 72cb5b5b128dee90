# SPDX-License-Identifier: GPL-3.0-or-later
"""Each frame of a bake follows what moves, mixes with what was there, and depends on nothing else."""

from math import atan2, cos, radians, sin
from random import Random

import bpy
import numpy as np
import pytest
from mathutils import Euler, Quaternion, Vector

from ik_triangulation.jobs.bake import bake
from ik_triangulation.jobs.pose import solve_pose
from ik_triangulation.jobs.shots.report import summary

from ...rig.standing import (
    ANGLE,
    TOLERANCE,
    angle_between,
    assert_on,
    axes_of,
    bend_off,
    keyed_euler,
    limb,
    standing_empty,
    standing_rig,
    world_of,
)
from ...rigs import all_keys, chain_rig, empty, evaluated_tip, key_location, rows

pytestmark = pytest.mark.usefixtures("empty_scene")


def rotations(rig):
    return [bone.rotation_quaternion.copy() for bone in rig.pose.bones]


def posed(random, bones=3):
    rig = standing_rig(bones=bones)
    for bone in rig.pose.bones:
        bone.rotation_quaternion = Euler([random.uniform(-0.6, 0.6) for _ in range(3)]).to_quaternion()
    return rig


@pytest.mark.parametrize("key", [False, True])
def test_no_influence_changes_nothing(key):
    rig = posed(Random(1))
    target = standing_empty(rig)
    before = rotations(rig)
    solve_pose(limb(rig, target, influence=0.0), key=key)
    assert np.abs(np.array(rotations(rig)) - np.array(before)).max() < 1e-6


@pytest.mark.parametrize("influence", [0.25, 0.5])
def test_influence_is_the_share_of_the_way_to_the_solution(influence):
    found = {}
    for share in (0.0, influence, 1.0):
        bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
        rig = posed(Random(2))
        solve_pose(limb(rig, standing_empty(rig), influence=share))
        found[share] = rotations(rig)
    assert_between(found, influence)


def assert_between(found, influence):
    for start, half, end in zip(found[0.0], found[influence], found[1.0], strict=True):
        start, half, end = (np.array(rotation) for rotation in (start, half, end))
        whole, part = quaternion_angle(start, end), quaternion_angle(start, half)
        assert part == pytest.approx(influence * whole, abs=2e-3)
        assert part + quaternion_angle(half, end) == pytest.approx(whole, abs=2e-3)


def quaternion_angle(a, b):
    """Of the rotation from one to the other [rad]."""
    return 4.0 * atan2(*sorted((np.linalg.norm(a - b), np.linalg.norm(a + b))))


def animated(influence, frames=range(1, 13)):
    """A rig with keys on every bone, baked with an influence over frames 4 to 9."""
    bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
    rig, target = chain_rig(3), key_location(empty(), range(1, 14))
    for frame in frames:
        for number, bone in enumerate(rig.pose.bones):
            bone.rotation_quaternion = Quaternion((1.0, 0.3, -0.5), 0.1 * sin(0.4 * frame + number))
            bone.keyframe_insert("rotation_quaternion", frame=frame)
    if influence is not None:
        bake(limb(rig, target, influence=influence), 4, 9)
    return rig


def test_an_influence_mixes_frame_by_frame_with_the_keys_there_were():
    found = {}
    for influence in (None, 0.0, 0.5, 1.0):
        rig = animated(influence)
        found[influence] = [rows(rig, bone.name) for bone in rig.pose.bones]
    for animated_rows, none_rows in zip(found[None], found[0.0], strict=True):
        assert np.abs(animated_rows - none_rows).max() < 1e-6
    for bone in range(3):
        for frame in range(3, 9):
            assert_between({share: [found[share][bone][frame]] for share in (0.0, 0.5, 1.0)}, 0.5)
        for frame in (0, 1, 2, 9, 10, 11):
            assert (found[None][bone][frame] == found[0.5][bone][frame]).all()


def test_a_solve_with_half_an_influence_says_how_far_off_the_tip_is_shown():
    rig = posed(Random(3))
    target = standing_empty(rig)
    report = solve_pose(limb(rig, target, influence=0.5))
    [result] = report.frames
    assert any("Influence is below 1" in warning for warning in report.warnings)
    assert not result.reached
    assert not result.due
    assert report.all_reached
    distance = (evaluated_tip(rig, rig.pose.bones[-1].name) - target.matrix_world.translation).length
    assert result.error == pytest.approx(distance, abs=1e-5)
    assert distance > 10.0 * TOLERANCE
    assert "On the way" in summary(report, bpy.context.scene)


def keyed_quaternion(target, frames):
    target.rotation_mode = "QUATERNION"
    for frame in frames:
        target.rotation_quaternion = Quaternion((0.3, 1.0, 0.2), 0.07 * frame)
        target.keyframe_insert("rotation_quaternion", frame=frame)


def keyed_delta(target, frames):
    for frame in frames:
        target.delta_rotation_euler = (0.05 * frame, 0.0, 0.02 * frame)
        target.keyframe_insert("delta_rotation_euler", frame=frame)


def by_moving_parent(target, frames):
    holder = empty("Holder", (0.0, 0.0, 0.0))
    keyed_euler(holder, frames)
    target.parent = holder


def copying(target, frames):
    other = empty("Other", (3.0, 0.0, 0.0))
    keyed_euler(other, frames)
    target.constraints.new("COPY_ROTATION").target = other


def driven(target, frames):
    driver = target.driver_add("rotation_euler", 2).driver
    driver.expression = "frame * 0.06"


TURNING = [keyed_euler, keyed_quaternion, keyed_delta, by_moving_parent, copying, driven]


@pytest.mark.parametrize("turning", TURNING)
@pytest.mark.parametrize("moving", [False, True], ids=["in place", "on its way"])
def test_a_bake_follows_a_turning_target_at_every_frame(turning, moving):
    rig, target = chain_rig(4), empty(location=(0.6, 0.4, 1.6))
    if moving:
        key_location(target, range(1, 13), lambda frame: Vector((0.6, 0.4 + 0.03 * frame, 1.6)))
    turning(target, range(1, 13))
    report = bake(limb(rig, target, orientation="FULL"), 1, 12)
    assert list(report.warnings) == []
    assert report.all_reached
    assert report.largest_angle < ANGLE
    seen = []
    for frame in range(1, 13):
        bpy.context.scene.frame_set(frame)
        assert (evaluated_tip(rig, "Bone 3") - target.matrix_world.translation).length < TOLERANCE
        for bone, wanted in zip(axes_of(world_of(rig)).T, axes_of(target.matrix_world).T, strict=True):
            assert angle_between(bone, wanted) < ANGLE
        seen.append(target.matrix_world.to_quaternion())
    assert quaternion_angle(np.array(seen[0]), np.array(seen[-1])) > 0.2


def test_a_bake_follows_a_shape_that_grows_and_a_pole_that_moves():
    rig, target = chain_rig(3), empty()
    target.empty_display_type, target.empty_display_size = "SPHERE", 0.3
    pole = key_location(empty("Pole"), range(1, 13), lambda f: Vector((3.0 * cos(0.1 * f), 3.0 * sin(0.1 * f), 1.0)))
    for frame in (1, 12):
        target.scale = (0.5 + 0.1 * frame,) * 3
        target.keyframe_insert("scale", frame=frame)
    report = bake(limb(rig, target, pole_target=pole), 1, 12)
    assert report.all_reached
    for frame in range(1, 13):
        bpy.context.scene.frame_set(frame)
        assert_on("SPHERE", evaluated_tip(rig, "Bone 2"), target.matrix_world, 0.3)
        assert bend_off(rig, pole.matrix_world.translation) < radians(0.5)


def test_a_bake_with_soft_constraints_has_no_jumps():
    rig, target = chain_rig(4), empty(location=(0.6, 0.4, 1.6))
    keyed_euler(target, range(1, 41))
    bake(limb(rig, target, orientation="FULL"), 1, 40)
    for bone in rig.pose.bones:
        assert np.abs(np.diff(rows(rig, bone.name), axis=0)).max() < 0.5


def test_a_bake_and_a_solve_with_goals_are_the_same_each_time():
    found = []
    for _ in range(2):
        bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
        rig, target = chain_rig(4), empty(location=(0.6, 0.4, 1.6))
        keyed_euler(target, range(1, 6))
        bake(limb(rig, target, orientation="FULL", pole_target=empty("Pole", (3.0, 0.0, 0.0))), 1, 5)
        found.append(repr(all_keys(rig)))
    assert found[0] == found[1]

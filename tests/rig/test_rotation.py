# SPDX-License-Identifier: GPL-3.0-or-later
"""Rotations are written so that they read back, without a jump, in every mode."""

from math import acos, pi, tau
from random import Random

import bpy
import numpy as np
import pytest
from mathutils import Quaternion, Vector

from ik_triangulation.kinematics import EulerLimits, Free
from ik_triangulation.kinematics.rotation import rotation_angle
from ik_triangulation.rig.rotation import rotation_of, run_of, set_rotation, values_for

from ..modes import every_euler_mode, every_mode
from ..rigs import chain_rig, random_rotation, rotate, rotation_from, rotation_property

pytestmark = pytest.mark.usefixtures("empty_scene")


ROTATION = 2e-6  # [rad] what single precision allows


@every_mode
def test_a_rotation_reads_back_as_it_was_written(mode):
    random = Random(mode)
    bone = chain_rig(1, mode=mode).pose.bones[0]
    for _ in range(300):
        wanted = random_rotation(random)
        rest = (1.0, 0.0, 0.0, 0.0) if mode == "QUATERNION" else (0.0,) * len(getattr(bone, rotation_property(bone)))
        set_rotation(bone, run_of([wanted], mode, [Free()], rest)[0])
        assert rotation_angle(rotation_of(bone), wanted) < ROTATION


@every_mode
def test_blender_shows_the_rotation_that_is_read(mode):
    random = Random(mode)
    bone = chain_rig(1, mode=mode).pose.bones[0]
    for _ in range(50):
        rotate(bone, random_rotation(random))
        bpy.context.view_layer.update()
        assert rotation_angle(rotation_of(bone), bone.matrix_basis.to_quaternion()) < 2.0 * ROTATION


@every_euler_mode
@pytest.mark.parametrize("middle", [-pi / 2.0, pi / 2.0, 1.5707, pi])
def test_a_rotation_at_a_pole_of_the_euler_angles_reads_back_as_it_was_written(mode, middle):
    bone = chain_rig(1, mode=mode).pose.bones[0]
    angles = [0.4, 0.4, -0.7]
    angles["XYZ".index(mode[1])] = middle
    wanted = rotation_from(mode, angles)
    set_rotation(bone, run_of([wanted], mode, [Free()], (0.0, 0.0, 0.0))[0])
    assert rotation_angle(rotation_of(bone), wanted) < ROTATION


def spin(steps, axis=(0.3, 1.0, -0.2), turns=3.0):
    """Several whole turns about a slanted axis with a wobble, in small steps."""
    axis = Vector(axis).normalized()
    wobble = [Quaternion((1.0, 0.0, 0.0), 0.4 * np.sin(0.05 * i)) for i in range(steps)]
    return [Quaternion(axis, turns * tau * i / steps) @ w for i, w in enumerate(wobble)]


@every_mode
def test_values_of_a_smooth_motion_run_on_without_a_jump(mode):
    """Three whole turns in 600 steps below 3 degrees; Euler angles may go faster near a pole, but never flip."""
    values = run_of(spin(600), mode, [Free()] * 600, (1.0, 0.0, 0.0, 0.0) if len(mode) > 3 else (0.0, 0.0, 0.0))
    steps = np.abs(np.diff(np.asarray(values, float), axis=0)).max()
    assert steps < 0.05 if mode == "QUATERNION" else 1.0
    for row, wanted in zip(values, spin(600), strict=True):
        assert rotation_angle(rotation_from(mode, row), wanted) < 4.0 * ROTATION


@every_euler_mode
def test_wide_euler_limits_bring_no_jump_into_a_smooth_motion(mode):
    """Both triples of a rotation are inside such limits: the one that runs on is taken."""
    wide = EulerLimits(mode, (-3.1,) * 3, (3.1,) * 3)
    middle = "XYZ".index(mode[1])
    motion = [[0.2, 0.2, 0.2] for _ in range(100)]
    for i, angles in enumerate(motion):
        angles[middle] = -2.5 + 0.05 * i  # beyond both poles
    values = run_of([rotation_from(mode, angles) for angles in motion], mode, [wide] * 100, motion[0])
    assert np.abs(np.diff(np.asarray(values, float), axis=0)).max() < 0.1
    assert np.abs(values).max() <= 3.1


def test_an_axis_angle_keeps_its_sense_through_zero():
    """Back and forth through rest about one axis: the angle changes its sign, the axis stays."""
    axis = Vector((0.6, 0.0, 0.8))
    motion = [Quaternion(axis, 0.02 * (i - 50)) for i in range(100)]
    values = np.asarray(run_of(motion, "AXIS_ANGLE", [Free()] * 100, (-1.0, *axis)))
    assert np.abs(np.diff(values[:, 0])).max() < 0.03
    # The axis of the smallest angles is known to a few digits only.
    assert np.abs(values[:, 1:] - np.array(axis)).max() < 1e-3


def test_a_bone_that_begins_at_rest_has_the_axis_of_its_motion_at_once():
    """Between a frame at rest and the next one the axis would turn as well, and the bone with it."""
    axis = Vector((0.6, 0.0, 0.8))
    motion = [Quaternion(axis, 0.1 * max(i - 2, 0)) for i in range(6)]
    values = np.asarray(run_of(motion, "AXIS_ANGLE", [Free()] * 6, (0.0, 0.0, 1.0, 0.0)))
    assert np.abs(values[:, 1:] - np.array(axis)).max() < 1e-6
    assert values[:, 0] == pytest.approx([0.0, 0.0, 0.0, 0.1, 0.2, 0.3])
    turned = np.asarray(run_of(motion, "AXIS_ANGLE", [Free()] * 6, (2.0 * pi, 0.0, 1.0, 0.0)))
    assert turned[0] == pytest.approx((2.0 * pi, 0.0, 1.0, 0.0))  # a whole turn before: its axis counts


def test_a_rotation_of_none_gives_an_axis_angle_its_length():
    values = run_of([Quaternion()], "AXIS_ANGLE", [Free()], (0.0, 0.0, 0.0, 0.0))
    assert np.linalg.norm(np.asarray(values)[0, 1:]) == pytest.approx(1.0)


@pytest.mark.parametrize(
    ("rotation", "before", "found"),
    [
        ((1.0, 0.0, 0.0, 0.0), (0.3, 0.0, 0.0, 0.0), (0.0, 0.0, 1.0, 0.0)),
        ((1.0, 0.0, 0.0, 0.0), (0.3, 0.0, 0.0, 2.0), (0.0, 0.0, 0.0, 1.0)),
        ((1.0, 0.0, 0.0, 0.0), (7.0, 1.0, 0.0, 0.0), (tau, 1.0, 0.0, 0.0)),
        ((0.6, 0.8, 0.0, 0.0), (0.0, -1.0, 0.0, 0.0), (-2.0 * acos(0.6), -1.0, 0.0, 0.0)),
        ((-0.6, -0.8, 0.0, 0.0), (0.0, 1.0, 0.0, 0.0), (2.0 * acos(0.6), 1.0, 0.0, 0.0)),
        ((0.6, 0.0, 0.0, 0.8), (12.0, 0.0, 0.0, 1.0), (2.0 * acos(0.6) + 4.0 * pi, 0.0, 0.0, 1.0)),
    ],
)
def test_an_axis_and_angle_go_on_from_those_before(rotation, before, found):
    assert values_for(Quaternion(rotation), "AXIS_ANGLE", Free(), before) == pytest.approx(found, abs=1e-6)

# SPDX-License-Identifier: GPL-3.0-or-later
"""The write gate: what Blender stores obeys the limits in every rotation mode, and what did already is not touched."""

from math import inf, pi, tau
from random import Random

import numpy as np
import pytest
from mathutils import Vector

from ik_triangulation.errors import RigError
from ik_triangulation.kinematics import Cone, EulerLimits, Free, Hinge
from ik_triangulation.kinematics.rotation import about, rotation_angle
from ik_triangulation.rig.rotation import LEAST, run_of, within_limits

from ..chains import random_cone, random_direction, random_hinge, random_limits, random_rotation
from ..modes import every_mode, in_short
from ..rigs import EULER_MODES, rotation_from

X, Y, Z = (Vector([float(i == j) for j in range(3)]) for i in range(3))
KINDS = {
    "hinge": random_hinge,
    "hinge about an axis": lambda random: Hinge(random.choice((X, Y, Z)), -random.random(), random.random()),
    "limits": random_limits,
    "cone": random_cone,
    "narrow cone": lambda random: Cone(0.01, -0.01, 0.02),
    "swing alone": lambda random: Cone(random.uniform(0.1, 3.0), 0.0, 0.0),
}
REST = {"QUATERNION": (1.0, 0.0, 0.0, 0.0), "AXIS_ANGLE": (0.0, 0.0, 1.0, 0.0)}
every_kind = pytest.mark.parametrize("kind", KINDS)
every_order = pytest.mark.parametrize("order", in_short(EULER_MODES))


def gated(rows, mode, freedom):
    return within_limits("bone", np.array(rows, dtype=float), mode, [freedom] * len(rows))


def channels(rotation, mode):
    """Some channel values that show a rotation, made by mathutils alone."""
    if mode == "QUATERNION":
        return tuple(rotation)
    if mode == "AXIS_ANGLE":
        axis, angle = rotation.to_axis_angle()
        return (angle, *axis)
    return tuple(rotation.to_euler(mode))


def outside(row, mode, freedom):
    """How far stored values are outside the limits [rad]."""
    rotation = rotation_from(mode, [float(value) for value in row])
    return rotation_angle(freedom.nearest(rotation), rotation)


def assert_inside(stored, mode, freedom, within=LEAST):
    assert stored.dtype == np.float32
    assert np.isfinite(stored).all()
    for row in stored:
        assert outside(row, mode, freedom) <= within
        limits = freedom.in_euler(mode) if len(row) == 3 else None
        if limits:
            assert all(low <= float(x) <= high for low, x, high in zip(limits.lower, row, limits.upper, strict=True))


@every_mode
@every_kind
def test_any_rotation_at_all_comes_out_inside(mode, kind):
    random = Random(f"{mode} {kind}")
    for _ in range(20):
        freedom = KINDS[kind](random)
        rows = [channels(random_rotation(random), mode) for _ in range(5)]
        assert_inside(gated(rows, mode, freedom), mode, freedom)


@every_mode
@every_kind
def test_what_is_written_of_allowed_rotations_is_inside_and_the_same_rotation(mode, kind):
    random = Random(f"{mode} {kind} allowed")
    for _ in range(20):
        freedom = KINDS[kind](random)
        rotations = [freedom.random(random) for _ in range(5)]
        values = run_of(rotations, mode, [freedom] * 5, REST.get(mode, (0.0, 0.0, 0.0)))
        stored = within_limits("bone", values, mode, [freedom] * 5)
        assert_inside(stored, mode, freedom)
        for row, wanted in zip(stored, rotations, strict=True):
            assert rotation_angle(rotation_from(mode, row.tolist()), wanted) < 3.0 * LEAST


@every_mode
@every_kind
def test_values_well_inside_stay_bit_by_bit(mode, kind):
    random = Random(f"{mode} {kind} well inside")
    for _ in range(20):
        freedom = KINDS[kind](random)
        rotations = [freedom.random(random) for _ in range(5)]
        values = run_of(rotations, mode, [freedom] * 5, REST.get(mode, (0.0, 0.0, 0.0)))
        once = within_limits("bone", values, mode, [freedom] * 5)
        again = within_limits("bone", once, mode, [freedom] * 5)
        assert again.tobytes() == once.tobytes()
        limits = freedom.in_euler(mode) if len(mode) == 3 else None
        if not limits:
            assert once.tobytes() == values.astype(np.float32).tobytes()


@every_mode
def test_a_bone_without_limits_keeps_whatever_it_has(mode):
    random = Random(mode)
    rows = [channels(random_rotation(random), mode) for _ in range(20)]
    rows.append([1e6] * len(rows[0]))
    assert gated(rows, mode, Free()).tobytes() == np.array(rows).astype(np.float32).tobytes()


@every_order
def test_an_angle_just_outside_in_single_precision_is_rounded_inwards(order):
    random = Random(order)
    for _ in range(50):
        freedom = random_limits(random, order)
        row = [random.choice(ends) for ends in zip(freedom.lower, freedom.upper, strict=True)]
        shifted = [np.nextafter(np.float32(angle), np.float32(random.choice((-inf, inf)))) for angle in row]
        for angles in (row, shifted):
            stored = gated([angles], order, freedom)
            assert_inside(stored, order, freedom)
            assert np.abs(stored[0] - np.array(row)).max() < 3e-7


@every_order
@pytest.mark.parametrize("end", [pi, pi / 2.0, 2.0 * pi, 0.1])
def test_ends_at_odd_places_hold_in_single_precision(order, end):
    """float32(pi) is greater than pi, float32(0.1) greater than 0.1: the stored angle must not be."""
    freedom = EulerLimits(order, (-end,) * 3, (end,) * 3)
    for sign in (-1.0, 1.0):
        stored = gated([[sign * end] * 3], order, freedom)
        assert_inside(stored, order, freedom)
        assert np.abs(stored[0] - sign * end).max() < 1e-6


@every_order
@pytest.mark.parametrize("turns", [-1.0, 1.0, 3.0])
def test_a_triple_shifted_by_whole_turns_keeps_its_rotation(order, turns):
    """It is outside its limits as numbers, but the rotation is allowed: it must not be cut off to something else."""
    random = Random(order)
    for _ in range(20):
        freedom = random_limits(random, order)
        wanted = freedom.random(random)
        angles = freedom.angles(wanted)
        for axis in range(3):
            shifted = [angle + tau * turns * (i == axis) for i, angle in enumerate(angles)]
            stored = gated([shifted], order, freedom)
            assert_inside(stored, order, freedom)
            assert rotation_angle(rotation_from(order, stored[0].tolist()), wanted) < 6.0 * LEAST


@every_order
def test_the_other_triple_of_an_allowed_rotation_keeps_the_rotation(order):
    random = Random(order)
    i, j, k = ("XYZ".index(letter) for letter in order)
    for _ in range(50):
        freedom = random_limits(random, order)
        wanted = freedom.random(random)
        angles = list(freedom.angles(wanted))
        angles[i], angles[j], angles[k] = angles[i] + pi, pi - angles[j], angles[k] + pi
        stored = gated([angles], order, freedom)
        assert_inside(stored, order, freedom)
        assert rotation_angle(rotation_from(order, stored[0].tolist()), wanted) < 6.0 * LEAST


@every_order
def test_limits_beyond_half_a_turn_keep_the_turn_that_is_inside(order):
    freedom = EulerLimits(order, (2.0, -0.5, 2.0), (5.0, 0.5, 5.0))
    stored = gated([[2.1, 0.0, 4.9], [5.0 - tau, 0.5, 2.0], [2.0, -0.5, 5.0]], order, freedom)
    assert_inside(stored, order, freedom)
    assert stored[0].tolist() == pytest.approx([2.1, 0.0, 4.9], abs=1e-6)
    assert rotation_angle(rotation_from(order, stored[1].tolist()), rotation_from(order, [5.0, 0.5, 2.0])) < 1e-5


@every_order
def test_frozen_axes_stay_what_they_are_in_single_precision(order):
    frozen = float(np.float32(0.7))
    freedom = EulerLimits(order, (-1.0, frozen, -inf), (1.0, frozen, inf))
    stored = gated([[0.2, frozen, 9.0], [3.0, 1.0, -9.0]], order, freedom)
    assert stored[:, 1].tolist() == [frozen, frozen]
    assert stored[0].tolist() == [np.float32(0.2), frozen, 9.0]
    assert_inside(stored, order, freedom)


@pytest.mark.parametrize("mode", ["AXIS_ANGLE", *EULER_MODES])
@pytest.mark.parametrize("turns", [1, 5, 30, 300])
def test_angles_that_have_run_on_for_many_turns_are_no_failure(mode, turns):
    """Single precision leaves ever less of them, and they do not jump back either."""
    random = Random(f"{mode} {turns}")
    freedom = Hinge(Vector((0.3, 1.0, -0.2)), -0.4, 0.9) if mode == "AXIS_ANGLE" else Cone(0.8, -inf, inf)
    rotations = [freedom.random(random) for _ in range(20)]
    run_before = np.array(REST.get(mode, (0.0, 0.0, 0.0))) + turns * tau * np.eye(len(REST.get(mode, "xyz")))[0]
    values = run_of(rotations, mode, [freedom] * 20, run_before)
    stored = within_limits("bone", values, mode, [freedom] * 20)
    assert_inside(stored, mode, freedom, within=max(2.0 * LEAST, 4.0 * np.spacing(np.float32(turns * tau))))
    assert np.abs(stored - values).max() < 1e-2


@pytest.mark.parametrize("angle", [-7.0, -pi, pi, 2.0 * pi + 0.3, 40.0])
def test_an_axis_angle_beyond_its_limit_is_brought_to_the_end_of_the_range(angle):
    freedom = Hinge(Z, -0.2, 0.4)
    stored = gated([[angle, 0.0, 0.0, 1.0], [angle, 0.0, 0.0, -3.0], [angle, 1.0, 1.0, 1.0]], "AXIS_ANGLE", freedom)
    assert_inside(stored, "AXIS_ANGLE", freedom, within=2.0 * LEAST)


def test_an_axis_angle_without_an_axis_is_rest_as_blender_reads_it():
    stored = gated([[2.0, 0.0, 0.0, 0.0]], "AXIS_ANGLE", Cone(0.5, -0.5, 0.5))
    assert stored.tolist() == [[2.0, 0.0, 0.0, 0.0]]
    inside = gated([[2.0, 0.0, 0.0, 0.0]], "AXIS_ANGLE", Hinge(Z, 0.3, 0.5))
    assert_inside(inside, "AXIS_ANGLE", Hinge(Z, 0.3, 0.5))


def test_a_small_axis_angle_is_written_as_exactly_as_a_large_one():
    """mathutils' own to_axis_angle() takes an arc cosine, which is off by up to 1e-3 rad near rest."""
    random = Random(7)
    for _ in range(300):
        axis, angle = random_direction(random), 10.0 ** random.uniform(-5.0, 0.4)
        wanted = about(axis, random.choice((-1.0, 1.0)) * angle)
        for rotation in (wanted, -wanted):
            row = np.float32(run_of([rotation], "AXIS_ANGLE", [Free()], (0.0, 0.0, 1.0, 0.0))[0])
            assert rotation_angle(rotation_from("AXIS_ANGLE", row.tolist()), wanted) < LEAST


@every_mode
@every_kind
def test_a_smooth_run_along_the_limits_stays_smooth(mode, kind):
    """A motion that swings in and out of what is allowed: the gate adds no jump to what the limits make of it."""
    random = Random(f"{mode} {kind} smooth")
    for _ in range(3):
        freedom = KINDS[kind](random)
        start, end = freedom.random(random), freedom.random(random)
        rotations = [freedom.nearest(start.slerp(end, i / 60.0)) for i in range(61)]
        values = run_of(rotations, mode, [freedom] * 61, channels(start, mode))
        stored = within_limits("bone", values, mode, [freedom] * 61)
        assert_inside(stored, mode, freedom)
        assert np.abs(stored - values).max() < 5e-6


def test_limits_that_are_closer_than_single_precision_are_refused_by_the_bones_name(monkeypatch):
    """Nothing known gets that far, so the check is made to fail."""
    monkeypatch.setattr("ik_triangulation.rig.rotation.LEAST", -1.0)
    monkeypatch.setattr("ik_triangulation.rig.rotation._SURE", -1.0)
    monkeypatch.setattr("ik_triangulation.rig.rotation.np.spacing", lambda _: -1.0)
    with pytest.raises(RigError, match="'bone' cannot be kept inside its limits in single precision"):
        gated([[1.0, 0.0, 0.0, 0.0]], "QUATERNION", Cone(0.5))

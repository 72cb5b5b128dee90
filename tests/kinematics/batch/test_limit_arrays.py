# SPDX-License-Identifier: GPL-3.0-or-later
"""The distance of many rotations from their limits is that of each from the nearest allowed one."""

from random import Random

import numpy as np
import pytest
from mathutils import Quaternion

from ik_triangulation.kinematics import Free, Hinge, Locked, framed
from ik_triangulation.kinematics.batch.limit_arrays import LimitArrays
from ik_triangulation.kinematics.rotation import rotation_angle

from ...chains import random_cone, random_direction, random_hinge, random_limits, random_rotation

ROUNDING = 2e-6  # [rad] of mathutils
KINDS = {
    "hinge": random_hinge,
    "cone": random_cone,
    "limits": random_limits,
    "framed cone": lambda random: framed(random_cone(random), random_rotation(random)),
    "framed limits": lambda random: framed(random_limits(random), random_rotation(random)),
}
every_kind = pytest.mark.parametrize("kind", KINDS)


def excess_of(freedom, rotation):
    return rotation_angle(freedom.nearest(rotation), rotation)


def columns(rotations):
    return np.array(rotations, np.float64).T


@every_kind
def test_the_excess_is_the_angle_to_the_nearest_allowed_rotation_or_for_euler_limits_a_bound(kind):
    random = Random(kind)
    for _ in range(60):
        freedom = KINDS[kind](random)
        rotations = [random_rotation(random) for _ in range(20)]
        found = LimitArrays(freedom).excess(columns(rotations))
        expected = np.array([excess_of(freedom, rotation) for rotation in rotations])
        if kind.endswith("limits"):
            assert (found >= expected - ROUNDING).all()
        else:
            assert np.abs(found - expected).max() < ROUNDING
        exact = LimitArrays(freedom).exact_excess(columns(rotations), np.zeros(20, int), 0.0)
        assert np.abs(exact - expected).max() < ROUNDING


@every_kind
def test_allowed_rotations_of_either_sign_exceed_nothing(kind):
    random = Random(kind)
    for _ in range(60):
        freedom = KINDS[kind](random)
        rotations = [freedom.random(random) for _ in range(20)]
        rotations = [rotation if random.random() < 0.5 else -rotation for rotation in rotations]
        assert LimitArrays(freedom).excess(columns(rotations)).max() < ROUNDING


@every_kind
def test_the_ends_that_are_met_change_where_the_names_of_them_do(kind):
    random = Random(f"ends {kind}")
    for _ in range(60):
        freedom = KINDS[kind](random)
        rotations = [freedom.nearest(random_rotation(random)) for _ in range(30)]
        names = [freedom.on_limits(rotation) for rotation in rotations]
        for given in (freedom, [freedom, Free()] * 15):
            found = LimitArrays(given).ends(columns(rotations)).tolist()
            same = {}
            for number, met in zip(found[::2], names[::2], strict=True):
                assert same.setdefault(number, met) == met
            assert len({*map(tuple, same.values())}) == len(same)


def test_what_cannot_be_outside_is_free():
    rotations = columns([random_rotation(Random(1)) for _ in range(5)])
    for freedoms in (Free(), [Free(), Locked(), Free(), Free(), Locked()]):
        assert LimitArrays(freedoms).free
        assert not LimitArrays(freedoms).excess(rotations).any()
    assert not LimitArrays([Free(), Hinge(random_direction(Random(2)))]).free


def test_each_frame_has_the_limits_of_its_own():
    random = Random(3)
    freedoms = [random.choice([*KINDS.values(), lambda _: Free()])(random) for _ in range(60)]
    limits, which = LimitArrays(freedoms), np.array([random.randrange(60) for _ in range(150)])
    rotations = [random_rotation(random) for _ in which]
    found = limits.exact_excess(columns(rotations), which, 0.0)
    expected = [excess_of(freedoms[i], rotation) for i, rotation in zip(which, rotations, strict=True)]
    assert found == pytest.approx(np.array(expected), abs=ROUNDING)
    assert [limits.freedom(i) for i in range(60)] == freedoms


def test_a_kind_of_limit_without_arrays_is_measured_one_by_one():
    class Half(Hinge):
        """A hinge of another kind."""

    random = Random(4)
    freedoms = [Half(random_direction(random), -0.5, 0.5) for _ in range(10)]
    rotations = [random_rotation(random) for _ in range(10)]
    for given in (freedoms, freedoms[0]):
        expected = [
            excess_of(freedom, r)
            for freedom, r in zip(given if given is freedoms else [given] * 10, rotations, strict=True)
        ]
        assert LimitArrays(given).excess(columns(rotations)) == pytest.approx(np.array(expected), abs=ROUNDING)
    half = freedoms[0]
    at_ends = [half.at(Quaternion(), [angle]) for angle in (-0.5, 0.5, 0.1, -0.5, 0.1)]
    low, high, inside, again, other = LimitArrays(half).ends(columns(at_ends)).tolist()
    assert (low, inside) == (again, other)
    assert len({low, high, inside}) == 3

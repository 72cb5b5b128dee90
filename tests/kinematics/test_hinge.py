# SPDX-License-Identifier: GPL-3.0-or-later
"""Hinges allow a range about one axis."""

from math import isinf, pi, tau
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st
from mathutils import Vector

from ik_triangulation.kinematics import Hinge
from ik_triangulation.kinematics.rotation import about, angle_between, clamp_to_range, rotation_angle, twist, wrap

from ..chains import random_direction, random_rotation
from ..strategies import examples
from .freedoms import every_range, rotations


def outside(angle, lower, upper):
    """How far [rad] an angle stands outside a range, whole turns aside."""
    if isinf(lower) or isinf(upper) or upper - lower >= tau:
        return 0.0
    middle = (lower + upper) / 2.0
    return max(0.0, abs(wrap(angle - middle)) - (upper - lower) / 2.0)


def samples(lower, upper, count=720):
    """Angles all over a range, its ends among them."""
    if isinf(lower) or isinf(upper):
        lower, upper = -pi, pi
    return [lower + (upper - lower) * n / count for n in range(count + 1)]


@every_range
def test_a_hinge_allows_what_it_returned_bit_by_bit(lower, upper):
    random = Random(1)
    for _ in range(20):
        hinge = Hinge(random_direction(random), lower, upper)
        for rotation in rotations(random, hinge.axis, 60):
            nearest = hinge.nearest(rotation)
            assert hinge.nearest(nearest) is nearest


@every_range
def test_a_hinge_lets_every_angle_of_its_range_through_bit_by_bit(lower, upper):
    random = Random(2)
    for _ in range(10):
        hinge = Hinge(random_direction(random), lower, upper)
        for angle in samples(lower, upper, 50):
            for rotation in (about(hinge.axis, angle), -about(hinge.axis, angle), about(hinge.axis, angle + tau)):
                assert hinge.nearest(rotation) is rotation


@every_range
def test_a_hinge_ends_on_its_axis_and_inside_its_range(lower, upper):
    random = Random(3)
    for _ in range(20):
        hinge = Hinge(random_direction(random), lower, upper)
        for rotation in rotations(random, hinge.axis, 60):
            nearest = hinge.nearest(rotation)
            angle = twist(nearest, hinge.axis)
            assert nearest.magnitude == pytest.approx(1.0, abs=1e-6)
            assert rotation_angle(about(hinge.axis, angle), nearest) < 1e-6
            assert outside(angle, lower, upper) < 1e-6


@every_range
def test_a_hinge_goes_to_the_nearest_rotation_there_is(lower, upper):
    random = Random(4)
    for _ in range(6):
        hinge = Hinge(random_direction(random), lower, upper)
        allowed = [about(hinge.axis, angle) for angle in samples(lower, upper)]
        for rotation in rotations(random, hinge.axis, 10):
            brute = min(rotation_angle(candidate, rotation) for candidate in allowed)
            assert rotation_angle(hinge.nearest(rotation), rotation) <= brute + 1e-6


@every_range
def test_a_hinge_swings_as_near_as_it_can(lower, upper):
    random = Random(5)
    for _ in range(20):
        hinge = Hinge(random_direction(random), lower, upper)
        rotation = hinge.nearest(random_rotation(random))
        start, end = random_direction(random) * 3.0, random_direction(random) * 0.2
        swung = hinge.swung(rotation, start, end)
        at_rest = rotation.conjugated() @ start
        brute = min(angle_between(about(hinge.axis, angle) @ at_rest, end) for angle in samples(lower, upper))
        assert angle_between(swung @ at_rest, end) <= brute + 2e-6
        assert outside(twist(swung, hinge.axis), lower, upper) < 1e-6


def test_a_hinge_does_not_turn_for_a_direction_along_its_axis():
    hinge = Hinge(Vector((0.0, 0.0, 2.0)), -1.0, 1.0)
    rotation = about(hinge.axis, 0.3)
    along, across = Vector((0.0, 0.0, 5.0)), Vector((1.0, 0.0, 0.0))
    assert hinge.swung(rotation, along, across) is rotation
    assert hinge.swung(rotation, across, -along) is rotation
    assert hinge.swung(rotation, Vector(), across) is rotation
    assert hinge.swung(rotation, across, Vector()) is rotation


@pytest.mark.parametrize("length", [1e-6, 1.0, 1e6])
def test_a_hinge_axis_is_a_direction_of_any_length(length):
    hinge = Hinge(Vector((0.0, 3.0, 4.0)) * length)
    assert hinge.axis.length == pytest.approx(1.0, abs=1e-6)
    assert hinge.bend_axis == hinge.axis


@every_range
@given(angle=st.floats(-50.0, 50.0))
@examples(100)
def test_fitting_an_angle_ends_inside_the_range_and_moves_it_no_more_than_needed(lower, upper, angle):
    fitted = clamp_to_range(angle, lower, upper)
    assert lower - 1e-12 <= fitted <= upper + 1e-12
    assert abs(wrap(fitted - angle)) <= outside(angle, lower, upper) + 1e-12


@every_range
def test_random_rotations_of_a_hinge_fill_its_range(lower, upper):
    random, hinge = Random(17), Hinge(Vector((1.0, 0.0, 0.0)), lower, upper)
    drawn = [hinge.random(random) for _ in range(400)]
    assert all(hinge.nearest(rotation) is rotation for rotation in drawn)
    for angle in samples(lower, upper, 20):
        assert min(rotation_angle(about(hinge.axis, angle), rotation) for rotation in drawn) < 0.2

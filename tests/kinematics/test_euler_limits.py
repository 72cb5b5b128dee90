# SPDX-License-Identifier: GPL-3.0-or-later
"""Euler limits allow a range of each of three angles."""

from math import pi
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ik_triangulation.errors import FreedomError
from ik_triangulation.kinematics import EulerLimits
from ik_triangulation.kinematics.rotation import EULER_ORDERS, from_euler, other_euler, rotation_angle, to_euler

from ..chains import random_direction, random_limits, random_range, random_rotation
from ..strategies import examples
from .freedoms import rotations

every_order = pytest.mark.parametrize("order", EULER_ORDERS)
angles = st.floats(-pi, pi)


@every_order
def test_euler_limits_allow_what_they_returned_bit_by_bit(order):
    random = Random(6)
    for _ in range(60):
        limits = random_limits(random, order)
        for rotation in rotations(random, random_direction(random), 20):
            nearest = limits.nearest(rotation)
            assert limits.nearest(nearest) is nearest


@every_order
def test_euler_limits_anywhere_on_the_circle_allow_what_they_returned_bit_by_bit(order):
    random = Random(7)
    for _ in range(100):
        ranges = [random_range(random) for _ in "xyz"]
        limits = EulerLimits(order, *zip(*ranges, strict=True))
        for rotation in rotations(random, random_direction(random), 10):
            nearest = limits.nearest(rotation)
            assert limits.nearest(nearest) is nearest


@every_order
@pytest.mark.parametrize("off", [0.0, 1e-7, 1e-5, 1e-4, 1e-3, 1e-2])
def test_euler_limits_let_what_they_allow_through_also_beside_the_poles(order, off):
    random = Random(8)
    middle = "XYZ".index(order[1])
    for _ in range(100):
        ranges = [random_range(random, 1.0) for _ in "xyz"]
        pole = random.choice((-pi, pi)) / 2.0
        ranges[middle] = pole - off, pole + off
        limits = EulerLimits(order, *zip(*ranges, strict=True))
        corners = [tuple(random.choice(pair) for pair in ranges) for _ in range(6)]
        inside = [tuple(random.uniform(*pair) for pair in ranges) for _ in range(6)]
        for triple in corners + inside:
            rotation = from_euler(triple, order)
            assert limits.nearest(rotation) is rotation


@every_order
def test_euler_angles_stay_inside_their_limits(order):
    random = Random(9)
    for _ in range(60):
        ranges = [random_range(random, 3.0) for _ in "xyz"]
        limits = EulerLimits(order, *zip(*ranges, strict=True))
        for rotation in rotations(random, random_direction(random), 20):
            nearest = limits.nearest(rotation)
            triple = limits.angles(nearest)
            for angle, (lower, upper) in zip(triple, ranges, strict=True):
                assert lower - 1e-12 <= angle <= upper + 1e-12
            assert rotation_angle(from_euler(triple, order), nearest) < 1e-6


@every_order
@given(x=angles, y=angles, z=angles)
@examples(200)
def test_allowed_euler_angles_are_let_through_from_either_triple(order, x, y, z):
    rotation = from_euler((x, y, z), order)
    for triple in ((x, y, z), other_euler((x, y, z), order), to_euler(rotation, order)):
        limits = EulerLimits(order, [angle - 1e-3 for angle in triple], [angle + 1e-3 for angle in triple])
        assert limits.nearest(rotation) is rotation


@every_order
def test_one_euler_angle_too_far_is_clamped_and_the_others_are_kept(order):
    first = "XYZ".index(order[0])
    lower, upper = [-1.0, -1.0, -1.0], [1.0, 1.0, 1.0]
    triple = [0.2, -0.3, 0.4]
    triple[first] = 1.1
    limits = EulerLimits(order, lower, upper)
    angles = limits.angles(from_euler(triple, order))
    assert angles[first] == pytest.approx(1.0, abs=0.05)
    assert rotation_angle(limits.nearest(from_euler(triple, order)), from_euler(triple, order)) <= 0.1 + 1e-6


def test_a_frozen_euler_joint_does_not_move():
    limits = EulerLimits("XYZ", (0.1, 0.2, 0.3), (0.1, 0.2, 0.3))
    assert not limits.moves
    random = Random(10)
    for _ in range(100):
        assert rotation_angle(limits.nearest(random_rotation(random)), from_euler((0.1, 0.2, 0.3), "XYZ")) < 1e-6


def test_the_message_names_the_axis_of_an_inverted_limit():
    with pytest.raises(FreedomError, match="Euler limit Y is inverted"):
        EulerLimits("XYZ", (0, 2, 0), (1, 1, 1))

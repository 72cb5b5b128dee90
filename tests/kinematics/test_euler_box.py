# SPDX-License-Identifier: GPL-3.0-or-later
"""The projection onto a box of Euler angles is in the box and nearer than any other rotation in it."""

from itertools import product
from math import pi
from random import Random

import pytest
from mathutils import Euler, Quaternion

from ik_triangulation.kinematics.euler_box import EulerBox
from ik_triangulation.kinematics.rotation import AXES, EULER_ORDERS, rotation_angle

from ..chains import random_rotation

GRID = 12  # angles on each axis that the projection is compared with


def box_and_outside(random, order):
    """A box, and a rotation that none of its angles give."""
    lower = [random.uniform(-2.0, 0.5) for _ in "xyz"]
    upper = [low + random.uniform(0.0, 1.2) for low in lower]
    while True:
        rotation = random_rotation(random)
        if not any(inside(other, lower, upper) for other in triples(rotation, order)):
            return lower, upper, rotation


def triples(rotation, order):
    """Both sets of angles that give a rotation."""
    angles = rotation.to_euler(order)
    middle = "XYZ".index(order[1])
    others = [angle + pi for angle in angles]
    others[middle] = pi - angles[middle]
    return [list(angles), [(angle + pi) % (2.0 * pi) - pi for angle in others]]


def inside(angles, lower, upper):
    return all(
        any(low - 1e-6 <= angle + turn <= high + 1e-6 for turn in (-2.0 * pi, 0.0, 2.0 * pi))
        for angle, low, high in zip(angles, lower, upper, strict=True)
    )


@pytest.mark.parametrize("order", EULER_ORDERS)
@pytest.mark.parametrize("seed", range(5))
def test_no_rotation_in_the_box_is_nearer(order, seed):
    random = Random(seed)
    lower, upper, rotation = box_and_outside(random, order)
    found = EulerBox(order, lower, upper).nearest(rotation)
    assert all(low <= angle <= high for low, angle, high in zip(lower, found, upper, strict=True))
    least = rotation_angle(rotation, Euler(found, order).to_quaternion())
    steps = [[low + (high - low) * i / GRID for i in range(GRID + 1)] for low, high in zip(lower, upper, strict=True)]
    for angles in product(*steps):
        assert rotation_angle(rotation, Euler(angles, order).to_quaternion()) > least - 1e-5


def test_the_bounds_are_met_to_the_last_bit():
    box = EulerBox("XYZ", (-0.1, 0.0, 0.0), (0.3, 0.0, 0.0))
    assert box.nearest(Quaternion((1.0, 0.0, 0.0), 1.0)) == (0.3, 0.0, 0.0)
    assert box.nearest(Quaternion((1.0, 0.0, 0.0), -1.0)) == (-0.1, 0.0, 0.0)


def test_a_rotation_and_its_negative_have_the_same_projection():
    random = Random(3)
    lower, upper, rotation = box_and_outside(random, "ZXY")
    box = EulerBox("ZXY", lower, upper)
    assert box.nearest(rotation) == pytest.approx(box.nearest(-rotation), abs=1e-6)


@pytest.mark.parametrize("order", EULER_ORDERS)
def test_what_is_found_through_one_bound_is_what_the_search_of_all_faces_finds(order):
    random, middle, count = Random(7), AXES[order][1], 0
    for _ in range(400):
        sizes = [random.uniform(0.1, 1.5 if axis == middle else 3.0) for axis in range(3)]
        lower, upper = ([random.uniform(*ends) * size for size in sizes] for ends in ((-1.0, -0.2), (0.2, 1.0)))
        box, rotation = EulerBox(order, lower, upper), random_rotation(random)
        found = box.through_one_bound(rotation, rotation.to_euler(order)[:])
        if found and not inside(triples(rotation, order)[0], lower, upper):
            assert found == box.nearest(rotation)
            count += 1
    assert count > 40

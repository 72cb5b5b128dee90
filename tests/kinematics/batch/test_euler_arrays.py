# SPDX-License-Identifier: GPL-3.0-or-later
"""Euler angles and ranges of many rotations at once are those of each."""

from math import inf, pi
from random import Random

import numpy as np
import pytest

from ik_triangulation.kinematics.batch.algebra import clamped_to_range, euler_angles, other_angles
from ik_triangulation.kinematics.rotation import EULER_ORDERS, clamp_to_range, from_euler, other_euler, to_euler

from ...chains import random_rotation


@pytest.mark.parametrize("order", EULER_ORDERS)
def test_angles_are_those_of_each_rotation_also_at_the_poles(order):
    random, middle = Random(order), "XYZ".index(order[1])
    rotations = [random_rotation(random) for _ in range(500)]
    for away in (0.0, 1e-9, 1e-6, 1e-3):
        for side in (-1.0, 1.0):
            for _ in range(40):
                angles = [random.uniform(-pi, pi) for _ in range(3)]
                angles[middle] = side * (pi / 2.0 - away)
                rotations.append(from_euler(angles, order))
    found = euler_angles(np.array(rotations, np.float64).T, order)
    expected = np.array([to_euler(rotation, order) for rotation in rotations])
    assert np.abs(found.T - expected).max() < 1e-14
    others = np.array([other_euler(angles, order) for angles in expected])
    assert np.abs(other_angles(found, order).T - others).max() < 1e-14


def test_the_length_of_a_quaternion_does_not_matter():
    rotations = np.random.default_rng(0).normal(size=(4, 50))
    assert euler_angles(3.0 * rotations, "XZY") == pytest.approx(euler_angles(rotations, "XZY"), abs=1e-14)


def test_angles_come_into_their_ranges_as_each_does():
    random = Random(0)
    ranges = [(-1.0, 2.0), (-inf, 1.0), (0.5, inf), (-inf, inf), (3.0, 4.0), (-9.0, -8.5), (-5.0, 5.0), (0.3, 0.3)]
    rows = [(random.uniform(-12.0, 12.0), *random.choice(ranges)) for _ in range(2000)]
    found = clamped_to_range(*np.array(rows).T)
    assert found.tolist() == pytest.approx([clamp_to_range(*row) for row in rows], abs=1e-14)

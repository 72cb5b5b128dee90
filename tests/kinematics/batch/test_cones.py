# SPDX-License-Identifier: GPL-3.0-or-later
"""Cones: swings beyond the edge are put on it, and changes are taken along the swing and across it."""

import numpy as np
import pytest

from ik_triangulation.kinematics import Cone
from ik_triangulation.kinematics.batch.algebra import normalized
from ik_triangulation.kinematics.batch.coordinates import Cones
from ik_triangulation.kinematics.batch.limit_arrays import LimitArrays


def test_rotations_of_any_size_are_read_as_angles_inside_the_cone():
    cone = Cone(0.7, -0.4, 0.9)
    kind, drawn = Cones((0,), [cone], 0), normalized(np.random.default_rng(3).normal(size=(1, 4, 300)))
    angles = kind.angles(drawn)
    assert np.hypot(angles[0], angles[1]).max() <= 0.7
    assert LimitArrays(cone).excess(kind.quaternions(angles)[0]).max() < 1e-9


def test_a_swing_beyond_its_cone_keeps_its_direction():
    kind = Cones((0,), [Cone(0.5)], 0)
    angles = kind.inside(np.array([[0.9], [1.2], [0.3]]))
    assert np.hypot(angles[0], angles[1])[0] <= 0.5
    assert angles[1, 0] / angles[0, 0] == np.float64(1.2) / 0.9


def test_a_change_along_and_across_swings_is_one_of_their_parts_and_back():
    kind = Cones((0, 1), [Cone(1.5), Cone(1.2)], 0)
    random = np.random.default_rng(4)
    angles, change = 0.4 * random.normal(size=(6, 20)), 1e-3 * random.normal(size=(6, 20))
    angles[:3, 0] = 0.0  # at rest the direction is X
    parts = kind.swings(angles, change)
    assert parts[:3, 0] == pytest.approx(change[:3, 0])
    assert parts[2::3] == pytest.approx(change[2::3])
    assert kind.moved(angles, change) == pytest.approx(angles + parts)
    assert kind.along_and_across(angles, parts) == pytest.approx(change)
    swing = angles[0, 1:], angles[1, 1:]
    size = np.hypot(*swing)
    assert parts[0, 1:] * swing[0] + parts[1, 1:] * swing[1] == pytest.approx(size * change[0, 1:])
    assert parts[1, 1:] * swing[0] - parts[0, 1:] * swing[1] == pytest.approx(size * change[1, 1:])

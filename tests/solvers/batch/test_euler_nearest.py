# SPDX-License-Identifier: GPL-3.0-or-later
"""Rotations outside Euler limits are moved to the nearest ones inside, many at once."""

from math import pi
from random import Random

import numpy as np
import pytest
from mathutils import Quaternion

from ik_triangulation.kinematics import EulerLimits
from ik_triangulation.kinematics.batch.algebra import clamped_to_range
from ik_triangulation.kinematics.rotation import EULER_ORDERS, clamp_to_range, rotation_angle
from ik_triangulation.solvers.batch.swings import EulerNearest


@pytest.mark.parametrize("order", EULER_ORDERS)
def test_the_nearest_rotation_is_as_near_as_the_one_found_alone(order):
    random = Random(order)
    for _ in range(8):
        ends = [sorted(random.uniform(-pi, pi) for _ in range(2)) for _ in range(3)]
        limits = EulerLimits(order, *zip(*ends, strict=True))
        drawn = [Quaternion([random.gauss(0.0, 1.0) for _ in range(4)]).normalized() for _ in range(60)]
        found, angles = EulerNearest(limits).nearest(np.array(drawn, float).T)
        assert (angles >= np.array(limits.lower)[:, None]).all()
        assert (angles <= np.array(limits.upper)[:, None]).all()
        for each, rotation in zip(found.T, drawn, strict=True):
            alone = rotation_angle(limits.nearest(rotation), rotation)
            assert rotation_angle(Quaternion(each), rotation) == pytest.approx(alone, abs=5e-6)


@pytest.mark.parametrize("ends", [(-1.0, 2.0), (3.0, 4.0), (-9.0, 1.0), (0.5, float("inf")), (float("-inf"), -2.0)])
def test_angles_are_moved_into_their_range_by_whole_turns_or_to_its_nearest_end(ends):
    angles = np.linspace(-12.0, 12.0, 97)
    assert clamped_to_range(angles, *ends) == pytest.approx([clamp_to_range(angle, *ends) for angle in angles])

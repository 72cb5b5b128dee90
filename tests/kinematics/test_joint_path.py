# SPDX-License-Identifier: GPL-3.0-or-later
"""The way of a joint between two rotations."""

from itertools import pairwise
from math import radians
from random import Random

import pytest
from mathutils import Quaternion, Vector

from ik_triangulation.kinematics import Cone, EulerLimits, Free, Hinge
from ik_triangulation.kinematics.framed import joint_path
from ik_triangulation.kinematics.rotation import about, rotation_angle, twist

SHARES = [number / 40.0 for number in range(41)]
X = Vector((1.0, 0.0, 0.0))
WIDE = radians(170.0)
FREEDOMS = {
    "free": Free(),
    "hinge": Hinge(X, -2.0, 2.5),
    "hinge without limits": Hinge(Vector((1.0, 2.0, -1.0))),
    "Euler limits": EulerLimits("YXZ", (-0.5, -1.0, -0.3), (1.2, 1.0, 0.9)),
    "wide Euler limits": EulerLimits("XYZ", (-WIDE, -1.2, -WIDE), (WIDE, 1.2, WIDE)),
    "cone": Cone(1.2, -1.0, 1.0),
}


@pytest.mark.parametrize("name", FREEDOMS)
def test_it_leads_from_start_to_end_without_a_jump_and_keeps_the_limits(name):
    random, freedom = Random(name), FREEDOMS[name]
    for _ in range(40):
        start, end = freedom.random(random), freedom.random(random)
        rotations = [joint_path(freedom, start, end)(share) for share in SHARES]
        assert rotation_angle(rotations[0], start) < 2e-6
        assert rotation_angle(rotations[-1], end) < 2e-6
        assert all(rotation_angle(freedom.nearest(rotation), rotation) < 2e-6 for rotation in rotations)
        steps = [rotation_angle(*pair) for pair in pairwise(rotations)]
        # Three angles of up to 340 degrees in 40 steps.
        assert max(steps) < 0.45


def test_where_nothing_is_in_the_way_it_is_the_shortest():
    start, end = Quaternion(X, 0.2), Quaternion(Vector((0.3, 1.0, 0.5)).normalized(), 1.4)
    for freedom in (Free(), EulerLimits("YXZ", (-2.0, -1.5, -2.0), (2.0, 1.5, 2.0))):
        taken = [joint_path(freedom, start, end)(share) for share in SHARES]
        steps = [rotation_angle(*pair) for pair in pairwise(taken)]
        assert sum(steps) == pytest.approx(rotation_angle(start, end), rel=1e-4)
        assert max(steps) - min(steps) < 1e-5


def test_a_hinge_goes_back_through_its_range_where_the_shortest_way_leaves_it():
    hinge = Hinge(X, radians(-120.0), radians(120.0))
    turned = joint_path(hinge, about(X, radians(100.0)), about(X, radians(-100.0)))
    angles = [twist(turned(share), X) for share in SHARES]
    assert angles == pytest.approx([radians(100.0 - 200.0 * share) for share in SHARES], abs=1e-5)

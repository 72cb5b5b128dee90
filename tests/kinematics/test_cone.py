# SPDX-License-Identifier: GPL-3.0-or-later
"""Cones allow a swing and a range of twists."""

from math import cos, pi, sin
from random import Random

import pytest
from mathutils import Vector

from ik_triangulation.kinematics import Cone
from ik_triangulation.kinematics.rotation import about, rotation_angle

from ..chains import random_direction
from .freedoms import every_range, rotations


@every_range
def test_a_cone_allows_what_it_returned_bit_by_bit(lower, upper):
    random = Random(18)
    for _ in range(20):
        cone = Cone(random.uniform(0.0, pi), lower, upper)
        for rotation in rotations(random, random_direction(random), 10):
            nearest = cone.nearest(rotation)
            assert nearest.magnitude == pytest.approx(1.0, abs=5e-7)
            assert cone.nearest(nearest) is nearest


@every_range
def test_no_rotation_in_a_cone_is_nearer_than_the_nearest(lower, upper):
    random = Random(19)
    for _ in range(10):
        cone = Cone(random.uniform(0.0, pi), lower, upper)
        allowed = [cone.random(random) for _ in range(300)]
        for rotation in rotations(random, random_direction(random), 10):
            apart = rotation_angle(cone.nearest(rotation), rotation)
            assert apart <= min(rotation_angle(other, rotation) for other in allowed) + 1e-6


def test_a_cone_lets_swings_inside_it_through_and_stops_the_others_at_its_edge():
    random, cone = Random(20), Cone(0.8, -0.5, 0.5)
    for _ in range(200):
        direction = random.uniform(-pi, pi)
        axis = Vector((cos(direction), 0.0, sin(direction)))
        swing, twisted = random.uniform(0.0, 1.6), about(Vector((0.0, 1.0, 0.0)), random.uniform(-0.5, 0.5))
        rotation = about(axis, swing) @ twisted
        nearest = cone.nearest(rotation)
        if swing <= 0.8:
            assert nearest is rotation
        else:
            assert rotation_angle(nearest, about(axis, 0.8) @ twisted) < 2e-6
            assert cone.on_limits(nearest) == ["swing maximum"]

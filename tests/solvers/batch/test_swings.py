# SPDX-License-Identifier: GPL-3.0-or-later
"""Many joints turned at once turn as one alone does."""

from math import inf
from random import Random

import numpy as np
import pytest
from mathutils import Quaternion, Vector

from ik_triangulation.kinematics import Cone, EulerLimits, Free, Hinge
from ik_triangulation.kinematics.rotation import rotation_angle
from ik_triangulation.solvers.batch.swings import Swing, orthogonal_to, smallest_rotations

FREEDOMS = [
    Free(),
    Hinge(Vector((1.0, 2.0, 0.5)), -1.0, 0.7),
    Hinge(Vector((1.0, 0.0, 0.0)), 0.1, 2.5),
    Hinge(Vector((0.0, 0.0, 1.0))),
    Cone(1.0, -0.5, 0.5),
    Cone(2.5),
    Cone(0.8, 0.1, 0.1),
    EulerLimits("XYZ", (-1.0, 0.0, -1.0), (1.0, 0.0, 1.0)),
    EulerLimits("ZYX", (-1.0, -0.5, -1.0), (1.0, 0.7, 0.3)),
    EulerLimits("YXZ", (-1.0, -2.5, -1.0), (1.0, 0.7, 0.3)),
    EulerLimits("XYZ", (-inf, -0.5, -1.0), (inf, 0.5, 1.0)),
    EulerLimits("XZY", (0.0, -0.3, 0.0), (0.0, 0.5, 0.0)),
    EulerLimits("XYZ", (-0.3, 0.2, 0.0), (0.4, 0.2, 0.0)),
]


def directions(random, count):
    return [Vector([random.gauss(0.0, 1.0) for _ in range(3)]) for _ in range(count)]


@pytest.mark.parametrize("freedom", FREEDOMS, ids=str)
def test_every_kind_of_joint_turns_as_it_does_alone(freedom):
    random = Random(7)
    rotations = [freedom.random(random) for _ in range(400)]
    starts, ends = directions(random, 400), directions(random, 400)
    columns = [np.array(values, float).T for values in (rotations, starts, ends)]
    turned, _ = Swing(freedom).swung(*columns)
    for each, rotation, start, end in zip(turned.T, rotations, starts, ends, strict=True):
        assert rotation_angle(Quaternion(each), freedom.swung(rotation, start, end)) < 1e-5
        assert rotation_angle(freedom.nearest(Quaternion(each)), Quaternion(each)) < 5e-6


@pytest.mark.parametrize("freedom", FREEDOMS, ids=str)
def test_rotations_outside_the_limits_come_to_the_nearest_inside_as_one_alone_does(freedom):
    random = Random(9)
    rotations = [Quaternion([random.gauss(0.0, 1.0) for _ in range(4)]).normalized() for _ in range(400)]
    found, _ = Swing(freedom).nearest(np.array(rotations, float).T)
    for each, rotation in zip(found.T, rotations, strict=True):
        off = rotation_angle(Quaternion(each), rotation)
        assert off <= rotation_angle(freedom.nearest(rotation), rotation) + 2e-3


def test_opposite_directions_are_half_a_turn_apart_and_nothing_is_turned_without_a_direction():
    start = np.array([[0.0, 1.0, 0.0], [2.0, -1.0, 0.5], [0.0, 0.0, 0.0]]).T
    rotations = smallest_rotations(start, -start)
    for q, v in zip(rotations[:, :2].T, start[:, :2].T, strict=True):
        assert (Quaternion(q) @ Vector(v) + Vector(v)).length < 1e-5
    assert rotations[:, 2].tolist() == [1.0, 0.0, 0.0, 0.0]


def test_the_orthogonal_vector_is_that_of_blender():
    vectors = directions(Random(3), 50)
    for found, vector in zip(orthogonal_to(np.array(vectors, float).T).T, vectors, strict=True):
        assert (Vector(found) - vector.orthogonal()).length < 1e-6

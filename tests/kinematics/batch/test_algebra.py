# SPDX-License-Identifier: GPL-3.0-or-later
"""The algebra of many poses is that of mathutils, pose by pose."""

from math import pi
from random import Random

import numpy as np
import pytest
from mathutils import Quaternion, Vector

from ik_triangulation.kinematics.batch import algebra
from ik_triangulation.kinematics.rotation import about, rotation_vector

from ...chains import matrix_of, random_direction, random_rotation
from ...trees import ROUNDING

COUNT = 40


@pytest.fixture
def rotations():
    """Unit quaternions: any, rest, and some within rounding of half a turn about every axis."""
    random = Random(1)
    found = [random_rotation(random) for _ in range(COUNT - 10)]
    found += [Quaternion(), -Quaternion(), *(Quaternion([float(i == j) for j in range(4)]) for i in (1, 2, 3))]
    return [*found, *(Quaternion(random_direction(random), pi - 1e-4) for _ in range(5))]


def many(values):
    return np.array([value[:] for value in values], float).T.copy()


def test_matrices_and_quaternions_are_the_same_rotations(rotations):
    q = algebra.normalized(many(rotations))
    m = algebra.matrices(q)
    assert np.abs(m - np.array([matrix_of(r) for r in rotations]).transpose(1, 2, 0)).max() < 1e-15
    again = algebra.quaternions(m)
    assert np.abs(np.abs((again * q).sum(0)) - 1.0).max() < 1e-14


def test_products_and_inverses_are_those_of_matrices(rotations):
    a = algebra.normalized(many(rotations))
    b = a[:, ::-1]
    m = algebra.matrices(algebra.product(a, b))
    assert np.abs(m - algebra.compose(algebra.matrices(a), algebra.matrices(b))).max() < 1e-14
    assert np.abs(algebra.product(a, algebra.conjugated(a)) - [[1.0], [0.0], [0.0], [0.0]]).max() < 1e-15


def test_rotation_vectors_are_axis_times_angle(rotations):
    q = algebra.normalized(many(rotations))
    wanted = many([rotation_vector(r) for r in rotations])
    for found in (algebra.rotation_vectors(q), algebra.turn_vectors(algebra.matrices(q))):
        half = np.abs(np.linalg.norm(wanted, axis=0) - pi) < 1e-3  # where either sense is right
        assert np.abs(found - wanted)[:, ~half].max() < ROUNDING
        assert np.abs(algebra.matrices(algebra.exponential(found)) - algebra.matrices(q)).max() < 1e-7


def test_small_rotation_vectors_keep_their_precision():
    v = 1e-9 * many([random_direction(Random(n)) for n in range(5)])
    q = algebra.exponential(v)
    assert np.abs(algebra.rotation_vectors(q) / v - 1.0).max() < 1e-6
    assert np.abs(algebra.turn_vectors(algebra.matrices(q)) / v - 1.0).max() < 1e-6


def test_vectors_are_rotated_forth_and_back(rotations):
    random = Random(2)
    vectors = [random_direction(random) for _ in rotations]
    m, v = algebra.matrices(algebra.normalized(many(rotations))), many(vectors)
    turned = algebra.rotate(m, v)
    assert np.abs(turned - many([r @ x for r, x in zip(rotations, vectors, strict=True)])).max() < ROUNDING
    assert np.abs(algebra.rotate_back(m, turned) - v).max() < 1e-14


def test_products_of_vectors_are_those_of_mathutils():
    random = Random(3)
    a, b = ([random_direction(random) for _ in range(COUNT)] for _ in "ab")
    assert np.abs(algebra.cross(many(a), many(b)) - many([x.cross(y) for x, y in zip(a, b, strict=True)])).max() < 1e-6
    assert np.abs(algebra.dot(many(a), many(b)) - [x.dot(y) for x, y in zip(a, b, strict=True)]).max() < 1e-6


def test_two_directions_are_square_to_each_and_to_each_other():
    ways = [random_direction(Random(n)) for n in range(COUNT)] + [Vector((0, 0, 1)), Vector((0, 0, -1))]
    w = algebra.normalized(many(ways))
    u, v = algebra.square_to(w)
    for a, b in ((u, v), (u, w), (v, w)):
        assert np.abs(algebra.dot(a, b)).max() < 1e-14
    assert np.abs(algebra.cross(w, u) - v).max() < 1e-14


def test_what_holds_for_all_poses_is_not_copied():
    once, each = np.ones((3, 1)), np.arange(6.0).reshape(1, 6)
    assert algebra.at(once, np.array([2, 3])) is once
    assert algebra.at(each, np.array([2, 3])).tolist() == [[2.0, 3.0]]


def test_consecutive_indices_are_a_slice():
    assert algebra.as_slice(np.array([3, 4, 5])) == slice(3, 6)
    assert algebra.as_slice(np.array([3, 5])).tolist() == [3, 5]
    assert len(algebra.as_slice(np.array([], int))) == 0


def test_turns_of_steps_are_those_of_rotation_vectors_to_third_order():
    random = Random(2)
    q = many([random_rotation(random) for _ in range(COUNT)])
    for size, off in ((0.1, 1e-4), (0.6, 6e-3), (3.0, 0.6)):
        v = size * many([random_direction(random) for _ in range(COUNT)])
        exact = algebra.product(q, algebra.exponential(v))
        apart = algebra.rotation_vectors(algebra.product(algebra.conjugated(exact), algebra.stepped(q, v)))
        assert algebra.lengths(apart).max() < off


def test_many_matrices_are_those_of_few():
    q = algebra.normalized(np.random.default_rng(3).normal(size=(4, 5000)))
    assert np.abs(algebra.matrices(q)[..., :50] - algebra.matrices(q[:, :50])).max() < 1e-15


def test_signs_lead_each_of_several_quaternions_along_the_near_one_before_it():
    random = Random(5)
    axes = [random_direction(random) for _ in range(3)]
    near = [[about(axis, 0.9 * n) for n in range(12)] for axis in axes]
    flips = np.array([[1.0] + [random.choice((1.0, -1.0)) for _ in range(11)] for _ in range(3)])
    q = np.array([[rotation[:] for rotation in each] for each in near]).transpose(0, 2, 1) * flips[:, None]
    assert np.array_equal(algebra.signs_along(q), flips)
    assert algebra.signs_along(q[:0]).shape == (0, 12)

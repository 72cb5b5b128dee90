# SPDX-License-Identifier: GPL-3.0-or-later
"""Rotations are as exact as single precision allows, also where mathutils alone is not."""

from math import atan2, cos, pi, sin, tau
from random import Random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from mathutils import Matrix, Quaternion, Vector

from ik_triangulation.kinematics.rotation import (
    about,
    angle_between,
    orientation,
    orthogonal,
    rejection,
    rotation_angle,
    rotation_between,
    twist,
    wrap,
)

from ..chains import matrix_of, random_direction, random_rotation
from ..strategies import examples

SMALL = (0.0, 1e-30, 1e-9, 1e-7, 1e-6, 3e-6, 1e-5, 1e-4, 1e-3, 1e-2, 1e-1)


def exact_angle(u, v):
    """Angle between two vectors, in double precision."""
    u, v = np.array(u, dtype=float), np.array(v, dtype=float)
    return atan2(np.linalg.norm(np.cross(u, v)), u @ v)


def turned(vector, angle, random):
    """`vector` turned by `angle` about some axis orthogonal to it, in double precision and then rounded."""
    v = np.array(vector, dtype=float)
    across = np.cross(v, np.array(random_direction(random)))
    across *= np.linalg.norm(v) / np.linalg.norm(across)
    return Vector(v * cos(angle) + across * sin(angle))


@pytest.mark.parametrize("from_end", SMALL)
@pytest.mark.parametrize("end", [0.0, pi / 2.0, pi])
def test_rotation_between_is_exact_at_and_near_both_ends(end, from_end, long):
    random = Random(1)
    for _ in range(300 if long else 60):
        start = random_direction(random) * 10.0 ** random.uniform(-3.0, 3.0)
        goal = turned(start, end - from_end, random) * 10.0 ** random.uniform(-3.0, 3.0)
        rotation = rotation_between(start, goal)
        assert rotation.magnitude == pytest.approx(1.0, abs=1e-6)
        assert exact_angle(matrix_of(rotation) @ np.array(start), goal) < 1e-6
        assert rotation_angle(Quaternion(), rotation) == pytest.approx(exact_angle(start, goal), abs=1.5e-6)


def test_rotation_between_is_the_smallest_for_any_directions(long):
    random = Random(2)
    for _ in range(3000 if long else 600):
        start, goal = random_direction(random), random_direction(random)
        rotation = rotation_between(start, goal)
        assert exact_angle(matrix_of(rotation) @ np.array(start), goal) < 1e-6
        assert rotation_angle(Quaternion(), rotation) == pytest.approx(exact_angle(start, goal), abs=1e-6)


@pytest.mark.parametrize("axis", [(1, 0, 0), (0, 1, 0), (0, 0, 1), (1, 1, 1), (-3, 2, 0)])
def test_opposite_directions_are_turned_half_round_about_an_orthogonal_axis(axis):
    start = Vector(axis)
    rotation = rotation_between(start, -2.0 * start)
    assert rotation_angle(Quaternion(), rotation) == pytest.approx(pi, abs=1e-6)
    assert Vector(rotation[1:]).dot(start.normalized()) == pytest.approx(0.0, abs=1e-6)


@pytest.mark.parametrize("size", [1e-15, 1e15])
def test_nearly_opposite_directions_may_be_of_any_length(size):
    random = Random(21)
    for _ in range(200):
        start = random_direction(random)
        end = turned(-start, 10.0 ** random.uniform(-7.0, -1.5), random)
        rotation = rotation_between(start * size, end * size)
        assert exact_angle(rotation @ start, end) < 1e-6


def test_nothing_is_turned_where_a_vector_has_no_length():
    some = Vector((1.0, 2.0, 3.0))
    for start, end in ((Vector(), some), (some, Vector()), (Vector(), Vector())):
        assert rotation_angle(Quaternion(), rotation_between(start, end)) == 0.0


@pytest.mark.parametrize("angle", [1e-4, 1e-3, 1e-2, 1e-1, 1.0, 3.0, pi - 1e-3])
def test_orthogonal_is_of_unit_length_square_to_the_direction_and_in_the_plane(angle):
    random = Random(3)
    for _ in range(300):
        direction = random_direction(random) * 10.0 ** random.uniform(-3.0, 3.0)
        vector = turned(direction, angle, random)
        across = orthogonal(vector, direction)
        assert across.length == pytest.approx(1.0, abs=3e-7)
        assert across.dot(direction.normalized()) == pytest.approx(0.0, abs=3e-7)
        # What rounding adds to the vector itself, it adds to the plane.
        normal = np.cross(np.array(vector, dtype=float), np.array(direction, dtype=float))
        assert abs(normal @ np.array(across)) / np.linalg.norm(normal) < 5e-7 / sin(angle)
        assert across.dot(vector) > 0.0


def test_parallel_vectors_have_no_plane():
    random = Random(4)
    for _ in range(300):
        direction = random_direction(random)
        assert orthogonal(direction * 7.0, direction) is None
        assert orthogonal(direction * -0.3, direction) is None
    assert orthogonal(Vector(), Vector((1.0, 0.0, 0.0))) is None


@pytest.mark.parametrize("small", SMALL)
@pytest.mark.parametrize("end", [0.0, pi])
def test_angle_between_is_exact_near_both_ends(end, small):
    random = Random(5)
    for _ in range(200):
        start = random_direction(random) * 10.0 ** random.uniform(-3.0, 3.0)
        goal = turned(start, abs(end - small), random)
        assert angle_between(start, goal) == pytest.approx(exact_angle(start, goal), abs=3e-7)


def test_rotation_angle_takes_both_signs_of_a_quaternion_for_one_rotation():
    random = Random(6)
    for _ in range(300):
        start, axis, angle = random_rotation(random), random_direction(random), random.uniform(0.0, pi)
        end = start @ about(axis, angle)
        assert rotation_angle(start, end) == pytest.approx(angle, abs=1e-6)
        assert rotation_angle(start, -end) == pytest.approx(angle, abs=1e-6)
        assert rotation_angle(end, start) == pytest.approx(angle, abs=1e-6)


def test_twist_is_the_angle_about_the_axis():
    random = Random(7)
    for _ in range(1000):
        axis, angle = random_direction(random), random.uniform(-pi, pi)
        assert wrap(twist(about(axis, angle), axis) - angle) == pytest.approx(0.0, abs=1e-6)
        assert wrap(twist(-about(axis, angle), axis) - angle) == pytest.approx(0.0, abs=1e-6)
    # A half turn about an axis square to it has no twist at all.
    assert twist(Quaternion((0.0, 1.0, 0.0, 0.0)), Vector((0.0, 1.0, 0.0))) == 0.0


def test_twist_is_the_angle_of_the_nearest_rotation_about_the_axis():
    random = Random(8)
    for _ in range(50):
        axis, rotation = random_direction(random), random_rotation(random)
        brute = min(rotation_angle(about(axis, tau * n / 2000), rotation) for n in range(2000))
        assert rotation_angle(about(axis, twist(rotation, axis)), rotation) <= brute + 1e-6


@given(st.floats(-1e6, 1e6))
@examples(300)
def test_wrapping_keeps_the_angle_in_half_a_turn_either_way(angle):
    wrapped = wrap(angle)
    assert -pi <= wrapped <= pi
    assert cos(wrapped - angle) == pytest.approx(1.0, abs=1e-12)
    assert wrap(wrapped) == wrapped


@pytest.mark.parametrize("scale", [(1.0, 1.0, 1.0), (0.2, 3.0, 0.7), (-1.0, 2.0, 1.0)])
def test_a_scaled_sheared_or_mirrored_frame_is_oriented_along_its_bone_and_its_plane_with_z(scale):
    random = Random(7)
    for _ in range(20):
        frame = random_rotation(random).to_matrix() @ Matrix.Shear("YZ", 3, (0.4, -0.3)) @ Matrix.Diagonal(scale)
        x, y, z = orientation(frame).to_matrix().transposed()
        assert y.angle(frame.col[1]) < 1e-3
        assert abs(x.dot(frame.col[2])) < 1e-5 * frame.col[2].length
        assert z.dot(frame.col[2]) > 0.0
        assert (x - y.cross(z)).length < 1e-5


def test_a_frame_without_a_plane_is_oriented_along_its_bone():
    flat = Matrix(((0.0, 0.0, 0.0), (0.0, 2.0, 3.0), (0.0, 0.0, 0.0)))
    assert (orientation(flat) @ Vector((0.0, 1.0, 0.0)) - Vector((0.0, 1.0, 0.0))).length < 1e-6


def test_the_rejection_is_square_to_the_unit_vector_and_the_rest_along_it():
    random = Random(8)
    for _ in range(10):
        unit, vector = random_direction(random), 3.0 * random_direction(random)
        left = rejection(vector, unit)
        assert left.dot(unit) == pytest.approx(0.0, abs=1e-5)
        assert (vector - left).cross(unit).length < 1e-5

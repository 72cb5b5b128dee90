# SPDX-License-Identifier: GPL-3.0-or-later
"""Euler angles are Blender's, exact also at the poles, and the nearest ones inside a box are the nearest there are."""

from math import pi
from random import Random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from mathutils import Euler

from ik_triangulation.kinematics.euler_box import EulerBox
from ik_triangulation.kinematics.rotation import EULER_ORDERS, from_euler, other_euler, rotation_angle, to_euler, wrap

from ..chains import matrix_of, random_range, random_rotation
from ..strategies import examples

every_order = pytest.mark.parametrize("order", EULER_ORDERS)
angles = st.floats(-10.0, 10.0)
quarters = st.integers(-4, 4).map(lambda n: n * pi / 2.0)


def matrix_error(rotation, matrix):
    return np.abs(matrix_of(rotation) - np.array(matrix)).max()


@given(x=angles | quarters, y=angles | quarters, z=angles | quarters)
@examples(300)
def test_from_euler_is_blenders_own_rotation(x, y, z):
    for order in EULER_ORDERS:  # examples are made once for all, which takes longer than the test
        assert matrix_error(from_euler((x, y, z), order), Euler((x, y, z), order).to_matrix()) < 3e-6, order


@given(x=angles | quarters, y=angles | quarters, z=angles | quarters)
@examples(300)
def test_euler_angles_come_back_as_the_same_rotation_also_at_the_poles(x, y, z):
    for order in EULER_ORDERS:
        rotation = from_euler((x, y, z), order)
        triple = to_euler(rotation, order)
        middle = "XYZ".index(order[1])
        assert all(-pi <= angle <= pi for angle in triple), order
        assert -pi / 2.0 <= triple[middle] <= pi / 2.0, order
        assert rotation_angle(from_euler(triple, order), rotation) < 5e-7, order
        assert matrix_error(rotation, Euler(triple, order).to_matrix()) < 1e-6, order


@every_order
@pytest.mark.parametrize("pole", [-pi / 2.0, pi / 2.0])
@pytest.mark.parametrize("off", [0.0, 1e-8, 1e-6, 1e-4, 1e-3, 1e-2])
def test_euler_angles_hold_right_beside_the_poles(order, pole, off, long):
    random = Random(9)
    middle = "XYZ".index(order[1])
    for _ in range(200 if long else 40):
        triple = [random.uniform(-pi, pi) for _ in "xyz"]
        triple[middle] = pole - off if pole > 0.0 else pole + off
        rotation = from_euler(triple, order)
        assert rotation_angle(from_euler(to_euler(rotation, order), order), rotation) < 5e-7
        assert matrix_error(rotation, Euler(to_euler(rotation, order), order).to_matrix()) < 1e-6


@given(x=angles | quarters, y=angles | quarters, z=angles | quarters)
@examples(200)
def test_the_other_euler_triple_is_the_same_rotation(x, y, z):
    triple = (x, y, z)
    for order in EULER_ORDERS:
        other = other_euler(triple, order)
        assert rotation_angle(from_euler(other, order), from_euler(triple, order)) < 5e-7, order
        again = other_euler(other, order)
        assert all(wrap(a - b) == pytest.approx(0.0, abs=1e-12) for a, b in zip(again, triple, strict=True)), order


def product(a, b):
    """Products of quaternions in the last axis of two arrays."""
    w, v = a[..., :1], a[..., 1:]
    s, u = b[..., :1], b[..., 1:]
    return np.concatenate((w * s - (v * u).sum(-1, keepdims=True), w * u + s * v + np.cross(v, u)), -1)


def every_rotation(order, lower, upper, count):
    """Quaternions of a grid over a box of Euler angles, its faces and corners included."""
    grids = np.meshgrid(*(np.linspace(low, high, count) for low, high in zip(lower, upper, strict=True)))
    rotation = np.array((1.0, 0.0, 0.0, 0.0))
    for letter in order:
        axis = "XYZ".index(letter)
        turn = np.zeros((*grids[0].shape, 4))
        turn[..., 0], turn[..., axis + 1] = np.cos(grids[axis] / 2.0), np.sin(grids[axis] / 2.0)
        rotation = product(turn, np.broadcast_to(rotation, turn.shape))
    return rotation.reshape(-1, 4)


@every_order
@pytest.mark.parametrize("width", [0.0, 0.3, 1.5, 6.0])
def test_no_rotation_in_the_box_is_nearer_than_the_nearest(order, width, long):
    random = Random(11)
    for _ in range(25 if long else 8):
        lower, upper = zip(*(random_range(random, width) for _ in "xyz"), strict=True)
        grid = every_rotation(order, lower, upper, 13)
        for _ in range(4):
            rotation = random_rotation(random)
            nearest = EulerBox(order, lower, upper).nearest(rotation)
            assert all(low <= angle <= high for low, angle, high in zip(lower, nearest, upper, strict=True))
            found = abs(every_rotation(order, nearest, nearest, 1)[0] @ np.array(rotation))
            if not inside(rotation, order, lower, upper):
                assert found >= np.abs(grid @ np.array(rotation)).max() - 1e-9


def inside(rotation, order, lower, upper):
    triple = to_euler(rotation, order)
    middles = [(low + high) / 2.0 for low, high in zip(lower, upper, strict=True)]
    halves = [(high - low) / 2.0 for low, high in zip(lower, upper, strict=True)]
    return any(
        all(abs(wrap(angle - middle)) <= half for angle, middle, half in zip(angles, middles, halves, strict=True))
        for angles in (triple, other_euler(triple, order))
    )


@every_order
def test_the_nearest_is_exact_where_outer_angles_are_only_known_by_their_sum(order, long):
    random = Random(12)
    middle = "XYZ".index(order[1])
    for _ in range(60 if long else 20):
        ranges = [random_range(random, 1.0) for _ in "xyz"]
        pole = random.choice((-pi, pi)) / 2.0
        ranges[middle] = pole - random.choice((0.0, 1e-3)), pole
        lower, upper = zip(*ranges, strict=True)
        rotation = random_rotation(random)
        nearest = EulerBox(order, lower, upper).nearest(rotation)
        grid = every_rotation(order, lower, upper, 17)
        found = abs(every_rotation(order, nearest, nearest, 1)[0] @ np.array(rotation))
        assert found >= np.abs(grid @ np.array(rotation)).max() - 1e-9


def test_a_turn_about_one_axis_beyond_its_range_comes_back_to_the_end_of_it():
    box = EulerBox("XYZ", (-0.2, 0.0, 0.0), (1.0, 0.0, 0.0))
    for angle, end in ((1.4, 1.0), (-0.9, -0.2), (3.0, 1.0)):
        x, y, z = box.nearest(from_euler((angle, 0.0, 0.0), "XYZ"))
        assert (x, y, z) == (end, 0.0, 0.0)

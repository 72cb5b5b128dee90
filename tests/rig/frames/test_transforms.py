# SPDX-License-Identifier: GPL-3.0-or-later
"""Arrays of transforms are those of mathutils, frame by frame."""

from random import Random

import numpy as np
import pytest
from mathutils import Matrix, Quaternion, Vector

from ik_triangulation.rig.armature import is_flat
from ik_triangulation.rig.frames.curve_values import (
    are_proper,
    column_lengths,
    composed_matrices,
    from_matrix,
    products,
    rotation_matrices,
    rotation_quaternions,
    to_matrix,
)

from ...modes import every_mode
from ...rigs import matrix_close, random_rotation, random_vector, rotation_from

FRAMES = 7


def random_matrices(seed, count=FRAMES):
    random = Random(seed)
    parts = [(random_vector(random), random_rotation(random), random_vector(random, 0.5, 2.0)) for _ in range(count)]
    return [Matrix.LocRotScale(*each) for each in parts]


def stack(matrices):
    return np.concatenate([from_matrix(matrix) for matrix in matrices], axis=2)


@pytest.mark.parametrize("counts", [(FRAMES, FRAMES), (1, FRAMES), (FRAMES, 1), (1, 1)])
def test_a_product_is_that_of_each_frame(counts):
    first, second = (random_matrices(seed, count) for seed, count in enumerate(counts))
    both = products(stack(first), stack(second))
    assert both.shape == (4, 4, max(counts))
    for k in range(both.shape[2]):
        assert matrix_close(to_matrix(both, k), first[k % len(first)] @ second[k % len(second)], 1e-6)


@every_mode
def test_rotations_of_every_mode_are_those_of_blender(mode):
    random = Random(mode)
    count = 3 if len(mode) == 3 else 4
    values = np.array([[random.uniform(-2.0, 2.0) for _ in range(FRAMES)] for _ in range(count)])
    read = rotation_matrices(values, mode)
    for k in range(FRAMES):
        assert matrix_close(Matrix(read[..., k].tolist()), rotation_from(mode, values[:, k]).to_matrix(), 1e-6)


@every_mode
def test_quaternions_of_every_mode_are_those_of_blender_and_rest_where_there_is_none(mode):
    random = Random(mode)
    count = 3 if len(mode) == 3 else 4
    values = np.array([[random.uniform(-2.0, 2.0) for _ in range(FRAMES)] for _ in range(count)])
    values[:, 3] = 0.0
    read = rotation_quaternions(values, mode)
    assert read[:, 3].tolist() == [1.0, 0.0, 0.0, 0.0]
    for k in {*range(FRAMES)} - {3}:
        wanted = rotation_from(mode, values[:, k])
        assert abs(np.dot(read[:, k], wanted)) == pytest.approx(1.0, abs=1e-6)
        assert np.linalg.norm(read[:, k]) == pytest.approx(1.0, abs=1e-12)


def test_an_axis_of_no_length_turns_nothing_and_a_quaternion_of_none_is_no_number():
    assert np.array_equal(rotation_matrices(np.array([[1.0], [0.0], [0.0], [0.0]]), "AXIS_ANGLE")[..., 0], np.eye(3))
    assert np.isnan(rotation_matrices(np.zeros((4, 1)), "QUATERNION")).any()


def test_transforms_are_composed_of_what_moves_and_what_does_not():
    rotation = Quaternion((0.6, 0.8, 0.0, 0.0))
    places = np.array([[1.0, 2.0], [0.0, 0.0], [3.0, -3.0]])
    made = composed_matrices(places, np.array(rotation.to_matrix())[:, :, None], np.array([[1.0], [2.0], [3.0]]))
    for k in range(2):
        expected = Matrix.LocRotScale(Vector(places[:, k]), rotation, Vector((1.0, 2.0, 3.0)))
        assert matrix_close(to_matrix(made, k), expected, 1e-6)
    assert np.allclose(column_lengths(made)[:, 0], (1.0, 2.0, 3.0))


def test_flat_and_infinite_transforms_are_not_proper():
    matrices = random_matrices(3)
    assert are_proper(stack(matrices))
    for broken in (Matrix.Diagonal((1.0, 0.0, 1.0, 1.0)), Matrix.Translation((float("nan"), 0.0, 0.0))):
        assert not are_proper(stack([*matrices, broken]))
    sheared = Matrix(((1.0, 1.0, 0.0, 0.0), (1.0, 1.0, 0.0, 0.0), (0.0, 0.0, 1.0, 0.0), (0.0, 0.0, 0.0, 1.0)))
    assert is_flat(sheared)
    assert not are_proper(stack([sheared]))

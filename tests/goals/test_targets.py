# SPDX-License-Identifier: GPL-3.0-or-later
"""The nearest points of many targets at once are those of each target alone."""

from random import Random

import numpy as np
import pytest
from mathutils import Matrix, Vector

from ik_triangulation.goals import Field, Transformed
from ik_triangulation.goals.shapes import shape_is_batched
from ik_triangulation.goals.target_shapes import BatchTarget

from ..chains import random_base, random_direction
from .targets import SHAPES

every_shape = pytest.mark.parametrize("through", SHAPES.values(), ids=list(SHAPES))
NEAR = 2e-5  # of single precision, for lengths up to ten and scales up to three


def placed(shape, bases, scales):
    """The shape in spaces that are moved, turned and scaled."""
    spaces = np.array([np.array(base) for base in bases]).transpose(1, 2, 0)
    return BatchTarget(shape, spaces[:3, :3], spaces[:3, 3], np.array(scales))


@every_shape
@pytest.mark.parametrize("seed", range(3))
def test_nearest_points_are_those_of_the_shape_in_its_space(through, seed):
    random = Random(seed)
    shape = through(random_direction(random), random)
    bases = [random_base(random) for _ in range(30)]
    scales = [random.uniform(0.3, 3.0) for _ in bases]
    points = [random_direction(random) * random.uniform(0.0, 4.0) for _ in bases]
    found = placed(shape, bases, scales).closest(np.array(points).T)
    for n, (base, scale, point) in enumerate(zip(bases, scales, points, strict=True)):
        wanted = Transformed(shape, base @ Matrix.Scale(scale, 4)).closest(point)
        assert np.abs(found[:, n] - np.array(wanted)).max() < NEAR


@every_shape
def test_ties_are_broken_as_by_the_shape(through):
    random = Random(7)
    shape = through(Vector((0.3, -0.2, 0.1)), random)
    for name in ("centre", "location", "start"):
        if (place := getattr(shape, name, None)) is not None:
            found = placed(shape, [Matrix.Identity(4)], [1.0]).closest(np.array(place[:])[:, None])
            assert np.abs(found[:, 0] - np.array(shape.closest(Vector(place)))).max() < 1e-5


def test_without_a_shape_the_origin_of_the_space_is_the_target():
    random = Random(1)
    bases = [random_base(random) for _ in range(4)]
    found = placed(None, bases, [1.0] * 4).closest(np.zeros((3, 4)))
    assert np.allclose(found.T, [base.to_translation()[:] for base in bases])


@every_shape
def test_targets_are_taken_pose_by_pose(through):
    random = Random(2)
    target = placed(through(Vector(), random), [random_base(random) for _ in range(6)], [1.5] * 6)
    points, some = np.array([random_direction(random)[:] for _ in range(6)]).T, np.array([5, 0, 2])
    assert np.array_equal(target.take(some).closest(points[:, some]), target.closest(points)[:, some])


def test_fields_have_no_formula():
    random = Random(3)
    shape = next(iter(SHAPES.values()))(Vector(), random)
    assert shape_is_batched(shape)
    assert not shape_is_batched(Field(lambda point: -point))
    assert not shape_is_batched(Transformed(shape, Matrix.Diagonal((1.0, 2.0, 1.0, 1.0))))

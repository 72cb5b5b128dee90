# SPDX-License-Identifier: GPL-3.0-or-later
"""Points of a body are lifted to their heights, and left alone above them."""

import numpy as np
import pytest

from ik_triangulation.goals.support import FloorTask
from ik_triangulation.kinematics.batch import Geometry

from .test_support import FIGURE, states
from .test_task import derivatives, rows_of

UP = np.array([0.3, -0.2, 0.9]) / np.linalg.norm([0.3, -0.2, 0.9])


def floor(height, seed=3):
    """A point beside the origin of each of five joints, which should be at least that high."""
    random = np.random.default_rng(seed)
    joints = np.sort(random.choice(len(FIGURE.tree.joints), 5, replace=False))
    return FloorTask(
        joints=joints,
        points=random.normal(size=(5, 3)),
        up=UP,
        heights=np.full((5, 1), height),
        tolerance=np.array([1e-3]),
    )


def test_rows_are_the_derivatives_of_how_far_the_points_are_below():
    some = states()
    task = floor(1e3)
    rows, measured = rows_of(task, Geometry(FIGURE.tree, some))
    assert (measured.errors > 0.0).all()
    assert measured.off == pytest.approx(measured.errors.max(0))
    assert np.abs(rows - derivatives(task, FIGURE.tree, some)).max() < 1e-5


def test_points_above_their_heights_have_neither_error_nor_rows():
    some = states()
    geometry = Geometry(FIGURE.tree, some)
    rows, measured = rows_of(floor(-1e3), geometry)
    assert not measured.errors.any()
    assert not measured.off.any()
    assert not rows.any()
    task = floor(0.0)
    middle = np.median(task.above(geometry))
    rows, measured = rows_of(floor(middle), geometry)
    low = task.above(geometry) < middle
    assert 0 < low.sum() < low.size
    assert ((measured.errors > 0.0) == low).all()
    assert ((np.abs(rows).max(1) > 0.0) == low).all()


def test_the_task_of_some_points_at_some_poses_is_a_part_of_the_whole():
    some = states()
    geometry = Geometry(FIGURE.tree, some)
    task = floor(1e3)
    part = task.of_points(np.array([3, 1]))
    assert part.count == 2
    assert part.measure(geometry).errors == pytest.approx(task.measure(geometry).errors[[3, 1]])
    assert np.array_equal(part.take(np.array([0, 2])).heights, part.heights)

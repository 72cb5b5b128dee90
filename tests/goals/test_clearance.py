# SPDX-License-Identifier: GPL-3.0-or-later
"""Links stay out of capsules: distances are those of the nearest points, and rows are their derivatives."""

import numpy as np
import pytest

from ik_triangulation.goals.obstacles import Axes, ClearTask, Segments
from ik_triangulation.kinematics.batch import Geometry, Tree

from ..chains import random_chain
from .test_task import COUNT, derivatives, inner_states, rows_of

SHARES = np.linspace(0.0, 1.0, 201)


def drawn_axes(random, flat):
    begin, end, across = random.normal(size=(3, len(flat), 3, COUNT))
    across /= np.linalg.norm(across, axis=1, keepdims=True)
    return Axes(Segments(begin, end), across, np.array(flat))


@pytest.mark.parametrize("kind", ["any", "along", "crossing", "a point"])
def test_distances_are_those_of_the_nearest_points(kind):
    random = np.random.default_rng(3)
    axes, (begin, end) = drawn_axes(random, [0.0, 0.4]), random.normal(size=(2, 3, COUNT))
    if kind == "along":
        end = begin + 0.7 * (axes.segments.end - axes.segments.begin)[0]
    elif kind == "crossing":
        begin, end = (axes.segments.begin[0] + s * (axes.segments.end - axes.segments.begin)[0] for s in (-0.5, 1.5))
        begin = begin + 0.1
    elif kind == "a point":
        end = begin
    near = axes.nearest(Segments(begin, end))
    some = begin + SHARES[:, None, None] * (end - begin)
    for number in range(2):
        own = axes.segments.begin[number], axes.segments.end[number]
        others = own[0] + SHARES[:, None, None] * (own[1] - own[0])
        ways = some[:, None] - others[None]
        across = axes.across[number]
        ways = ways - axes.flat[number] * (ways * across).sum(2)[:, :, None] * across
        least = np.linalg.norm(ways, axis=2).min((0, 1))
        assert np.abs(near.distances[number] - least).max() < 0.03
        assert (near.distances[number] <= least + 1e-12).all()


def test_depths_shrink_along_the_rows():
    random = np.random.default_rng(5)
    tree = Tree.of(random_chain(2, 3))
    states = inner_states(tree, 4)
    geometry, axes = Geometry(tree, states), drawn_axes(random, [0.0, 0.3, 0.6])
    least = np.full((2, 3, 1), 10.0 * tree.size)
    task = ClearTask(axes=axes, least=least, joints=np.array([1, 2]), length=1.0, tolerance=np.zeros(1))
    rows, measured = rows_of(task, geometry)
    assert (measured.errors > 0.0).all()
    assert np.abs(rows - derivatives(task, tree, states)).max() < 1e-5
    assert task.ways(np.eye(3)[..., None], np.zeros((3, 1))).shape == (0,), "it leads nowhere"
    away = ClearTask(axes=axes, least=0.0 * least, joints=np.array([1, 2]), length=1.0, tolerance=np.zeros(1))
    rows, measured = rows_of(away, geometry)
    assert not rows.any()
    assert not measured.off.any(), "what is away has neither error nor row"

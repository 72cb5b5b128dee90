# SPDX-License-Identifier: GPL-3.0-or-later
"""Looking at a point is a direction that changes as the tip moves, and its rows know that."""

from dataclasses import replace

import numpy as np
import pytest

from ik_triangulation.goals.orientation import AlongTask, LookTask
from ik_triangulation.kinematics.batch import Geometry
from ik_triangulation.kinematics.batch.algebra import normalized

from ..trees import body, random_tree
from .test_task import COUNT, LOOSE, derivatives, inner_states, rows_of

AXIS = np.array([[0.6], [0.0], [-0.8]])


def looking(point, length=0.7, **more):
    return LookTask(axis=AXIS, point=point, length=length, tolerance=LOOSE, **more)


@pytest.mark.parametrize("tree", [random_tree(3), random_tree(5, moves_root=True), body()], ids=str)
@pytest.mark.parametrize("distance", [0.5, 4.0])
def test_the_error_shrinks_along_the_rows_however_near_the_point_is(tree, distance):
    states = inner_states(tree, 2)
    geometry = Geometry(tree, states)
    axis = np.einsum("ijf,jk->if", geometry.tip_rotation(), AXIS)
    task = looking(geometry.tip() + distance * axis)  # farther away its error is not linear
    rows, measured = rows_of(task, geometry)
    assert measured.off.max() < 1e-6
    assert np.abs(rows - derivatives(task, tree, states)).max() < 1e-5


def test_it_misses_what_the_direction_to_the_point_misses():
    tree = random_tree(5, moves_root=True)
    geometry = Geometry(tree, inner_states(tree, 4))
    point = np.array([[1.0], [2.0], [-3.0]])
    along = AlongTask(axis=AXIS, direction=normalized(point - geometry.tip()), length=0.7, tolerance=LOOSE)
    found, wanted = (task.measure(geometry) for task in (looking(point), along))
    assert np.allclose(found.off, wanted.off, atol=1e-12)
    assert np.allclose(found.errors, wanted.errors, atol=1e-12)


def test_a_look_may_begin_beside_the_tip():
    tree, eye = random_tree(5, moves_root=True), np.array([[0.1], [-0.3], [0.2]])
    states = inner_states(tree, 4)
    geometry = Geometry(tree, states)
    turn = geometry.tip_rotation()
    begin = geometry.tip() + np.einsum("ijf,jk->if", turn, eye)
    axis = np.einsum("ijf,jk->if", turn, AXIS)
    task = looking(begin + 0.7 * axis, origin=eye)
    rows, measured = rows_of(task, geometry)
    assert measured.off.max() < 1e-6
    assert np.abs(rows - derivatives(task, tree, states)).max() < 1e-5


def test_a_point_at_the_tip_itself_is_in_no_direction_and_breaks_nothing():
    tree = random_tree(5, moves_root=True)
    geometry = Geometry(tree, inner_states(tree, 4))
    rows, measured = rows_of(looking(geometry.tip().copy()), geometry)
    assert np.isfinite(rows).all()
    assert np.isfinite(measured.errors).all()


def test_tasks_are_taken_pose_by_pose():
    tree, some = random_tree(5, moves_root=True), np.array([4, 0, 5])
    geometry, points = Geometry(tree, inner_states(tree, 4)), np.random.default_rng(1).normal(size=(3, COUNT))
    whole, _ = rows_of(looking(points), geometry)
    part, _ = rows_of(looking(points).take(some), geometry.take(some))
    assert np.abs(part - whole[..., some]).max() < 1e-14
    assert replace(looking(points), level=2).at_level(1).level == 1
    assert len(looking(points).ways(np.eye(3)[:, :, None], np.zeros((3, 1)))) == COUNT - 1

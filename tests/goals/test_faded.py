# SPDX-License-Identifier: GPL-3.0-or-later
"""A task with an influence leaves the share of its errors that it is told to, and counts only where it is present."""

from dataclasses import replace

import numpy as np
import pytest

from ik_triangulation.goals.from_goals import point_task
from ik_triangulation.goals.orientation import OrientTask
from ik_triangulation.goals.task import FadedTask
from ik_triangulation.kinematics.batch import Geometry
from ik_triangulation.solvers.batch.change import System
from scripts.benchmarks import humanoid
from scripts.benchmarks.body_goals import HANDS, stands

FIGURE = humanoid.body()
TREE, COUNT = FIGURE.tree, 3
STATES = stands(FIGURE, COUNT)
HAND = FIGURE.number_of[HANDS[0]]
PLACE = point_task(np.array(((0.3,), (-0.4,), (0.6,))), np.array((1e-3,)))
TASKS = [
    replace(PLACE, tip=HAND),
    OrientTask(rotation=np.eye(3)[:, :, None], length=0.3, tolerance=np.array((0.01,)), tip=HAND),
]


def faded(task, share, present=1.0):
    errors = task.measure(Geometry(TREE, STATES)).errors
    return FadedTask(task=task, rest=(1.0 - share) * errors, present=np.full(COUNT, present))


@pytest.mark.parametrize("task", TASKS)
@pytest.mark.parametrize("share", [0.0, 0.4, 1.0])
def test_where_it_begins_the_share_is_missing(task, share):
    whole, part = (each.measure(Geometry(TREE, STATES)) for each in (task, faded(task, share)))
    assert np.allclose(part.errors, share * whole.errors)
    assert np.allclose(part.off, share * whole.off)


@pytest.mark.parametrize("task", TASKS)
def test_where_it_is_not_present_it_is_met_and_moves_nothing(task):
    system = System(TREE, STATES, [faded(task, 0.5, 0.0)])
    assert system.met.all()
    assert not system.jacobian().any()
    assert not system.value.any()


@pytest.mark.parametrize("task", TASKS)
def test_the_rows_are_those_of_the_task(task):
    assert np.array_equal(*(System(TREE, STATES, [each]).jacobian() for each in (task, faded(task, 0.5))))


def test_the_rest_of_it_is_that_of_the_task():
    task = faded(TASKS[0], 0.5)
    assert (task.tip, task.level, task.count) == (HAND, TASKS[0].level, 3)
    assert task.at_level(2).level == 2
    assert task.within(np.array((0.5,))).tolerance == 0.5
    some = task.take(slice(1, 3))
    assert some.rest.shape == (3, 2)
    assert len(some.measure(Geometry(TREE, STATES.take(slice(1, 3)))).off) == 2
    assert task.ways(np.eye(3)[:, :, None], np.zeros((3, 1))).shape == (0,)

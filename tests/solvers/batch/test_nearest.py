# SPDX-License-Identifier: GPL-3.0-or-later
"""Steps towards places out of reach: they end at the nearest place, quickly, and inside the limits."""

from dataclasses import replace

import numpy as np
import pytest

from ik_triangulation.kinematics.batch import Geometry
from ik_triangulation.kinematics.batch.algebra import normalized
from ik_triangulation.solvers.batch.change import System
from ik_triangulation.solvers.batch.descent import Descent, descend, nearest_change

from ...chains import hinged, limited, mixed
from ...trees import batch_of, drawn, place_task, violation

BUILDERS = {"hinges": hinged, "euler": limited, "mixed": mixed}
LONG = Descent(iterations=100, stall=50)
every_chain = pytest.mark.parametrize("build", BUILDERS.values(), ids=list(BUILDERS))


def far_away(tree, states, seed):
    """A task to reach places half the reach beyond it, about where the tips are."""
    task = place_task(tree, drawn(tree, states, np.random.default_rng(seed), 0.05))
    root = Geometry(tree, states).heads[0]
    place = root + 1.5 * tree.size * normalized(task.target.place - root)
    return [replace(task, target=task.target._replace(place=place))]


def shifted(tasks, seed):
    """The same tasks with places a little aside, as in the next frame."""
    (task,) = tasks
    place = task.target.place + 0.05 * np.random.default_rng(seed).normal(size=task.target.place.shape)
    return [replace(task, target=task.target._replace(place=place))]


@every_chain
def test_out_of_reach_descents_come_as_near_in_fewer_steps_and_no_goal_is_met(build, long):
    for seed in range(3 if long else 1):
        tree, states = batch_of(build(seed, 5), 40, seed)
        tasks = far_away(tree, states, seed)
        descend(tree, states, tasks, LONG)
        tasks = shifted(tasks, seed)
        curved, plain = states.copy(), states.copy()
        fewer, more = np.zeros(len(states), int), np.zeros(len(states), int)
        met, near = descend(tree, curved, tasks, steps=fewer)
        _, other = descend(tree, plain, tasks, Descent(curved=False), steps=more)
        assert not met.any()
        assert violation(tree, curved) == 0.0
        assert (np.sqrt(near) <= np.sqrt(other) + 1e-3 * tree.size).mean() > 0.8
        assert fewer.mean() < 0.7 * more.mean()


@every_chain
def test_changes_stay_inside_their_bounds_and_states_that_need_none_are_at_an_optimum(build):
    tree, states = batch_of(build(4, 5), 30, 4)
    tasks = far_away(tree, states, 4)
    descend(tree, states, tasks, LONG)
    system = System(tree, states, shifted(tasks, 4))
    low, high = np.full((tree.columns, len(states)), -0.1), np.full((tree.columns, len(states)), 0.1)
    low[: tree.angles], high[: tree.angles] = tree.ranges(states, 0.1)
    least, damping = 1e-3 * tree.size * np.sqrt(system.value), np.full(len(states), 1e-2)
    every, errors = np.arange(len(states)), system.measured[0].errors
    change, still = nearest_change(system.geometry, every, errors, low, high, damping, least)
    assert (change >= low).all()
    assert (change <= high).all()
    best = states.copy()
    _, value = descend(tree, best, system.tasks, LONG)
    assert (np.sqrt(system.value) - np.sqrt(value) < 0.01 * tree.size)[still].all()

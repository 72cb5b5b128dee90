# SPDX-License-Identifier: GPL-3.0-or-later
"""Steps towards places out of reach: they end at the nearest place, quickly, and inside the limits."""

from dataclasses import replace

import numpy as np
import pytest

from ik_triangulation.kinematics.batch import Geometry
from ik_triangulation.solvers.batch.descent import Descent, descend
from ik_triangulation.solvers.batch.nearest import nearest_change
from ik_triangulation.solvers.batch.system import System

from ...chains import hinged, limited, mixed
from ...trees import batch_of, drawn, place_task, violation

BUILDERS = {"hinges": hinged, "euler": limited, "mixed": mixed}
every_chain = pytest.mark.parametrize("build", BUILDERS.values(), ids=list(BUILDERS))


def far_away(tree, states, seed):
    """A task to reach places at three times the distance of places that can be reached."""
    task = place_task(tree, drawn(tree, states, np.random.default_rng(seed), 1.0))
    root = Geometry(tree, states).heads[0]
    place = root + 3.0 * (task.target.place - root)
    return [replace(task, target=task.target._replace(place=place))]


@every_chain
def test_out_of_reach_the_descent_ends_no_farther_and_sooner_than_without_second_derivatives(build):
    for seed in range(3):
        tree, states = batch_of(build(seed, 5), 40, seed)
        tasks = far_away(tree, states, seed)
        curved, plain = states.copy(), states.copy()
        fewer, more = np.zeros(len(states), int), np.zeros(len(states), int)
        met, near = descend(tree, curved, tasks, steps=fewer)
        _, other = descend(tree, plain, tasks, Descent(curved=False), steps=more)
        assert not met.any()
        assert violation(tree, curved) == 0.0
        assert np.sqrt(near).mean() <= np.sqrt(other).mean() + 1e-4 * tree.size
        assert fewer.mean() < more.mean()


@every_chain
def test_a_state_at_its_optimum_is_told_and_one_that_is_not_moves_nearer(build):
    tree, states = batch_of(build(4, 5), 30, 4)
    tasks = far_away(tree, states, 4)
    descend(tree, states, tasks, Descent(iterations=200, stall=60))
    for share, wanted in ((0.0, 0.9), (0.3, 0.0)):
        there = drawn(tree, states, np.random.default_rng(1), share)
        system = System(tree, there, tasks)
        low, high = np.full((tree.columns, len(there)), -0.1), np.full((tree.columns, len(there)), 0.1)
        low[: tree.angles], high[: tree.angles] = tree.ranges(there, 0.1)
        least = 2e-4 * tree.size * np.sqrt(system.value)
        every = np.arange(len(there))
        damping = np.full(len(there), 1e-2)
        change, still = nearest_change(system.geometry, every, system.measured[0].errors, low, high, damping, least)
        assert (change >= low).all()
        assert (change <= high).all()
        if wanted:
            assert still.mean() > wanted
        else:
            assert still.mean() < 0.2
            assert (system.after(change).value < system.value).mean() > 0.8

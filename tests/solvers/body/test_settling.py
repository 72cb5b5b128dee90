# SPDX-License-Identifier: GPL-3.0-or-later
"""Poses settle towards their reference and above their feet, and never away from their goals."""

import numpy as np

from ik_triangulation.goals.from_goals import balance_of
from ik_triangulation.solvers.batch.change import System
from ik_triangulation.solvers.body.flexing import body_compliance
from ik_triangulation.solvers.body.priorities import exactly, settle, solve_sets
from ik_triangulation.solvers.natural.posture import Posture
from scripts.benchmarks import humanoid
from scripts.benchmarks.body_goals import FEET, crouch, goals_of, judge, reached_of, stands

FIGURE = humanoid.body()
TREE = FIGURE.tree


def test_restarted_poses_come_back_towards_the_stand():
    goals = goals_of(FIGURE, humanoid.random_states(FIGURE, 20, np.random.default_rng(5)), "five places")
    states, reference = stands(FIGURE, 20), stands(FIGURE, 20)
    solve_sets(TREE, states, goals)
    weights, posture = 1.0 / body_compliance(TREE), Posture(TREE, reference)
    before = (weights * posture.offsets(states) ** 2).sum(0)
    settle(TREE, states, reference, goals, None, 8)
    after = (weights * posture.offsets(states) ** 2).sum(0)
    assert reached_of(judge(FIGURE, states, goals)).all()
    assert (after <= before).all()
    assert np.median(after / before) < 0.8


def test_the_centre_of_mass_comes_back_above_the_feet():
    reference, tasks, steady = crouch(FIGURE, 12)
    states = reference.copy()
    states.place = states.place + np.array([[0.3], [0.2], [0.0]])
    solve_sets(TREE, states, tasks, rounds=())
    settle(TREE, states, reference, tasks, steady, 12)
    whole = balance_of(FIGURE, FEET, humanoid.standing(FIGURE).frames[..., None], 0.0)
    assert System(TREE, states, tasks).met.all()
    assert System(TREE, states, [whole]).measured[0].off.max() < 1e-4


def test_what_cannot_be_balanced_keeps_its_goals():
    reference, tasks, steady = crouch(FIGURE, 6)
    away = np.array([[0.0], [-0.9], [0.0]])
    tasks = [*tasks[:4], *(task.to_points(task.target.place + away) for task in tasks[4:])]
    states = reference.copy()
    solve_sets(TREE, states, tasks, rounds=())
    before = System(TREE, states, tasks)
    settle(TREE, states, reference, tasks, steady, 6)
    after = System(TREE, states, tasks)
    assert (after.met | (after.value <= before.value)).all()
    assert (after.met >= before.met).all()


def test_a_settled_pose_stays_where_it_is():
    reference, tasks, steady = crouch(FIGURE, 4)
    tasks = [task.take([0]) for task in tasks]
    states = reference.take([0])
    settle(TREE, states, reference.take([0]), tasks, steady, 8)
    assert np.abs(states.angles - reference.angles[:, :1]).max() < 1e-3
    exactly(TREE, states, tasks, steady)
    assert np.abs(states.angles - reference.angles[:, :1]).max() < 1e-3

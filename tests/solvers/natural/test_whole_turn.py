# SPDX-License-Identifier: GPL-3.0-or-later
"""The start of a chain points at its target, as smoothly as the target moves, and is bent where it was straight."""

import numpy as np
import pytest

from ik_triangulation.goals.from_goals import point_task
from ik_triangulation.kinematics.batch import Geometry, Tree
from ik_triangulation.solvers.natural.chains import turned_whole
from ik_triangulation.solvers.natural.posture import nearest_states

from .motions import CHAINS, STRAIGHT, Motion, angles_between, at_rest, largest_turns

SEEDS = range(12)
FREE = "spine", "neck", "tail"


def started(motion, turned, kind="first"):
    reference = nearest_states(motion.tree, motion.states, motion.reference(kind))
    return turned_whole(motion.tree, reference, motion.tasks(turned), motion.tree.compliance)


def bends(tree, states):
    """Angles [degrees] between one link and the next (n - 1, F)."""
    geometry = Geometry(tree, states)
    ends = np.concatenate((geometry.heads, geometry.tip()[None]))
    links = np.diff(ends, axis=0)
    links /= np.linalg.norm(links, axis=1, keepdims=True)
    return np.degrees(np.arccos(np.clip((links[1:] * links[:-1]).sum(1), -1.0, 1.0)))


@pytest.mark.parametrize("name", FREE)
@pytest.mark.parametrize("turned", [False, True])
def test_the_tip_lies_towards_its_target(name, turned):
    for seed in SEEDS:
        motion = Motion.of(CHAINS[name], seed)
        geometry = Geometry(motion.tree, started(motion, turned))
        there, wanted = geometry.tip() - geometry.heads[0], motion.tasks(turned)[0].target.place
        there, wanted = (v / np.linalg.norm(v, axis=0) for v in (there, wanted))
        assert (there * wanted).sum(0).min() > 1.0 - 1e-9


@pytest.mark.parametrize("name", FREE)
def test_the_start_moves_as_smoothly_as_the_target(name):
    for seed in SEEDS:
        motion = Motion.of(CHAINS[name], seed)
        for turned in (False, True):
            turns = largest_turns(motion.tree.rotations(started(motion, turned)))
            assert turns.max() < 4.0 * largest_turns(motion.rotations).max()


@pytest.mark.parametrize("name", CHAINS)
def test_the_start_is_nearer_to_the_goals_than_the_reference_and_within_limits(name):
    for seed in SEEDS:
        motion = Motion.of(CHAINS[name], seed)
        states, reference = started(motion, True), motion.reference("first")
        assert ((states.angles >= motion.tree.lower) & (states.angles <= motion.tree.upper)).all()
        off = angles_between(motion.tree.rotations(states), motion.rotations).mean()
        assert off < angles_between(motion.rotations, np.broadcast_to(reference, motion.rotations.shape)).mean()


def test_a_straight_chain_is_bent_to_one_side_and_a_bent_one_left_as_it_is():
    tree = Tree.of(STRAIGHT)
    tasks = [point_task(np.array([[0.0], [4.0], [0.0]]), np.full(1, 1e-4))]
    assert (bends(tree, turned_whole(tree, at_rest(tree, 1), tasks, tree.compliance)) > 3.0).all()
    motion = Motion.of(STRAIGHT, 1, 1)
    again = turned_whole(motion.tree, motion.states, motion.tasks(True), motion.tree.compliance)
    assert np.abs(bends(motion.tree, again) - bends(motion.tree, motion.states)).max() < 1e-4


def test_joints_that_do_not_yield_stay():
    tree = Tree.of(STRAIGHT)
    compliance = tree.compliance.copy()
    compliance[:6] = 0.0
    tasks = [point_task(np.array([[3.0], [2.0], [0.0]]), np.full(1, 1e-4))]
    for task in (tasks, []):
        states = turned_whole(tree, at_rest(tree, 1), task, compliance)
        turned = angles_between(tree.rotations(states), tree.rotations(at_rest(tree, 1)))[:, 0]
        assert (turned[:2] < 5.0).all()
    assert np.array_equal(turned_whole(tree, at_rest(tree, 1), tasks, 0.0 * compliance).balls, at_rest(tree, 1).balls)

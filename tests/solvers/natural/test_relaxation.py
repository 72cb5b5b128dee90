# SPDX-License-Identifier: GPL-3.0-or-later
"""Relaxed frames keep their goals, cost least, and do not depend on what is far from them in time."""

from dataclasses import replace

import numpy as np
import pytest
from mathutils import Matrix, Quaternion, Vector

from ik_triangulation.goals.task import PlaceTask
from ik_triangulation.kinematics import Chain, Free, Joint, Pose
from ik_triangulation.kinematics.batch import Geometry, Tree
from ik_triangulation.kinematics.batch.algebra import normalized
from ik_triangulation.kinematics.batch.tree import joined
from ik_triangulation.solvers.batch.descent import at_one_level, descend
from ik_triangulation.solvers.natural.posture import Posture, Relaxation, nearest_states

from ...trees import places
from .motions import CHAINS, Motion, angles_between, at_rest, largest_turns

SEEDS = range(6)


def relaxation(motion, weight, **more):
    reference = nearest_states(motion.tree, motion.states, motion.reference("rest"))
    posture = Posture(motion.tree, reference)
    return Relaxation(posture=posture, compliance=motion.tree.compliance, weight=weight, **more)


def cost(found, states):
    offsets = found.posture.offsets(states)
    return (offsets**2).sum() + found.weight * (np.diff(offsets, axis=1) ** 2).sum()


def relaxed(motion, weight, steps=40):
    found = relaxation(motion, weight, still=1e-5)
    return found, found.run(motion.tree, motion.states, motion.tasks(True), steps)


@pytest.mark.parametrize("name", CHAINS)
def test_frames_keep_their_goals_and_limits(name, long):
    for seed in SEEDS if long else SEEDS[:1]:
        motion = Motion.of(CHAINS[name], seed, 60)
        _, states = relaxed(motion, 2.0)
        off = np.linalg.norm(Geometry(motion.tree, states).tip() - motion.tasks(False)[0].target.place, axis=0)
        assert off.max() < 1e-3 * motion.tree.size
        assert ((states.angles >= motion.tree.lower) & (states.angles <= motion.tree.upper)).all()


@pytest.mark.parametrize("name", ["spine", "vertebrae", "tail"])
@pytest.mark.parametrize("weight", [0.0, 2.0])
def test_no_change_that_keeps_the_goals_costs_less(name, weight, long):
    for seed in SEEDS if long else SEEDS[:1]:
        motion = Motion.of(CHAINS[name], seed, 40)
        found, states = relaxed(motion, weight, 100)
        least, random = cost(found, states), np.random.default_rng(seed)
        assert least < cost(found, motion.states)
        for size in (0.02, 0.1):
            aside = size * random.normal(size=(motion.tree.columns, 40))
            other = motion.tree.moved(states, Geometry(motion.tree, states).frames, aside)
            descend(motion.tree, other, at_one_level(motion.tasks(True)))
            assert cost(found, other) > least


def test_the_cost_of_change_spreads_a_jump_of_the_goal_over_the_frames_around_it():
    motion = Motion.of(CHAINS["spine"], 1, 40)
    motion.states = joined([motion.states.take(np.full(20, 0)), motion.states.take(np.full(20, 39))])
    alone, together = (largest_turns(motion.tree.rotations(relaxed(motion, w)[1])) for w in (0.0, 2.0))
    assert np.count_nonzero(alone > 0.01) == 1
    assert np.count_nonzero(together > 0.01) > 1
    assert together.max() < alone.max()


def test_frames_far_away_in_time_make_no_difference():
    motion = Motion.of(CHAINS["spine"], 2, 80)
    window = slice(20, 60)
    part = Motion(motion.tree, motion.states.take(window))
    whole, own = relaxed(motion, 2.0)[1].take(window), relaxed(part, 2.0)[1]
    apart = angles_between(*(motion.tree.rotations(states)[..., 12:28] for states in (whole, own)))
    assert apart.max() < 0.02


def test_in_a_cycle_the_first_frame_comes_after_the_last():
    motion = Motion.of(CHAINS["spine"], 3, 81, cyclic=True)
    lap = np.arange(80)
    tasks = [task.take(lap) for task in motion.tasks(True)]
    motion.states = motion.states.take(lap)
    found = relaxation(motion, 2.0, cyclic=True, still=1e-5)
    states = found.run(motion.tree, motion.states, tasks, 60)
    shifted = (lap + 40) % 80
    again = found.run(motion.tree, motion.states.take(shifted), [task.take(shifted) for task in tasks], 60)
    apart = angles_between(motion.tree.rotations(states.take(shifted)), motion.tree.rotations(again))
    assert apart.max() < 0.02


def test_a_joint_in_a_cone_relaxes_alike_however_its_bone_is_rolled():
    motion = Motion.of(CHAINS["cones"], 3, 12)
    rolls = [Quaternion((0.0, 1.0, 0.0), angle) for angle in np.random.default_rng(1).uniform(-3.0, 3.0, 8)]
    before = [Quaternion(), *rolls]
    joints = [
        replace(joint, rest=above.conjugated() @ joint.rest @ own)
        for joint, above, own in zip(CHAINS["cones"].joints, before, rolls, strict=False)
    ]
    tasks, found = motion.tasks(False), []
    for tree in (motion.tree, Tree.of(Chain(tuple(joints), CHAINS["cones"].tip))):
        rest = at_rest(tree, 12)  # where a swing has no direction
        states = Relaxation(posture=Posture(tree, rest), compliance=tree.compliance).run(tree, rest, tasks, 6)
        found.append(Geometry(tree, states).heads)
    assert np.abs(found[1] - found[0]).max() < 1e-4 * motion.tree.size


def test_a_long_chain_comes_near_its_goals_by_a_few_steps():
    joints = [Joint(f"{n}", Vector((0.0, 1.0, 0.0)), Quaternion((1.0, 0.0, 0.0), 0.035), Free()) for n in range(400)]
    chain = Chain(tuple(joints), Vector((0.0, 1.0, 0.0)))
    tree, random = Tree.of(chain), np.random.default_rng(1)
    reference = tree.states([Pose(chain, Matrix.Identity(4), [Quaternion()] * len(joints))] * 16)
    there = tree.size * random.uniform(0.4, 0.84, 16) * normalized(random.normal(size=(3, 16)))
    goal = PlaceTask(target=places(there), tolerance=np.array([1e-4]))
    relaxation = Relaxation(posture=Posture(tree, reference), compliance=tree.compliance)
    states = relaxation.run(tree, reference, [goal], 16)
    assert np.linalg.norm(goal.measure(Geometry(tree, states)).errors, axis=0).max() < 0.15 * tree.size


def test_only_frames_to_begin_with_and_those_beside_them_are_relaxed_at_first():
    motion, begin = Motion.of(CHAINS["spine"], 0, 40), np.arange(40) == 20
    found = relaxation(motion, 2.0, still=1e-5)
    states = found.run(motion.tree, motion.states, motion.tasks(True), 2, begin)
    moved = np.abs(found.posture.offsets(states) - found.posture.offsets(motion.states)).max(0) > 0.0
    assert np.flatnonzero(moved).tolist() == [18, 19, 20, 21, 22]

# SPDX-License-Identifier: GPL-3.0-or-later
"""Comfort and obstacles are settled in the freedom that goals leave, as well as by the scalar null space."""

from random import Random

import numpy as np
import pytest
from mathutils import Vector

from ik_triangulation.goals import Avoid, Ball, Effort, Goal, Near, Point
from ik_triangulation.goals.from_goals import preferences_of, tasks_of
from ik_triangulation.goals.goal import soft_cost
from ik_triangulation.kinematics import Pose
from ik_triangulation.kinematics.batch import Tree
from ik_triangulation.solvers.batch.change import System
from ik_triangulation.solvers.null_space import optimise, settle_preferences

from ...chains import mixed, random_base, random_chain, random_rotation

COUNT = 10
SOFT = {
    "effort": lambda pose, near: Effort(Vector((0.0, 0.0, -1.0))),
    "near": lambda pose, near: Near(near),
    "obstacle": lambda pose, near: Avoid((Ball(pose.head(2) + Vector((0.05, 0.02, 0.0)), 0.2 * pose.chain.reach),)),
}


@pytest.mark.parametrize("limited", [False, True])
@pytest.mark.parametrize("soft", SOFT)
def test_the_cost_falls_as_far_as_by_the_scalar_null_space(soft, limited):
    random = Random(3)
    chain = mixed(3, 5) if limited else random_chain(3, 4)
    near = [random_rotation(random) for _ in chain.joints]
    some = [Pose(chain, random_base(random), [random_rotation(random) for _ in chain.joints]) for _ in range(COUNT)]
    for pose in some:
        pose.project()
    goals = [Goal(Point(pose.tip), (SOFT[soft](pose, near),), 1e-3 * chain.reach) for pose in some]
    tree = Tree.of(chain)
    states = tree.states(some)
    tasks = tasks_of([goal._replace(soft=()) for goal in goals], chain.reach)
    settle_preferences(tree, states, tasks, preferences_of(goals, tree, chain.reach))
    assert System(tree, states, tasks).met.all()
    assert (states.angles >= tree.lower - 1e-9).all()
    assert (states.angles <= tree.upper + 1e-9).all()
    before, wanted, found = [], [], []
    for k, (pose, goal) in enumerate(zip(some, goals, strict=True)):
        before.append(soft_cost(pose, goal.soft))
        turned = Pose(chain, pose.base, [type(pose.rotations[0])(each) for each in tree.rotations(states)[:, :, k]])
        found.append(soft_cost(turned, goal.soft))
        optimise(pose, goal.target, goal.soft, goal.tolerance)
        wanted.append(soft_cost(pose, goal.soft))
    assert (np.array(found) <= np.array(before) + 1e-6).all()
    assert np.mean(found) <= np.mean(wanted) + 0.05 * (np.mean(before) - np.mean(wanted))


def test_states_that_miss_their_goal_stay_as_they_are():
    chain = random_chain(1, 4)
    pose = Pose(chain, random_base(Random(1)), [random_rotation(Random(k)) for k in range(4)])
    tree = Tree.of(chain)
    states = tree.states([pose])
    before = tree.rotations(states).copy()
    goals = [Goal(Point(pose.tip + Vector((0.1, 0.0, 0.0))), (Effort(Vector((0.0, 0.0, -1.0))),), 1e-3)]
    tasks = tasks_of([goal._replace(soft=()) for goal in goals], chain.reach)
    settle_preferences(tree, states, tasks, preferences_of(goals, tree, chain.reach))
    assert np.array_equal(tree.rotations(states), before)

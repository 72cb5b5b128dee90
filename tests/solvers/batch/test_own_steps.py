# SPDX-License-Identifier: GPL-3.0-or-later
"""Many poses at once take the steps that each takes alone."""

import numpy as np
import pytest
from mathutils import Vector

from ik_triangulation.goals import Goal, Point
from ik_triangulation.kinematics.batch import Geometry, Tree
from ik_triangulation.solvers import SolverSettings
from ik_triangulation.solvers.batch.own_steps import STEPS, WalkedChain, walk_on
from ik_triangulation.solvers.solve import take_own_steps

from ...limited import limited_chains


def around(start, count):
    """Targets in the ball of a chain's reach (3, F), half of them in the plane in which hinges about X bend."""
    random = np.random.default_rng(4)
    ways = random.normal(size=(3, count))
    ways[0, ::2] = 0.0
    far = start.chain.reach * random.uniform(0.2, 1.1, count)
    return np.array(start.head(0))[:, None] + ways / np.linalg.norm(ways, axis=0) * far


@pytest.mark.parametrize("solver", STEPS)
@pytest.mark.parametrize("name", limited_chains())
def test_poses_distances_counts_and_costs_are_those_of_the_method(solver, name):
    chain = limited_chains()[name]
    start, tree, tolerance = chain.rest_pose(), Tree.of(chain), 0.01 * chain.reach
    start.project()
    targets = around(start, 120)
    poses = [start.copy() for _ in range(targets.shape[1])]
    settings = SolverSettings(solver=solver, iterations=10)
    own = [
        take_own_steps(p, Goal(Point(Vector(to)), (), tolerance), settings)
        for p, to in zip(poses, targets.T, strict=True)
    ]
    errors, enough = np.array([part.error for part in own]), np.array([part.enough for part in own])
    walked = WalkedChain(chain, tree.states([start]), tree)
    walk, error, count = walk_on(walked, STEPS[solver], targets, tolerance, enough, 10)
    same = (count == [part.steps for part in own]) & (abs(error - errors) < 1e-4 * chain.reach)
    assert same.mean() > 0.95  # where two ways are equally good, rounding decides
    reached = same & (error <= tolerance)
    assert reached.any()
    costs = [pose.cost for pose in poses]
    assert (walk.turns == [cost.turns for cost in costs])[reached].all()
    total_angle, travel = np.array([(cost.total_angle, cost.travel) for cost in costs]).T
    assert walk.total_angle[reached] == pytest.approx(total_angle[reached], abs=1e-3)
    assert walk.travel[reached] == pytest.approx(travel[reached], abs=1e-4 * chain.reach)
    tips = Geometry(tree, walk.states()).tip()
    assert tips == pytest.approx(walk.tip, abs=1e-5 * chain.reach)
    assert (walk.states().angles >= tree.lower - 1e-9).all()
    assert (walk.states().angles <= tree.upper + 1e-9).all()

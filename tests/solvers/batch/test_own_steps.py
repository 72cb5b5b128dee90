# SPDX-License-Identifier: GPL-3.0-or-later
"""Many poses at once take the steps that each takes alone."""

from random import Random

import numpy as np
import pytest
from mathutils import Vector

from ik_triangulation.goals import Goal, Point
from ik_triangulation.kinematics import Free
from ik_triangulation.kinematics.batch import Geometry, Tree
from ik_triangulation.solvers import SOLVERS, SolverSettings
from ik_triangulation.solvers.batch.own_steps import STEPS, Walk, WalkedChain, walk_on
from ik_triangulation.solvers.solve import take_own_steps

from ...chains import random_chain, random_hinge
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
    total_angle, travel = np.array([(cost.total_angle, cost.travel) for cost in costs]).T
    alike = abs(walk.total_angle - total_angle) < 1e-3
    assert alike[reached].mean() > 0.9  # another pair of joints may close the triangle within rounding
    reached &= alike
    assert (walk.turns == [cost.turns for cost in costs])[reached].all()
    assert walk.travel[reached] == pytest.approx(travel[reached], abs=1e-4 * chain.reach)
    tips = Geometry(tree, walk.states()).tip()
    assert tips == pytest.approx(walk.tip, abs=1e-5 * chain.reach)
    assert (walk.states().angles >= tree.lower - 1e-9).all()
    assert (walk.states().angles <= tree.upper + 1e-9).all()


@pytest.mark.parametrize("solver", STEPS)
def test_one_pass_over_many_seeded_poses_is_that_of_the_method(solver, long):
    apart, seeds = [], range(20 if long else 8)
    for seed in seeds:
        random = Random(1000 + seed)
        links = 2 + seed % 6
        freedoms = [Free() if seed % 2 else random_hinge(random) for _ in range(links)]
        chain = random_chain(seed, links, 3.0, freedoms)
        start, tree = chain.rest_pose(), Tree.of(chain)
        start.project()
        for i, joint in enumerate(chain.joints):
            start.put(i, joint.freedom.random(random))
        targets = around(start, 25)
        walk = Walk.begin(WalkedChain(chain, tree.states([start]), tree), 25)
        STEPS[solver](walk, targets)
        for k, target in enumerate(targets.T):
            pose = start.copy()
            SOLVERS[solver].step(pose, Vector(target))
            apart.append((pose.tip - Vector(walk.tip[:, k])).length / chain.reach)
    assert len(apart) == 25 * len(seeds)
    assert (
        np.quantile(apart, 0.98) < 3e-6
    )  # of the reach, single precision; where two ways are as good, rounding decides

# SPDX-License-Identifier: GPL-3.0-or-later
"""Triangulation: complete in one pass on free chains, and the costs of the paper's experiment."""

from math import degrees, pi
from random import Random

import numpy as np
import pytest
from mathutils import Matrix, Quaternion, Vector

from ik_triangulation.kinematics import Pose
from ik_triangulation.kinematics.rotation import rotation_angle
from ik_triangulation.solvers import solve
from ik_triangulation.solvers.triangulation import corner
from ik_triangulation.targets import Point
from tests.chains import PAPER, random_base, random_chain, random_direction, random_pose, straight

BOTH = pytest.mark.parametrize("solver", ["TRIANGULATION", "TRIANGULATION_2007"])


def one_pass(pose, target, solver="TRIANGULATION"):
    """How much farther than the optimum one pass ends from the target, as a share of the reach."""
    solution = solve(pose, Point(target), solver, tolerance=1e-12 * pose.chain.reach, iterations=1, finish=False)
    nearest, farthest = pose.chain.reaches[0]
    distance = (target - pose.head(0)).length
    optimum = max(0.0, distance - farthest, nearest - distance)
    return (solution.error - optimum) / pose.chain.reach


def distances(random, nearest, farthest):
    """One distance anywhere in reach, one on an edge of it or just beside, one out of it."""
    edge = random.choice((nearest, farthest)) * random.choice((1.0, 1.0 - 1e-6, 1.0 + 1e-6))
    outside = random.choice((farthest * random.uniform(1.0, 3.0), nearest * random.random()))
    return random.uniform(nearest, farthest), random.uniform(nearest, farthest), edge, outside


@pytest.mark.slow
def test_one_pass_is_optimal_for_100_000_random_chains():
    random = Random(2007)
    worst = 0.0
    for seed in range(25_000):
        chain = random_chain(seed, random.randint(1, 64), 10.0 ** random.uniform(0.0, 4.0))
        pose = random_pose(chain, random, random_base(random)) if seed % 2 else chain.rest_pose()
        for distance in distances(random, *chain.reaches[0]):
            worst = max(worst, one_pass(pose, pose.head(0) + random_direction(random) * distance))
    assert worst < 1e-5


@BOTH
def test_one_pass_of_either_rule_is_optimal_for_chains_of_few_links(solver):
    random = Random(1)
    for seed in range(500):
        chain = random_chain(seed, random.randint(1, 8), 10.0)
        pose = random_pose(chain, random, random_base(random))
        for distance in distances(random, *chain.reaches[0]):
            assert one_pass(pose, pose.head(0) + random_direction(random) * distance, solver) < 1e-5


@BOTH
@pytest.mark.parametrize("share", [-1.0, -0.5, -0.2, 0.2, 0.5, 0.9, 1.0])
def test_a_straight_chain_reaches_a_target_on_its_own_line(solver, share):
    chain = straight(PAPER)
    assert one_pass(chain.rest_pose(), Vector((0.0, share * chain.reach, 0.0)), solver) < 1e-6


@BOTH
def test_a_folded_chain_reaches_a_target_on_its_own_line(solver):
    chain = straight(PAPER)
    half_turn = Quaternion((1.0, 0.0, 0.0), pi)
    folded = Pose(chain, Matrix.Identity(4), [Quaternion(), *[half_turn] * 4])
    assert one_pass(folded, Vector((0.0, 22.0, 0.0)), solver) < 1e-6


@BOTH
def test_the_root_itself_can_be_the_target(solver):
    assert one_pass(straight(PAPER).rest_pose(), Vector(), solver) < 1e-6


@BOTH
def test_every_joint_of_the_present_pose_can_be_the_target(solver):
    random = Random(3)
    pose = random_pose(random_chain(4, 6), random)
    for i in range(1, 6):
        assert one_pass(pose, pose.head(i).copy(), solver) < 1e-5


def test_a_joint_from_which_the_rest_already_reaches_does_not_turn():
    pose = straight((1.0, 1.0, 1.0, 1.0)).rest_pose()
    solution = solve(pose, Point((0.0, 3.0, 0.5)), finish=False, iterations=1)
    assert solution.reached
    assert [joint for joint, _ in solution.pose.turns] == [2, 3]


def test_a_link_longer_than_the_rest_points_at_a_target_it_overshoots():
    solution = solve(straight((5.0, 1.0)).rest_pose(), Point((2.0, 0.0, 0.0)), "TRIANGULATION_2007", finish=False)
    assert solution.pose.link(0).normalized().x == pytest.approx(1.0)
    assert solution.error == pytest.approx(2.0, abs=1e-5)


@pytest.fixture(scope="module")
def paper_targets():
    """1000 targets in the cube of side 60 around the root, those in reach of the paper's chain (section 4.1)."""
    random = Random(2007)
    targets = []
    while len(targets) < 1000:
        target = Vector([random.uniform(-30.0, 30.0) for _ in range(3)])
        if target.length <= sum(PAPER):
            targets.append(target)
    return targets


@pytest.mark.parametrize(("solver", "mean"), [("TRIANGULATION", 128.0), ("TRIANGULATION_2007", 173.0)])
def test_the_sum_of_final_angles_is_that_of_the_rule(solver, mean, paper_targets):
    costs = []
    for target in paper_targets:
        solution = solve(straight(PAPER).rest_pose(), Point(target), solver, tolerance=0.5, finish=False)
        assert solution.reached
        assert solution.iterations <= 1
        costs.append(sum(rotation_angle(Quaternion(), rotation) for rotation in solution.pose.rotations))
    assert degrees(np.mean(costs)) == pytest.approx(mean, rel=0.03)


def test_corner_agrees_with_the_law_of_cosines():
    random = Random(5)
    for _ in range(1000):
        a, c = random.uniform(0.1, 10.0), random.uniform(0.1, 10.0)
        b = random.uniform(abs(a - c) + 1e-3, a + c - 1e-3)
        expected = np.arccos((a * a + c * c - b * b) / (2.0 * a * c))
        assert corner(a, c, b) == pytest.approx(expected, abs=1e-9)


@pytest.mark.parametrize(
    ("a", "c", "b", "angle"),
    [(1.0, 1.0, 0.0, 0.0), (2.0, 1.0, 0.5, 0.0), (1.0, 2.0, 3.0, pi), (1.0, 2.0, 9.0, pi), (3.0, 4.0, 5.0, pi / 2.0)],
)
def test_corner_says_which_way_a_triangle_that_does_not_close_is_too_flat(a, c, b, angle):
    assert corner(a, c, b) == pytest.approx(angle, abs=1e-12)

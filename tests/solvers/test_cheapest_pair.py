# SPDX-License-Identifier: GPL-3.0-or-later
"""The cheapest pair is the cheapest, moves nothing else, and gives way where limits hold it back."""

from itertools import combinations
from math import acos, degrees, pi
from random import Random

import pytest
from mathutils import Vector

from ik_triangulation.goals import Point
from ik_triangulation.kinematics import EulerLimits, Free, Hinge, Locked
from ik_triangulation.kinematics.rotation import angle_between, rotation_angle
from ik_triangulation.solvers import solve, triangle, triangulation

from ..chains import PAPER, bits, limited, random_chain, random_direction, random_hinge, random_pose, straight
from .reaching import CLOSE

X = Vector((1.0, 0.0, 0.0))


def turned(pose):
    """Joints that the recorded turns have moved."""
    return {joint for joint, _ in pose.turns}


def test_two_joints_bring_the_tip_of_a_free_chain_to_nearly_every_aim_and_the_others_stay():
    random, pairs = Random(1), 0
    for seed in range(500):
        chain = random_chain(seed, random.randint(2, 12), 5.0)
        pose = random_pose(chain, random)
        aim = random_direction(random) * chain.reach * random.uniform(0.0, 0.6)
        before = bits(pose.rotations)
        triangulation.step_cheapest_pair(pose, aim)
        assert (aim - pose.tip).length <= CLOSE * chain.reach + max(0.0, chain.reaches[0][0] - aim.length)
        moved = turned(pose)
        pairs += len(moved) <= 2
        for i, rotation in enumerate(bits(pose.rotations)):
            assert i in moved or rotation == before[i]
    assert pairs > 400


def test_from_straight_no_pair_of_joints_is_cheaper_by_the_law_of_cosines():
    random, chain = Random(2), straight(PAPER)
    for _ in range(300):
        aim = random_direction(random) * random.uniform(5.0, 39.9)
        pose = chain.rest_pose()
        triangulation.step_cheapest_pair(pose, aim)
        costs = []
        for i, k in combinations(range(len(PAPER)), 2):
            head = Vector((0.0, sum(PAPER[:i]), 0.0))
            a, b, c = sum(PAPER[i:k]), sum(PAPER[k:]), (aim - head).length
            if abs(a - b) <= c <= a + b:
                off = angle_between(Vector((0.0, 1.0, 0.0)), aim - head)
                first = acos((a * a + c * c - b * b) / (2.0 * a * c))
                costs.append(abs(off - first) + pi - acos((a * a + b * b - c * c) / (2.0 * a * b)))
        assert degrees(pose.cost.total_angle) == pytest.approx(degrees(min(costs)), abs=0.05)


def test_from_a_bent_pose_no_pair_of_joints_is_cheaper():
    """Each pair on its own, the other joints locked."""
    random, compared = Random(3), 0
    for seed in range(60):
        chain = random_chain(seed, 5)
        start = random_pose(chain, random)
        aim = random_direction(random) * chain.reach * random.uniform(0.2, 0.8)
        pose = start.copy()
        triangulation.step_cheapest_pair(pose, aim)
        for pair in combinations(range(5), 2):
            freedoms = [Free() if i in pair else Locked() for i in range(5)]
            alone = random_pose(random_chain(seed, 5, freedoms=freedoms), Random(0))
            alone.restore(start.rotations, 0)
            alone = alone.copy()
            triangulation.step_cheapest_pair(alone, aim)
            if (aim - alone.tip).length <= CLOSE * chain.reach:
                assert pose.cost.total_angle <= alone.cost.total_angle + 1e-3
                compared += 1
    assert compared >= 300


def test_what_no_pair_reaches_is_left_to_a_pass_of_triangulation():
    random = Random(4)
    for seed in range(50):
        chain = random_chain(seed, 6)
        start = random_pose(chain, random)
        pose, other = start.copy(), start.copy()
        aim = random_direction(random) * chain.reach * 1.1
        triangulation.step_cheapest_pair(pose, aim)
        triangulation.step(other, aim)
        assert bits(pose.rotations) == bits(other.rotations)
        assert len(pose.turns) == len(other.turns)


def test_an_elbow_that_may_only_hinge_bends_and_the_shoulder_follows():
    random = Random(5)
    for _ in range(200):
        chain = straight((3.0, 2.5, 1.0), [Free(), Hinge(X, 0.0, 2.6), Locked()])
        pose = chain.rest_pose()
        pose.swing(1, pose.link(1), Vector((0.0, 1.0, random.uniform(0.1, 2.0))))
        pose = pose.copy()
        aim = random_direction(random) * random.uniform(2.0, 6.4)
        triangulation.step_cheapest_pair(pose, aim)
        assert (aim - pose.tip).length <= CLOSE * chain.reach
        assert turned(pose) == {0, 1}


def test_a_pair_held_back_by_its_limits_is_passed_over():
    stiff = EulerLimits("XYZ", (-0.1, -0.1, -0.1), (0.1, 0.1, 0.1))
    aim = Vector((0.0, 1.8, 1.0))
    for freedom, joints in ((Free(), {0, 2}), (stiff, {1, 3})):
        chain = straight((1.0,) * 4, [Free(), Free(), freedom, Free()])
        pose = chain.rest_pose()
        triangulation.step_cheapest_pair(pose, aim)
        assert (aim - pose.tip).length <= CLOSE * chain.reach
        assert turned(pose) == joints


def test_within_limits_more_is_reached_than_by_one_pass_of_triangulation():
    random, reached = Random(6), [0, 0, 0]
    for seed in range(100):
        chain = limited(seed, random.randint(3, 8))
        there, start = random_pose(chain, random), random_pose(chain, random)
        there.project()
        start.project()
        for n, method in enumerate((triangulation.step_cheapest_pair, triangulation.step, triangulation.one_pass)):
            pose = start.copy()
            method(pose, there.tip)
            reached[n] += (there.tip - pose.tip).length <= 1e-4 * chain.reach
            for joint, rotation in zip(chain.joints, pose.rotations, strict=True):
                assert rotation_angle(joint.freedom.nearest(rotation), rotation) < 2e-6
    assert min(reached[:2]) > 2 * reached[2]  # triangulation closes one more triangle where limits leave something


@pytest.mark.parametrize("count", [3, 30])
def test_pairs_found_on_arrays_are_those_found_one_by_one(count):
    random = Random(count)
    chain = limited(count, count)
    for _ in range(10):
        pose = random_pose(chain, random)
        aim = random_direction(random) * random.uniform(0.1, 0.9) * chain.reach
        one_by_one = sorted(triangle._pairs(pose, aim))[: triangle.TRIES]
        costs = [cost for cost, *_ in triangle._pairs_of_many(pose, aim)]
        assert costs == pytest.approx([cost for cost, *_ in one_by_one], abs=1e-4)


def test_triangulation_reaches_many_targets_of_hinges_across_each_other_in_a_few_passes():
    random, reached = Random(8), 0
    for seed in range(60):
        count = random.randint(3, 6)
        chain = random_chain(seed, count, 3.0, [random_hinge(random) for _ in range(count)])
        there = random_pose(chain, random)
        there.project()
        reached += solve(chain.rest_pose(), Point(there.tip), tolerance=1e-3 * chain.reach, finish=False).reached
    assert reached >= 9  # of 60; 3 where only a pair that closes the triangle is turned

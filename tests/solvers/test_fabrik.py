# SPDX-License-Identifier: GPL-3.0-or-later
"""Free chains do what the published positions do; limits hold, and what is out of reach is pointed at."""

from random import Random

import numpy as np
import pytest
from mathutils import Vector

from ik_triangulation.goals import Point
from ik_triangulation.kinematics import Free, Locked
from ik_triangulation.kinematics.rotation import angle_between
from ik_triangulation.solvers import solve
from ik_triangulation.solvers.fabrik import backward, step

from ..chains import hinged, limited, mixed, random_base, random_chain, random_direction, random_pose, straight


def published(places, lengths, aim):
    """One iteration of the paper's Algorithm 1 on positions alone, in double precision."""
    places, root = places.copy(), places[0].copy()
    places[-1] = aim
    for i in reversed(range(len(lengths))):
        share = lengths[i] / np.linalg.norm(places[i + 1] - places[i])
        places[i] = (1.0 - share) * places[i + 1] + share * places[i]
    places[0] = root
    for i, length in enumerate(lengths):
        share = length / np.linalg.norm(places[i + 1] - places[i])
        places[i + 1] = (1.0 - share) * places[i] + share * places[i + 1]
    return places


def places_of(pose):
    return np.array([*(pose.head(i) for i in range(len(pose))), pose.tip])


def test_every_iteration_of_a_free_chain_is_the_published_one():
    random = Random(1)
    for seed in range(60):
        chain = random_chain(seed, random.randint(2, 10), 4.0)
        pose = random_pose(chain, random, random_base(random))
        nearest, farthest = chain.reaches[0]
        aim = pose.head(0) + random_direction(random) * random.uniform(nearest, farthest)
        places = places_of(pose)
        for _ in range(4):
            step(pose, aim)
            places = published(places, chain.lengths, np.array(aim))
            assert np.abs(places_of(pose) - places).max() < 1e-4 * chain.reach


def test_backward_ends_at_the_aim_and_keeps_the_lengths():
    random = Random(2)
    for seed in range(30):
        pose = random_pose(random_chain(seed, 5, 3.0), random)
        aim = random_direction(random) * pose.chain.reach
        ends = backward(pose, aim)
        assert ends[-1] == aim
        for i in range(1, len(ends)):
            assert (ends[i] - ends[i - 1]).length == pytest.approx(pose.chain.lengths[i], rel=1e-5)


def test_backward_keeps_what_joints_that_are_locked_hold_together():
    random = Random(6)
    for seed in range(30):
        pose = random_pose(random_chain(seed, 5, 3.0, [Free(), Free(), Locked(), Locked(), Free()]), random)
        ends = backward(pose, random_direction(random) * pose.chain.reach)
        for i, k in ((0, 2), (0, 3), (1, 3)):
            assert (ends[k] - ends[i]).length == pytest.approx((pose.head(k + 1) - pose.head(i + 1)).length, rel=1e-4)


def test_a_chain_that_cannot_reach_is_straight_after_one_iteration():
    random = Random(3)
    for seed in range(30):
        pose = random_pose(random_chain(seed, 5, 3.0), random)
        aim = random_direction(random) * pose.chain.reach * random.uniform(1.0, 3.0)
        step(pose, aim)
        assert all(angle_between(pose.link(i), aim) < 1e-5 for i in range(5))


@pytest.mark.parametrize("make", [hinged, limited, mixed])
def test_limits_hold_and_the_best_pose_is_nearer_than_the_start(make):
    random, nearer = Random(4), 0
    for seed in range(40):
        pose = random_pose(make(seed, 5), random)
        pose.project()
        aim = random_direction(random) * pose.chain.reach * 0.7
        before = (aim - pose.tip).length
        solution = solve(pose, Point(aim), solver="FABRIK", tolerance=1e-3, finish=False)
        nearer += solution.error < 0.9 * before
        for joint, rotation in zip(pose.chain.joints, solution.pose.rotations, strict=True):
            allowed = joint.freedom.nearest(rotation)
            assert allowed is rotation or abs(abs(allowed.dot(rotation)) - 1.0) < 1e-6
    assert nearer > 20


def test_joints_that_coincide_are_left_out():
    pose = straight((1.0, 0.0, 1.0)).rest_pose()
    aim = Vector((0.7, 0.9, 0.3))
    for _ in range(30):
        step(pose, aim)
    assert (aim - pose.tip).length < 1e-3


def test_every_target_in_reach_of_a_free_chain_is_reached_in_a_few_iterations():
    random, counts = Random(5), []
    for seed in range(60):
        chain = random_chain(seed, 5)
        target = Point(random_direction(random) * chain.reach * random.uniform(0.1, 0.95))
        solution = solve(
            random_pose(chain, random), target, solver="FABRIK", tolerance=1e-3 * chain.reach, finish=False
        )
        assert solution.reached
        counts.append(solution.iterations)
    assert sum(counts) / len(counts) < 8.0

# SPDX-License-Identifier: GPL-3.0-or-later
"""Finish leaves the best pose it saw, inside the limits, and knows from the lengths what no pose can do."""

from math import radians
from random import Random

import pytest
from mathutils import Matrix, Vector

from ik_triangulation.goals import Point, Sphere
from ik_triangulation.kinematics import Hinge, Pose
from ik_triangulation.kinematics.rotation import about
from ik_triangulation.solvers import solve
from ik_triangulation.solvers.finish import finish, least_error

from ..chains import bits, hinged, limited, mixed, random_chain, random_direction, random_pose, straight


def distance(pose, target):
    return (target.closest(pose.tip) - pose.tip).length


def start(chain, random):
    pose = random_pose(chain, random)
    pose.project()
    return pose


@pytest.mark.parametrize("make", [hinged, limited])
@pytest.mark.parametrize("seed", range(4))
def test_a_place_that_some_pose_reaches_is_reached(make, seed):
    random, chain = Random(seed), make(seed, 5)
    target = Point(start(chain, random).tip)
    pose = start(chain, random)
    error, steps = finish(pose, target, 1e-3 * chain.reach, 100, seed)
    assert error <= 1e-3 * chain.reach
    assert error == pytest.approx(distance(pose, target), abs=1e-5)
    assert steps > 0


@pytest.mark.parametrize("seed", range(4))
def test_a_wrong_minimum_that_many_restarts_share_is_no_proof(seed):
    """A shoulder and an elbow at the lower ends of their ranges; most restarts end 2.2 away on a reach of 2."""
    axis = Vector((1.0, 0.0, 0.0))
    ranges = (radians(-180.0), radians(30.0)), (radians(-110.0), 0.0)
    chain = straight((1.0, 1.0), [Hinge(axis, *ends) for ends in ranges])
    there = Pose(chain, Matrix.Identity(4), [about(axis, lower) for lower, _ in ranges])
    assert solve(chain.rest_pose(), Point(there.tip), tolerance=1e-3 * chain.reach, seed=seed).reached


def test_without_rounds_no_other_pose_is_tried():
    random, chain = Random(2), limited(2, 5)
    pose = start(chain, random)
    target = Point(start(chain, random).tip * 3.0)
    alone = pose.copy()
    error, _ = finish(alone, target, 1e-6, 60, 0, ())
    searched = pose.copy()
    assert finish(searched, target, 1e-6, 60, 0)[0] <= error


@pytest.mark.parametrize("seed", range(4))
def test_it_never_ends_farther_away_than_it_began(seed):
    random, chain = Random(seed), mixed(seed, 4)
    pose, target = start(chain, random), Point(random_direction(random) * 3.0 * chain.reach)
    before = distance(pose, target)
    assert finish(pose, target, 1e-9, 5, seed)[0] <= before + 1e-6


def test_what_is_reached_already_stays():
    chain = limited(2, 4)
    pose = start(chain, Random(0))
    before = bits(pose.rotations)
    assert finish(pose, Point(pose.tip), 1e-3, 50, 0) == (0.0, 0)
    assert bits(pose.rotations) == before


def test_the_same_seed_gives_the_same_pose():
    def run():
        chain = hinged(5, 4)
        pose = start(chain, Random(1))
        finish(pose, Point((0.3, 0.2, 1.0)), 1e-6, 20, 7)
        return bits(pose.rotations)

    assert run() == run()


def test_the_lengths_bound_the_distance_from_below():
    pose = straight((2.0, 1.0)).rest_pose()
    assert least_error(pose, Point((0.0, 10.0, 0.0))) == pytest.approx(7.0)
    assert least_error(pose, Point((0.5, 0.0, 0.0))) == pytest.approx(0.5)  # nearer than the difference of the links
    assert least_error(pose, Point((0.0, 2.0, 0.0))) == 0.0
    assert least_error(pose, Sphere((0.0, 10.0, 0.0), 2.0)) == pytest.approx(5.0)


@pytest.mark.parametrize("seed", range(10))
def test_no_pose_is_nearer_than_the_bound(seed):
    random = Random(seed)
    chain = random_chain(seed, 3, 5.0)
    target = Point(random_direction(random) * random.uniform(0.0, 1.5) * chain.reach)
    bound = least_error(chain.rest_pose(), target)
    for _ in range(50):
        assert distance(random_pose(chain, random), target) >= bound - 1e-5


def test_the_pose_nearest_to_a_place_out_of_reach_does_not_hang_on_the_seed(long):
    apart = []
    for number in range(12 if long else 5):
        random, chain = Random(number), limited(number, 3)
        target = Point(random_direction(random) * 1.3 * chain.reach)
        errors = [solve(chain.rest_pose(), target, seed=seed).error / chain.reach for seed in range(3)]
        apart.append(errors[0] - min(errors))
    assert max(apart) < 1e-3

# SPDX-License-Identifier: GPL-3.0-or-later
"""Finish leaves the best pose it saw, inside the limits, and knows from the lengths what no pose can do."""

from random import Random

import pytest

from ik_triangulation.goals import Point, Sphere
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

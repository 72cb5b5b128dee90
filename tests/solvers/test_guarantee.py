# SPDX-License-Identifier: GPL-3.0-or-later
"""With finish every solver reaches what can be reached, and comes as near to the rest as can be.

Reachable places of limited chains are made by forward kinematics of poses within the limits. In single precision places
are known to 1e-5 of the reach, and a chain that is a millionth too short is still bent by the square root of that: so
it is the distance that is left that is compared, not the bend.
"""

from random import Random

import pytest
from hypothesis import given, note
from hypothesis import strategies as st
from mathutils import Vector

from ik_triangulation.goals import Point
from ik_triangulation.kinematics import Free, Hinge
from ik_triangulation.kinematics.rotation import angle_between
from ik_triangulation.solvers import solve
from ik_triangulation.solvers.finish import perturb

from ..chains import GENERAL, hinged, limited, mixed, random_chain, random_cone, random_pose, straight
from ..strategies import chains, directions, examples, place_within_limits, seeds
from .reaching import optimum

CLOSE = 1e-5  # of the reach
CASES = 5, 40  # of each kind of chain, for each solver, in the short and in the long form
SHARES = st.sampled_from((0.0, 1.0, 1.0 - 1e-6, 1.0 + 1e-6)) | st.floats(0.0, 3.0)
free_chains = chains(st.just(Free()))


def coned(seed, links, ratio=1.0):
    """A random chain of swing cones."""
    random = Random(seed)
    return random_chain(seed, links, ratio, [random_cone(random) for _ in range(links)])


@given(chain=free_chains, seed=seeds, along=directions, share=SHARES)
@examples(24)
def test_a_free_chain_comes_as_near_as_its_lengths_allow(chain, seed, along, share):
    """Reaches all there is between its inner and outer radius, both edges included; else it is off by no more."""
    pose, distance = random_pose(chain, Random(seed)), share * chain.reach
    least = optimum(chain, distance)
    for solver in GENERAL:
        note(solver)
        solution = solve(pose, Point(pose.head(0) + along * distance), solver=solver, tolerance=CLOSE * chain.reach)
        assert solution.reached or least > CLOSE * chain.reach * 0.9
        assert abs(solution.error - least) <= 2.0 * CLOSE * chain.reach


@given(chain=free_chains, seed=seeds, along=directions, share=st.floats(1.1, 10.0))
@examples(15)
def test_a_free_chain_is_stretched_straight_at_what_is_too_far(chain, seed, along, share):
    pose = random_pose(chain, Random(seed))
    target, tolerance = Point(pose.head(0) + along * share * chain.reach), CLOSE * chain.reach
    for solver in GENERAL:
        note(solver)
        solution = solve(pose, target, solver=solver, tolerance=tolerance)
        assert not solution.reached
        assert angle_between(solution.pose.tip - solution.pose.head(0), along) < 0.01


@pytest.mark.parametrize("links", [16, 64])
@pytest.mark.parametrize("ratio", [1.0, 1e4])
def test_long_free_chains_reach(links, ratio):
    random = Random(f"{links} {ratio}")
    for seed in range(10):
        chain = random_chain(seed, links, ratio)
        start, there = random_pose(chain, random), random_pose(chain, random)
        assert solve(start, Point(there.tip), tolerance=CLOSE * chain.reach).reached


@pytest.mark.parametrize("solver", GENERAL)
def test_limited_chains_reach_what_their_limits_allow(solver, long):
    """Hinges, Euler limits, cones and all kinds mixed. At least 99.95 % are wanted; of these cases that is all."""
    missed = []
    for make in (hinged, limited, coned, mixed):
        for seed in range(CASES[long]):
            random = Random(f"{make.__name__} {seed}")
            chain = make(seed, random.randint(2, 8), 3.0)
            start = random_pose(chain, random)
            start.project()
            target = Point(place_within_limits(start, random))
            solution = solve(start, target, solver=solver, tolerance=1e-3 * chain.reach, seed=seed)
            missed += [] if solution.reached else [(make.__name__, seed, solution.error / chain.reach)]
    assert not missed


@pytest.mark.parametrize("share", [0.25, 0.5, 0.75, 1.0])
def test_restarts_begin_at_unit_quaternions_within_the_limits(share):
    """Also between rotations that are nearly the same, where mathutils interpolates along the chord."""
    hinge = Hinge(Vector((1.0, 0.0, 0.0)), 0.0, 0.028)
    for seed in range(200):
        pose = straight((1.0,), [hinge]).rest_pose()
        perturb(pose, Random(seed), share)
        assert abs(pose.rotations[0].magnitude - 1.0) < 5e-7
        assert hinge.nearest(pose.rotations[0]) is pose.rotations[0]

# SPDX-License-Identifier: GPL-3.0-or-later
"""A result does not depend on where the rig stands, how it is turned, its size, or left and right.

Sizes by powers of two change no digit, so the rotations are the same bit by bit. Everything else is rounded to single
precision, and what a rounding decides differently (a joint at the end of its range, a tie) grows from step to step: so
poses are compared after one step, and of limited chains the distance that is left. Starts are random and not special
poses, whose ties may be decided either way.
"""

from math import hypot, ldexp
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st
from mathutils import Quaternion, Vector

from ik_triangulation.goals import Point
from ik_triangulation.kinematics import Chain, Cone, EulerLimits, Hinge, Joint, Pose
from ik_triangulation.kinematics.rotation import rotation_angle
from ik_triangulation.solvers import SOLVERS, solve

from ..chains import GENERAL, bits, limited, mixed, random_base, random_chain, random_direction, random_pose
from ..strategies import examples, seeds

every_solver = pytest.mark.parametrize("solver", GENERAL)
every_finish = pytest.mark.parametrize("finished", [False, True], ids=["plain", "finished"])
POSITIVE_FIRST = {"SIMPLEX", "ROSENBROCK"}  # try positive angles first, which in a mirror are negative ones
makes = st.sampled_from((random_chain, limited, mixed))
links = st.integers(1, 6)


def scene(chain, seed):
    """A start within the limits and a place, mostly within reach."""
    random = Random(seed)
    pose = random_pose(chain, random)
    pose.project()
    return pose, random_direction(random) * (chain.reach * random.uniform(0.1, 1.1))


def scaled(chain, size):
    return Chain([Joint(j.name, j.offset * size, j.rest, j.freedom) for j in chain.joints], chain.tip * size)


@every_solver
@every_finish
@given(make=makes, seed=seeds, links=links, exponent=st.integers(-20, 20))
@examples(10)
def test_a_size_that_is_a_power_of_two_changes_no_bit(solver, finished, make, seed, links, exponent):
    chain, size = make(seed, links, 3.0), ldexp(1.0, exponent)
    pose, target = scene(chain, seed)
    other = Pose(scaled(chain, size), pose.base, pose.rotations)
    here, there = (
        solve(
            start, Point(target * by), solver=solver, tolerance=1e-4 * start.chain.reach, iterations=6, finish=finished
        )
        for start, by in ((pose, 1.0), (other, size))
    )
    assert bits(there.pose.rotations) == bits(here.pose.rotations)
    assert there.error == here.error * size
    assert there.iterations == here.iterations


@every_solver
@given(make=makes, seed=seeds, links=links)
@examples(12)
def test_a_rigid_motion_of_rig_and_target_changes_nothing_that_counts(solver, make, seed, links):
    chain = make(seed, links, 3.0)
    pose, target = scene(chain, seed)
    move = random_base(Random(seed), 3.0 * chain.reach)
    here, there = (
        solve(start, Point(aim), solver=solver, tolerance=1e-6 * chain.reach, iterations=1, finish=False)
        for start, aim in ((pose, target), (Pose(chain, move @ pose.base, pose.rotations), move @ target))
    )
    check_alike(solver, pose, here, there, there.pose.rotations)


@pytest.mark.parametrize("solver", [solver for solver in GENERAL if solver not in POSITIVE_FIRST])
@pytest.mark.parametrize("axis", range(3), ids="xyz")
@given(make=makes, seed=seeds, links=links)
@examples(6)
def test_a_mirrored_rig_is_solved_as_the_mirror_image(solver, axis, make, seed, links):
    chain = make(seed, links, 3.0)
    pose, target = scene(chain, seed)
    image = mirrored(chain, axis)
    start = Pose(image, pose.base, [turned_over(rotation, axis) for rotation in pose.rotations])
    here = solve(pose, Point(target), solver=solver, tolerance=1e-6 * chain.reach, iterations=1, finish=False)
    there = solve(
        start, Point(opposite(target, axis)), solver=solver, tolerance=1e-6 * chain.reach, iterations=1, finish=False
    )
    check_alike(solver, pose, here, there, [turned_over(rotation, axis) for rotation in there.pose.rotations])


def check_alike(solver, start, here, there, rotations):
    chain, is_whole = here.pose.chain, SOLVERS[solver].whole
    if is_whole and not here.reached:
        assert not there.reached  # and it leaves the target to the restarts of `finish`, from wherever it has come to
        return
    assert abs(there.error - here.error) <= 1e-4 * chain.reach
    # Where a target is out of reach the distance, which is all that is minimised, hardly depends on the last turns.
    if is_whole and not chain.limited:  # its last steps go less than a degree: the posture's cost is the same
        turns = [hypot(*map(rotation_angle, found, start.rotations)) for found in (here.pose.rotations, rotations)]
        assert turns[0] == pytest.approx(turns[1], rel=0.1, abs=0.02)
    elif not chain.limited:
        assert max(map(rotation_angle, here.pose.rotations, rotations)) < 2e-3


def opposite(vector, axis):
    """A place or direction seen in a mirror across `axis`."""
    return Vector([-x if i == axis else x for i, x in enumerate(vector)])


def turned_over(rotation, axis):
    """A rotation seen in that mirror: what turns about the axis goes on as before, all else the other way."""
    return Quaternion((rotation.w, *(-opposite(rotation[1:], axis))))


def mirrored(chain, axis):
    """The chain seen in that mirror, with the same letters for its axes."""
    joints = [
        Joint(j.name, opposite(j.offset, axis), turned_over(j.rest, axis), limits_in_mirror(j.freedom, axis))
        for j in chain.joints
    ]
    return Chain(joints, opposite(chain.tip, axis))


def limits_in_mirror(freedom, axis):
    if isinstance(freedom, Hinge):
        return Hinge(-opposite(freedom.axis, axis), freedom.lower, freedom.upper)
    if isinstance(freedom, EulerLimits):
        pairs = zip(freedom.lower, freedom.upper, strict=True)
        ends = [(low, high) if i == axis else (-high, -low) for i, (low, high) in enumerate(pairs)]
        return EulerLimits(freedom.order, *zip(*ends, strict=True))
    if isinstance(freedom, Cone) and axis != 1:
        return Cone(freedom.swing, -freedom.twist_upper, -freedom.twist_lower)
    return freedom

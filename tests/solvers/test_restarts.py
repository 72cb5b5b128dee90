# SPDX-License-Identifier: GPL-3.0-or-later
"""Restarts one by one, for what cannot be solved on arrays: scaled chains and fields."""

from random import Random

import pytest
from mathutils import Vector

from ik_triangulation.goals import Field, Point
from ik_triangulation.kinematics import Chain, Hinge, Joint
from ik_triangulation.solvers import solve
from ik_triangulation.solvers.batch.restarts import NEARBY, ROUNDS
from ik_triangulation.solvers.finish import TRIAL_STEPS, perturb, perturb_best, restart_one_by_one

from ..chains import bits, hinged, limited, mixed, random_pose, straight
from ..strategies import place_within_limits


def scaled(chain, seed):
    """The chain with joints scaled unequally, so that what hangs on them is sheared as they turn."""
    random = Random(seed)
    joints = [
        Joint(j.name, j.offset, j.rest, j.freedom, scale=Vector([random.uniform(0.6, 1.5) for _ in "xyz"]))
        for j in chain.joints
    ]
    return Chain(tuple(joints), chain.tip, chain.tip_rest)


def allowed_pose(chain, random):
    pose = random_pose(chain, random)
    pose.project()
    return pose


@pytest.mark.parametrize("make", [hinged, limited, mixed])
def test_scaled_chains_reach_what_their_limits_allow(make):
    for seed in range(12):
        random, chain = Random(seed), scaled(make(seed, 4), seed)
        start = allowed_pose(chain, random)
        target = Point(place_within_limits(start, random))
        assert solve(start, target, tolerance=1e-3 * chain.reach).reached


def test_a_field_is_followed_from_other_poses_too():
    random, chain = Random(4), hinged(4, 4)
    place = allowed_pose(chain, random).tip
    field = Field(lambda point: place - point)
    assert solve(allowed_pose(chain, random), field, tolerance=1e-3 * chain.reach).reached


def test_the_best_pose_is_left_with_the_turns_that_led_to_it():
    random, chain = Random(1), scaled(limited(1, 4), 1)
    pose = allowed_pose(chain, random)
    target = Point(Vector((0.0, 0.0, 9.0)))
    before = (target.closest(pose.tip) - pose.tip).length
    error, steps = restart_one_by_one(pose, target, 1e-6, 20, random, ROUNDS[:1])
    assert error <= before
    assert error == pytest.approx((target.closest(pose.tip) - pose.tip).length)
    assert 0 < steps <= 20 * ROUNDS[0] * 2
    last = dict(pose.turns)
    assert all(pose.rotations[i] == rotation for i, rotation in last.items())


def test_after_a_try_that_is_near_enough_no_other_one_is_drawn():
    chain, target = straight((1.0,) * 4), Point(Vector((1.0, 1.5, -0.5)))
    for seed in range(8):
        pose, other, random = chain.rest_pose(), chain.rest_pose(), Random(seed)
        error, steps = restart_one_by_one(pose, target, 0.5, 20, random, ROUNDS[:1])
        alone = Random(seed)
        perturb_best(other, lambda other=other: (other.tip - target.location).length, 1.0 / NEARBY, alone)
        assert error <= 0.5
        assert steps <= TRIAL_STEPS
        assert random.getstate() == alone.getstate()


@pytest.mark.parametrize("ends", [0.0, 0.5])
@pytest.mark.parametrize("share", [0.1, 1.0])
def test_a_perturbed_pose_is_inside_its_limits(share, ends):
    random, chain = Random(3), mixed(3, 8)
    pose = allowed_pose(chain, random)
    perturb(pose, random, share, ends)
    for joint, rotation in zip(chain.joints, pose.rotations, strict=True):
        assert joint.freedom.nearest(rotation) is rotation


def test_angles_lie_at_the_ends_of_their_ranges_as_often_as_wanted():
    hinge = Hinge(Vector((1.0, 0.0, 0.0)), -1.0, 2.0)
    chain = straight((1.0,) * 400, [hinge] * 400)
    pose = chain.rest_pose()
    perturb(pose, Random(0), 1.0, 0.5)
    values = [hinge.coordinates(rotation)[0].value for rotation in pose.rotations]
    assert 0.4 < sum(value < -1.0 + 1e-5 or value > 2.0 - 1e-5 for value in values) / 400 < 0.6


def test_of_several_draws_the_best_is_left():
    random, chain = Random(8), hinged(8, 3)
    pose = allowed_pose(chain, random)
    seen = []

    def measure():
        seen.append(pose.tip.z)
        return seen[-1]

    perturb_best(pose, measure, 1.0, random)
    assert pose.tip.z == pytest.approx(min(seen), abs=1e-5)
    assert len(seen) > 4


def test_the_same_random_numbers_give_the_same_pose():
    def run():
        chain = scaled(hinged(2, 3), 2)
        pose = chain.rest_pose()
        pose.project()
        restart_one_by_one(pose, Point((0.2, 0.1, 0.4)), 1e-9, 10, Random(3), (4,))
        return bits(pose.rotations)

    assert run() == run()


def test_the_best_of_the_restarts_go_on_to_the_end():
    """Out of reach each step gains little, so that the first few do not arrive."""
    for seed in range(4):
        chain, errors = limited(seed, 5), []
        for iterations in (TRIAL_STEPS, 60):
            pose = chain.rest_pose()
            errors.append(
                restart_one_by_one(pose, Point((0.0, 3.0 * chain.reach, 0.0)), 0.0, iterations, Random(1), (4,))[0]
            )
        assert errors[1] < errors[0]

# SPDX-License-Identifier: GPL-3.0-or-later
"""Two bones reach in one step what two bones can, in the plane they bend in; other chains are refused."""

from math import pi
from random import Random

import pytest
from mathutils import Quaternion, Vector

from ik_triangulation.errors import ChainError
from ik_triangulation.goals import Point
from ik_triangulation.kinematics import Chain, Free, Hinge, Joint, Locked
from ik_triangulation.kinematics.rotation import about, angle_between, rotation_angle, twist
from ik_triangulation.solvers import solve
from ik_triangulation.solvers.two_bone import bend, step

from ..chains import (
    bits,
    limited,
    random_base,
    random_chain,
    random_direction,
    random_hinge,
    random_limits,
    random_pose,
    straight,
)

X = Vector((1.0, 0.0, 0.0))
ARM = [Free(), Hinge(X, 0.0, 2.8)]


@pytest.mark.parametrize("size", [2.0**-40, 1.0, 2.0**40])
def test_a_free_pair_reaches_what_its_lengths_reach_in_one_step(size):
    random = Random(1)
    for seed in range(100):
        unit = random_chain(seed, 2, 4.0)
        chain = Chain([Joint(j.name, j.offset * size, j.rest, j.freedom) for j in unit.joints], unit.tip * size)
        pose = random_pose(chain, random, random_base(random, size))
        distance = random.uniform(0.0, 1.3) * chain.reach
        aim = pose.head(0) + random_direction(random) * distance
        nearest, farthest = chain.reaches[0]
        step(pose, aim)
        assert (aim - pose.tip).length == pytest.approx(
            max(0.0, distance - farthest, nearest - distance), abs=2e-5 * chain.reach
        )


def test_an_arm_whose_elbow_is_a_hinge_reaches_in_one_step_and_keeps_it_there():
    random, chain = Random(2), straight((1.0, 0.8), ARM)
    for _ in range(200):
        pose = random_pose(chain, random, random_base(random))
        pose.project()
        aim = pose.head(0) + random_direction(random) * random.uniform(0.7, 1.8)
        step(pose, aim)
        assert (aim - pose.tip).length < 2e-5
        angle = twist(pose.rotations[1], X)
        assert -1e-6 <= angle <= 2.8
        assert rotation_angle(about(X, angle), pose.rotations[1]) < 1e-6


def test_the_plane_of_the_bend_is_kept_and_so_is_its_side():
    random = Random(3)
    for seed in range(100):
        pose = random_pose(random_chain(seed, 2), random)
        before = pose.link(0).cross(pose.link(1))
        bend(pose, 0, 1, random.uniform(0.2, 0.9) * pose.chain.reach)
        assert angle_between(before, pose.link(0).cross(pose.link(1))) < 1e-3


def test_a_straight_pair_bends_as_limbs_do():
    for freedoms, way in ((None, 1.0), (ARM, 1.0), ([Free(), Hinge(X, -2.8, 0.0)], -1.0)):
        pose = straight((1.0, 1.0), freedoms).rest_pose()
        step(pose, Vector((0.0, 1.0, 0.0)))
        assert twist(pose.rotations[1], X) * way == pytest.approx(2.0 * pi / 3.0, abs=1e-5)
        assert (pose.tip - Vector((0.0, 1.0, 0.0))).length < 1e-5


def test_an_oblique_hinge_brings_the_tip_as_near_to_the_distance_as_any_angle_would():
    """Beside a thousand angles tried one by one."""
    random = Random(4)
    for seed in range(60):
        hinge = random_hinge(random)
        pose = random_pose(random_chain(seed, 2, 3.0, [Free(), hinge]), random)
        pose.project()
        distance = random.random() * pose.chain.reach

        def missed(at, distance=distance):
            return abs((at.tip - at.head(0)).length - distance)

        tried = pose.copy()
        least = []
        for k in range(1001):
            tried.put(1, about(hinge.axis, hinge.lower + (hinge.upper - hinge.lower) * k / 1000.0))
            least.append(missed(tried))
        bend(pose, 0, 1, distance)
        assert hinge.nearest(pose.rotations[1]) is pose.rotations[1] or (
            rotation_angle(hinge.nearest(pose.rotations[1]), pose.rotations[1]) < 2e-6
        )
        assert missed(pose) < min(least) + 1e-4 * pose.chain.reach


def test_the_smaller_of_two_turns_is_taken():
    random, chain = Random(5), straight((1.0, 1.0), [Free(), Hinge(X)])
    for _ in range(50):
        angle, change = random.choice((-1.0, 1.0)) * random.uniform(0.5, 2.5), random.uniform(-0.4, 0.4)
        pose, there = chain.rest_pose(), chain.rest_pose()
        pose.put(1, about(X, angle))
        there.put(1, about(X, angle + change))
        bend(pose, 0, 1, there.tip.length)
        assert twist(pose.rotations[1], X) == pytest.approx(angle + change, abs=1e-4)


def test_a_limit_stops_the_elbow_and_the_arm_still_points_at_the_aim():
    pose = straight((1.0, 1.0), [Free(), Hinge(X, 0.0, 1.0)]).rest_pose()
    aim = Vector((0.1, 0.2, 0.4))
    step(pose, aim)
    assert twist(pose.rotations[1], X) == pytest.approx(1.0, abs=1e-6)
    assert angle_between(pose.tip, aim) < 1e-5


def test_joints_that_do_not_move_ride_along():
    random = Random(6)
    for seed in range(60):
        freedoms = [Locked(), Free(), Locked(), Free(), Locked()]
        pose = random_pose(random_chain(seed, 5, 2.0, freedoms), random, random_base(random))
        before = pose.copy()
        upper, lower = (pose.head(3) - pose.head(1)).length, (pose.tip - pose.head(3)).length
        distance = random.uniform(abs(upper - lower), upper + lower)
        aim = pose.head(1) + random_direction(random) * distance
        step(pose, aim)
        assert (aim - pose.tip).length < 2e-5 * pose.chain.reach
        assert all(pose.rotations[i] == before.rotations[i] for i in (0, 2, 4))


@pytest.mark.parametrize("make", [lambda seed: random_chain(seed, 2, 3.0), lambda seed: limited(seed, 2, 3.0)])
def test_solving_promises_what_it_does_for_every_solver(make):
    """Never farther than the start, limits kept, finished everything in reach, the same bits each time."""
    random = Random(7)
    for seed in range(40):
        there, start = random_pose(make(seed), random), random_pose(make(seed), random)
        there.project()
        start.project()
        target, tolerance = Point(there.tip), 1e-3 * start.chain.reach
        bare = solve(start, target, solver="TWO_BONE", tolerance=tolerance, finish=False)
        assert bare.error <= (start.tip - there.tip).length + 1e-6
        for joint, rotation in zip(start.chain.joints, bare.pose.rotations, strict=True):
            assert rotation_angle(joint.freedom.nearest(rotation), rotation) < 2e-6
        done, again = (solve(start, target, solver="TWO_BONE", tolerance=tolerance) for _ in range(2))
        assert done.reached
        assert bits(done.pose.rotations) == bits(again.pose.rotations)


@pytest.mark.parametrize("links", [(1.0, 1.0), (1.0, 0.0), (0.0, 1.0), (5.0, 1.0)])
def test_degenerate_places_give_a_finite_pose(links):
    chain = straight(links)
    for y in (0.0, 1.0, 0.5, -1.0, 99.0, 1e-12):
        pose = chain.rest_pose()
        step(pose, Vector((0.0, y, 0.0)))
        nearest, farthest = chain.reaches[0]
        assert (pose.tip - Vector((0.0, y, 0.0))).length <= max(0.0, abs(y) - farthest, nearest - abs(y)) + 2e-3


@pytest.mark.parametrize(
    ("freedoms", "moving"),
    [([Free()], 1), ([Free()] * 3, 3), ([Locked(), Free()], 1), ([Locked()] * 2, 0), ([Free()] * 3 + [Locked()], 3)],
)
def test_chains_in_which_not_two_joints_move_are_refused_with_the_remedy(freedoms, moving):
    pose = straight((1.0,) * len(freedoms), freedoms).rest_pose()
    before = bits(pose.rotations)
    with pytest.raises(ChainError, match=rf"two joints move, here {moving} of {len(freedoms)} do.*Choose two bones"):
        solve(pose, Point((0.3, 0.4, 0.5)), solver="TWO_BONE")
    assert bits(pose.rotations) == before


def test_limits_of_every_kind_are_kept_at_both_joints():
    random = Random(8)
    for seed in range(60):
        freedoms = [random.choice((random_hinge, random_limits))(random) for _ in range(2)]
        pose = random_pose(random_chain(seed, 2, 3.0, freedoms), random)
        pose.project()
        step(pose, random_direction(random) * pose.chain.reach * random.random())
        for freedom, rotation in zip(freedoms, pose.rotations, strict=True):
            assert rotation_angle(freedom.nearest(rotation), rotation) < 2e-6
            assert Quaternion(rotation).magnitude == pytest.approx(1.0, abs=1e-6)


def test_a_hinge_along_its_own_bone_cannot_bend_the_arm_and_is_left():
    pose = straight((1.0, 1.0), [Free(), Hinge(Vector((0.0, 1.0, 0.0)), -1.0, 1.0)]).rest_pose()
    step(pose, Vector((0.5, 0.0, 0.2)))
    assert pose.rotations[1] == Quaternion()
    assert pose.tip.angle(Vector((0.5, 0.0, 0.2))) < 1e-5

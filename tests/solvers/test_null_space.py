# SPDX-License-Identifier: GPL-3.0-or-later
"""Soft goals are optimised in the null space of the tip."""

from math import radians
from random import Random

import pytest
from mathutils import Matrix, Vector

from ik_triangulation.goals import Box, Direction, Line, Orientation, Plane, Point, Ring, Sphere, Transformed
from ik_triangulation.goals.goal import soft_cost
from ik_triangulation.kinematics import Hinge, Locked
from ik_triangulation.kinematics.rotation import about, rotation_angle
from ik_triangulation.solvers import solve
from ik_triangulation.solvers.null_space import optimise

from ..chains import (
    bits,
    limited,
    random_chain,
    random_direction,
    random_rotation,
    straight,
)
from ..goals.soft_goals import (
    BONE,
    SAME,
    allowed,
    arm,
    assert_inside,
    assert_optimising_keeps_tip_and_limits,
    error_of,
    every_kind,
    poses,
    some_soft,
)


@every_kind
def test_the_cost_never_rises_and_the_tip_stays_and_the_limits_hold(make, long):
    for random, pose in poses(make, 6, count=5 if long else 1):
        soft = some_soft(random, pose)
        assert_optimising_keeps_tip_and_limits(pose, soft, random)
        assert all(abs(rotation.magnitude - 1.0) < 1e-6 for rotation in pose.rotations)


@every_kind
def test_a_tip_out_of_tolerance_is_not_moved_farther_away(make, long):
    for random, pose in poses(make, 7, count=8 if long else 4):
        soft = some_soft(random, pose)
        target = Point(pose.tip + random_direction(random) * 0.3 * pose.chain.reach)
        before, cost = error_of(pose, target), soft_cost(pose, soft)
        optimise(pose, target, soft, 1e-3 * pose.chain.reach)
        assert error_of(pose, target) <= before
        assert soft_cost(pose, soft) <= cost * SAME


ALONG = {
    "plane": lambda place, way: Plane(place, way),
    "line": lambda place, way: Line(place, way),
    "sphere": lambda place, way: Sphere(place + way * 0.5, 0.5),
    "box": lambda place, way: Box(Matrix.Translation(place + way * 0.3) @ Matrix.Scale(0.4, 4)),
    "squashed ring": lambda place, way: Transformed(
        Ring(Vector(), Vector((0.0, 1.0, 0.0)), 0.5),
        Matrix.Translation(place - Vector((1.0, 0.0, 0.0))) @ Matrix.Diagonal((2.0, 1.0, 1.0, 1.0)),
    ),
}


@pytest.mark.parametrize("kind", ALONG)
def test_on_a_target_of_more_than_one_place_the_tip_slides_to_where_more_is_met(kind):
    random = Random(10)
    chain, met = arm(), 0
    for _ in range(8):
        goal, start = allowed(chain, random), allowed(chain, random)
        target = ALONG[kind](goal.tip, random_direction(random))
        wish = Orientation(goal.tip_rotation)
        solution = solve(start, target, tolerance=1e-3, soft=[wish])
        assert solution.reached
        assert_inside(solution.pose)
        met += wish.missing(solution.pose) < radians(0.1)
    assert met >= 7


def test_what_is_met_already_is_left_bit_by_bit():
    random = Random(13)
    for _ in range(10):
        pose = allowed(random_chain(random.randrange(99), 4), random)
        solution = solve(pose, Point(pose.tip), soft=[Orientation(pose.tip_rotation)])
        assert bits(solution.pose.rotations) == bits(pose.rotations)


def test_the_work_is_bounded():
    random = Random(14)
    for _ in range(2):
        pose = allowed(limited(random.randrange(99), 5), random)
        solution = solve(pose, Point(random_direction(random) * 9.0), soft=some_soft(random, pose))
        assert solution.iterations < 8000


def test_following_a_goal_does_not_jump_to_another_branch():
    """A wish that would be met better from afar is met from where the pose is, a small step at a time."""
    random = Random(23)
    for _ in range(3):
        chain = arm()
        pose, towards = allowed(chain, random), random_rotation(random)
        pose = solve(pose, Point(pose.tip), soft=[Orientation(towards)], follow=True).pose
        for number in range(12):
            target = Point(pose.tip + Vector((0.0, 0.003, 0.002)))
            wish = Orientation(about(Vector((0.0, 0.0, 1.0)), 0.01 * number) @ towards)
            solution = solve(pose, target, tolerance=1e-3, soft=[wish], follow=True)
            assert max(map(rotation_angle, pose.rotations, solution.pose.rotations)) < 0.5
            pose = solution.pose


def test_a_wish_that_cannot_be_met_from_here_is_looked_for_afar_only_when_not_following():
    """Bent the wrong way: the joint's limits stand between the pose and the other one that reaches."""
    elbow = Hinge(Vector((1.0, 0.0, 0.0)), -2.0, 2.0)
    chain = straight((1.0, 1.0), [Hinge(Vector((1.0, 0.0, 0.0)), -2.0, 2.0), elbow])
    start = chain.rest_pose()
    start.put(0, about(Vector((1.0, 0.0, 0.0)), -0.6))
    start.put(1, about(Vector((1.0, 0.0, 0.0)), 1.2))
    target, wish = Point(start.tip), Direction(about(Vector((1.0, 0.0, 0.0)), -0.6) @ BONE)
    near_by = solve(start, target, tolerance=1e-4, soft=[wish], follow=True)
    afar = solve(start, target, tolerance=1e-4, soft=[wish])
    assert wish.missing(near_by.pose) == pytest.approx(1.2, abs=1e-2)
    assert wish.missing(afar.pose) < 1e-2
    assert near_by.reached
    assert afar.reached


def test_place_and_orientation_that_an_arm_can_meet_together_are_met():
    """Six hinges with ranges that leave out a part of the circle, from the middle of them."""
    axes = [Vector(axis) for axis in ((0, 1, 0), (1, 0, 0), (1, 0, 0), (0, 1, 0), (1, 0, 0), (0, 1, 0))]
    hinges = [Hinge(axis, -width, width) for axis, width in zip(axes, (2.9, 1.9, 2.5, 2.9, 2.0, 3.0), strict=True)]
    chain, random = straight((0.3, 0.4, 0.05, 0.35, 0.1, 0.1), hinges), Random(6)
    for _ in range(25):
        there = allowed(chain, random)
        wish = Orientation(there.tip_rotation)
        solution = solve(chain.rest_pose(), Point(there.tip), tolerance=1e-3, soft=[wish])
        assert solution.reached
        assert wish.missing(solution.pose) < radians(0.1)
        assert_inside(solution.pose)


def test_a_chain_that_cannot_move_takes_no_step():
    pose = straight((1.0, 1.0), [Locked(), Locked()]).rest_pose()
    before = bits(pose.rotations)
    assert optimise(pose, Point(pose.tip), [Direction(Vector((1.0, 0.0, 0.0)))], 1e-3) == 0
    assert bits(pose.rotations) == before

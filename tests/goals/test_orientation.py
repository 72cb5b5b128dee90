# SPDX-License-Identifier: GPL-3.0-or-later
"""The end effector is oriented, or an axis of it points along a direction."""

from math import pi, radians
from random import Random

import pytest
from mathutils import Vector

from ik_triangulation.goals import Direction, Orientation, Point
from ik_triangulation.goals.goal import soft_cost
from ik_triangulation.kinematics import Chain, Joint
from ik_triangulation.kinematics.rotation import about, angle_between
from ik_triangulation.solvers import solve

from ..chains import (
    random_chain,
    random_direction,
    random_pose,
    straight,
)
from .soft_goals import (
    BONE,
    allowed,
    arm,
    assert_inside,
    assert_rows_are_finite_differences,
    every_kind,
    near,
    poses,
)


@every_kind
def test_rows_of_an_orientation_nearly_met_are_finite_differences(make):
    """Far from it the numbers are an axis times a long angle, of which only the cost has so simple a derivative."""
    for random, pose in poses(make, 1, least=1):
        assert_rows_are_finite_differences(pose, Orientation(near(pose.tip_rotation, random, 1e-3), 0.7))


@every_kind
def test_rows_of_a_direction_nearly_met_are_finite_differences(make):
    for random, pose in poses(make, 2, least=1):
        axis = random_direction(random)
        towards = near(pose.tip_rotation, random, 1e-3) @ axis
        assert_rows_are_finite_differences(pose, Direction(towards * 3.0, axis, 0.7))


def test_a_mirrored_bone_points_where_its_tail_is():
    """A mirrored frame has no rotation: the one that is used instead keeps the bone's own axis."""
    for scale in ((-1.0, 1.0, 1.0), (1.0, -1.0, 1.0), (1.0, 1.0, -1.0), (-1.0, -1.0, -1.0), (1.0, 2.0, 0.5)):
        chain = straight((1.0, 1.0))
        last = chain.joints[1]
        chain = Chain((chain.joints[0], Joint("last", last.offset, last.rest, last.freedom, scale=scale)), chain.tip)
        pose = random_pose(chain, Random(1))
        assert angle_between(pose.tip_rotation @ BONE, pose.tip - pose.head(1)) < 1e-6


@pytest.mark.parametrize(
    ("make", "cases"),
    [(lambda random: arm(), 60), (lambda random: random_chain(random.randrange(999), random.randint(3, 6), 2.0), 40)],
    ids=["limited arm of seven degrees of freedom", "free chains"],
)
def test_a_goal_made_by_forward_kinematics_is_reached_in_place_and_orientation(make, cases):
    random = Random(15)
    met = 0
    for _ in range(cases):
        chain = make(random)
        goal, start = allowed(chain, random), allowed(chain, random)
        wish = Orientation(goal.tip_rotation)
        solution = solve(start, Point(goal.tip), tolerance=1e-3 * chain.reach, soft=[wish])
        assert_inside(solution.pose)
        met += solution.reached and wish.missing(solution.pose) < radians(0.1)
    assert met >= 0.99 * cases


def test_a_direction_is_met_whatever_its_length_and_ignores_roll():
    """The chain is twisted about the wish as it was, or as is convenient, and the cost does not change with it."""
    random = Random(18)
    for _ in range(15):
        chain = straight((1.0, 0.9, 0.4))
        goal, start = allowed(chain, random), allowed(chain, random)
        wish = Direction((goal.tip_rotation @ BONE) * 10.0 ** random.uniform(-3.0, 3.0))
        solution = solve(start, Point(goal.tip), tolerance=1e-3 * chain.reach, soft=[wish])
        assert solution.reached
        assert wish.missing(solution.pose) < radians(0.1)
        pose, before = solution.pose, soft_cost(solution.pose, [wish])
        pose.turn(2, about((pose.tip_rotation @ BONE).normalized(), random.uniform(-3.0, 3.0)))
        assert soft_cost(pose, [wish]) == pytest.approx(before, abs=1e-6)


def test_another_axis_of_the_tip_can_be_pointed():
    random = Random(19)
    for _ in range(8):
        chain = straight((1.0, 0.9, 0.4))
        wish = Direction(random_direction(random), Vector((0.0, 0.0, 1.0)))
        solution = solve(allowed(chain, random), Point(random_direction(random)), soft=[wish])
        assert solution.reached
        assert angle_between(solution.pose.tip_rotation @ Vector((0.0, 0.0, 1.0)), wish.direction) < radians(0.1)


def test_a_tip_that_points_the_other_way_is_turned_round():
    chain = straight((1.0, 0.9, 0.4))
    start = solve(chain.rest_pose(), Point(Vector((0.5, 1.2, 0.3)))).pose
    for wish in (
        Direction(-(start.tip_rotation @ BONE)),
        Orientation(about(start.tip_rotation @ Vector((0.0, 0.0, 1.0)), pi) @ start.tip_rotation),
    ):
        solution = solve(start, Point(start.tip), soft=[wish])
        assert solution.reached
        assert wish.missing(solution.pose) < radians(0.1)

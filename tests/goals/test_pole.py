# SPDX-License-Identifier: GPL-3.0-or-later
"""A pole decides to which side a chain bends."""

from math import pi, radians
from random import Random

import numpy as np
import pytest
from mathutils import Matrix, Vector

from ik_triangulation.goals import Point, Pole
from ik_triangulation.kinematics import EulerLimits, Hinge, Pose
from ik_triangulation.kinematics.rotation import about
from ik_triangulation.solvers import solve
from ik_triangulation.solvers.jacobian import apply_changes

from ..chains import (
    bits,
    random_base,
    random_chain,
    random_direction,
    straight,
)
from ..solvers.test_symmetry import scaled
from .soft_goals import (
    BONE,
    TRIAL,
    allowed,
    assert_inside,
    bend_off,
    every_kind,
    poses,
    turns_of,
)


@every_kind
def test_the_row_of_a_pole_is_the_finite_difference_where_the_tip_stays(make):
    """It is meant for steps that keep the tip: of these, some combinations of all coordinates, it says the change."""
    compared = 0
    for random, pose in poses(make, 4, count=25, least=3):
        pose = allowed(pose.chain, random, pose.base)
        joints, columns, turns = turns_of(pose)
        tip = np.array([column[:3] for column in columns]).T
        _, sizes, ways = np.linalg.svd(tip) if columns else (None, (), ())
        still = ways[int(np.sum(np.array(sizes) > 1e-4 * pose.chain.reach)) :]
        soft = Pole(pose.head(0) + random_direction(random) * pose.chain.reach, random.uniform(-1.0, 1.0), 0.9)
        rows = list(soft.residuals(pose, turns))
        for way in still:
            room = [(min(-c.least, c.most), abs(step)) for c, step in zip(columns, way, strict=True)]
            if not rows or any(bound < TRIAL * step for bound, step in room):
                continue
            ends = []
            for sign in (0.5 * TRIAL, -0.5 * TRIAL):
                there = pose.copy()
                apply_changes(there, joints, [sign * step for step in way])
                ends.append(next(soft.residuals(there, ()))[0])
            if abs(ends[0] - ends[1]) > 1.0:  # half way round, where the angle changes its sign
                continue
            assert np.dot(rows[0][1], way) == pytest.approx((ends[0] - ends[1]) / TRIAL, abs=2e-2)
            compared += 1
    assert compared >= 10


@pytest.mark.parametrize("angle", [0.0, 1.0, -2.5, pi, 7.0])
@pytest.mark.parametrize("links", [2, 3, 5])
def test_a_pole_turns_the_bend_towards_it(links, angle):
    random, compared = Random(20), 0
    for _ in range(4):
        chain = random_chain(random.randrange(99), links)
        base = random_base(random)
        start = allowed(chain, random, base)
        target = start.head(0) + random_direction(random) * 0.6 * chain.reach
        pole = start.head(0) + random_direction(random) * 5.0
        solution = solve(start, Point(target), tolerance=1e-3, soft=[Pole(pole, angle)])
        without = solve(start, Point(target), tolerance=1e-3)
        if not without.reached:
            continue
        assert solution.reached
        assert bend_off(solution.pose, pole, angle) < radians(0.5)
        compared += 1
    assert compared == 4


def test_a_pole_behind_the_limits_is_approached_as_far_as_they_allow():
    """The shoulder cannot roll farther than the limit, so that is how far the bend goes round."""
    chain = straight(
        (1.0, 1.0), [EulerLimits("XZY", (-1.5, -0.5, 0.0), (1.5, 0.5, 0.0)), Hinge(Vector((1.0, 0.0, 0.0)), 0.0, 2.5)]
    )
    start = chain.rest_pose()
    start.put(1, about(Vector((1.0, 0.0, 0.0)), 1.2))
    start.swing(0, start.tip, BONE)
    target, reached = Point(Vector((0.0, start.tip.length, 0.0))), []
    ahead = Vector(start.head(1))
    ahead = ahead - BONE * ahead.dot(BONE)
    for away in (0.3, 1.5, 2.5):
        pole = about(BONE, away) @ ahead * 4.0
        before = bend_off(start, pole)
        solution = solve(start, target, tolerance=1e-4, soft=[Pole(pole)])
        assert solution.reached
        assert_inside(solution.pose)
        assert bend_off(solution.pose, pole) < before
        reached.append(bend_off(solution.pose, ahead))
    assert reached == pytest.approx([0.3, 0.5, 0.5], abs=2e-2)


@pytest.mark.parametrize("where", ["straight chain", "pole on the line", "pole at the root", "tip at the root"])
def test_a_pole_that_says_nothing_changes_nothing(where):
    chain = straight((1.0, 1.0, 1.0))
    pose = chain.rest_pose()
    pole = Vector((5.0, 1.0, 0.0))
    if where != "straight chain":
        for i, angle in enumerate(
            (0.6, -1.5, 0.9) if where != "tip at the root" else (0.0, 2.0 * pi / 3, 2.0 * pi / 3)
        ):
            pose.put(i, about(Vector((1.0, 0.0, 0.0)), angle))
    if where == "pole on the line":
        pole = pose.tip * 2.0
    if where == "pole at the root":
        pole = pose.head(0)
    assert list(Pole(pole).residuals(pose, turns_of(pose)[2])) == []
    solution = solve(pose, Point(pose.tip), tolerance=1e-3, soft=[Pole(pole)])
    assert bits(solution.pose.rotations) == bits(pose.rotations)


def test_a_pole_bends_no_chain_that_has_to_be_straight():
    chain = straight((1.0, 1.0))
    for target in (Vector((0.0, 2.0, 0.0)), Vector((0.0, 0.0, 9.0))):
        solution = solve(chain.rest_pose(), Point(target), tolerance=1e-3, soft=[Pole(Vector((3.0, 0.0, 0.0)))])
        assert solution.error <= max(1e-3, target.length - 2.0 + 1e-5)


@pytest.mark.parametrize("size", [2.0**-14, 2.0**14])
def test_a_pole_asks_for_the_same_turn_of_a_chain_of_any_size(size):
    for random, pose in poses(random_chain, 5, count=10, least=3):
        away = random_direction(random) * pose.chain.reach
        pose, other = (Pose(scaled(pose.chain, by), Matrix.Identity(4), pose.rotations) for by in (1.0, size))
        wanted, found = (
            list(Pole(each.head(0) + away * by, 0.3).residuals(each, turns_of(each)[2]))
            for each, by in ((pose, 1.0), (other, size))
        )
        assert [value for value, _ in found] == pytest.approx([value for value, _ in wanted], abs=1e-3)
        assert len(wanted) == 1

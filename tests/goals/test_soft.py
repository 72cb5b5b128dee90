# SPDX-License-Identifier: GPL-3.0-or-later
"""Soft constraints: what reaching and the limits leave open is used for them, and nothing else is given up for them."""

from itertools import product
from math import inf, nan, pi, radians
from random import Random

import numpy as np
import pytest
from mathutils import Matrix, Quaternion, Vector

from ik_triangulation.errors import SettingError
from ik_triangulation.goals import Avoid, Ball, Direction, Effort, Near, Orientation, Point, Pole
from ik_triangulation.goals.goal import ranked, soft_cost
from ik_triangulation.kinematics import Chain, Joint, Pose
from ik_triangulation.kinematics.rotation import about, rotation_angle
from ik_triangulation.solvers import solve
from ik_triangulation.solvers.jacobian import apply_changes

from ..chains import (
    GENERAL,
    bits,
    mixed,
    random_base,
    random_chain,
    random_direction,
    random_pose,
    random_rotation,
    straight,
)
from .soft_goals import (
    BONE,
    KINDS,
    SAME,
    TRIAL,
    allowed,
    arm,
    assert_inside,
    assert_rows_are_finite_differences,
    bend_off,
    every_kind,
    near,
    poses,
    some_soft,
    turns_of,
)


def slope(pose, soft, n, joints, columns):
    """Finite difference of the cost."""
    ends = []
    for way in (TRIAL, -TRIAL):
        there = pose.copy()
        apply_changes(there, joints, [way * (k == n) for k in range(len(columns))])
        ends.append(soft_cost(there, [soft]))
    return (ends[0] - ends[1]) / (2.0 * TRIAL)


@every_kind
@pytest.mark.parametrize("kind", ["orientation", "direction"])
def test_the_cost_falls_as_the_rows_say_wherever_the_tip_points(make, kind):
    """The gradient of the cost is the product of numbers and derivatives also far from being met."""
    for random, pose in poses(make, 3, least=1):
        away = near(pose.tip_rotation, random, random.uniform(0.0, 2.5))
        axis = random_direction(random)
        soft = Orientation(away, 0.8) if kind == "orientation" else Direction(away @ axis, axis, 0.8)
        joints, columns, turns = turns_of(pose)
        rows = list(soft.residuals(pose, turns))
        for n, column in enumerate(columns):
            if min(-column.least, column.most) > TRIAL:
                gradient = sum(number * row[n] for number, row in rows)
                assert gradient == pytest.approx(slope(pose, soft, n, joints, columns), abs=4e-3)


@pytest.mark.parametrize("scale", [(2.0, 2.0, 2.0), (-1.0, 1.0, 1.0), (1.0, -1.5, -1.5)])
def test_rows_of_scaled_and_mirrored_chains_are_finite_differences(scale):
    """Where scales are alike but for signs, frames turn rigidly; what is sheared has no such derivative."""
    for random, pose in poses(random_chain, 5, count=6, least=1):
        scaled = Chain(
            [Joint(j.name, j.offset, j.rest, j.freedom, scale=Vector(scale)) for j in pose.chain.joints], pose.chain.tip
        )
        if abs(scale[0]) != abs(scale[1]):
            scaled = Chain([*pose.chain.joints[:-1], scaled.joints[-1]], pose.chain.tip)
        pose = random_pose(scaled, random)
        assert_rows_are_finite_differences(pose, Orientation(near(pose.tip_rotation, random, 1e-3)))
        assert_rows_are_finite_differences(pose, Direction(near(pose.tip_rotation, random, 1e-3) @ BONE))


@every_kind
@pytest.mark.parametrize("far", [0.7, 3.0], ids=["within reach", "out of reach"])
def test_what_is_reached_and_how_near_the_rest_comes_does_not_depend_on_soft_constraints(make, far, long):
    for random, pose in poses(make, 8, count=2 if long else 1):
        target = Point(pose.head(0) + random_direction(random) * far * pose.chain.reach)
        tolerance = 1e-3 * pose.chain.reach
        without = solve(pose, target, tolerance=tolerance)
        asked = solve(pose, target, tolerance=tolerance, soft=some_soft(random, pose))
        assert asked.reached == without.reached
        assert asked.error <= max(tolerance, without.error + 2e-6 * pose.chain.reach)
        assert_inside(asked.pose)


@pytest.mark.parametrize("solver", GENERAL)
def test_every_solver_leaves_them_to_be_met_and_reaches(solver):
    random = Random(9)
    chain = straight((1.0, 0.8, 0.6, 0.4))
    for _ in range(2):
        goal = allowed(chain, random)
        soft = [Orientation(goal.tip_rotation)]
        solution = solve(chain.rest_pose(), Point(goal.tip), solver=solver, tolerance=1e-3, soft=soft)
        assert solution.reached
        assert soft[0].missing(solution.pose) < radians(0.1)


def test_the_bare_solver_ignores_them():
    random = Random(11)
    for _ in range(10):
        pose = allowed(random_chain(random.randrange(99), 4), random)
        target = Point(random_direction(random) * 2.0)
        soft = some_soft(random, pose)
        bare, asked = (solve(pose, target, finish=False, soft=wish) for wish in ((), soft))
        assert bits(bare.pose.rotations) == bits(asked.pose.rotations)
        assert (bare.error, bare.iterations) == (asked.error, asked.iterations)


@pytest.mark.parametrize("make", [mixed, *(pytest.param(each, marks=pytest.mark.long) for each in KINDS[:-1])])
def test_the_same_arguments_give_the_same_bits(make):
    for random, pose in poses(make, 12, count=1):
        target, soft = Point(allowed(pose.chain, random, pose.base).tip), some_soft(random, pose)
        once, again = (solve(pose, target, soft=soft, seed=5) for _ in range(2))
        assert bits(once.pose.rotations) == bits(again.pose.rotations)
        assert once.iterations == again.iterations


def test_a_base_and_a_tip_that_are_turned_are_no_different():
    random = Random(16)
    for _ in range(8):
        joints = arm().joints
        chain = Chain(joints, Vector((0.1, 0.4, 0.2)), random_rotation(random))
        base = random_base(random)
        goal, start = (allowed(chain, random, base) for _ in range(2))
        wish = Orientation(goal.tip_rotation)
        solution = solve(start, Point(goal.tip), tolerance=1e-3 * chain.reach, soft=[wish])
        assert solution.reached
        assert wish.missing(solution.pose) < radians(0.1)


@pytest.mark.parametrize("size", [1e-3, 1e3])
def test_no_size_is_too_small_or_too_large(size):
    random = Random(17)
    for _ in range(6):
        chain = straight([size * length for length in (1.0, 0.9, 0.4)], [j.freedom for j in arm().joints])
        goal, start = allowed(chain, random), allowed(chain, random)
        soft = [Orientation(goal.tip_rotation), Pole(goal.head(1) * 2.0, weight=1e-3)]
        solution = solve(start, Point(goal.tip), tolerance=1e-3 * chain.reach, soft=soft)
        assert solution.reached
        assert soft[0].missing(solution.pose) < radians(1.0)


def test_a_chain_of_one_joint_has_no_bend_and_no_choice():
    chain = straight((1.0,))
    soft = [Pole(Vector((3.0, 0.0, 0.0))), Direction(Vector((0.0, 0.0, 1.0)))]
    solution = solve(chain.rest_pose(), Point(Vector((0.0, 1.0, 0.0))), soft=soft)
    assert solution.reached


def test_of_two_that_contradict_each_other_the_heavier_is_nearer(long):
    random = Random(21)
    for _ in range(8 if long else 2):
        chain = straight((1.0, 0.9, 0.4))
        start = allowed(chain, random)
        place = Point(random_direction(random) * 1.3)
        first, second = random_rotation(random), random_rotation(random)
        for one, other in ((4.0, 1.0), (1.0, 4.0)):
            wishes = [Orientation(first, one), Orientation(second, other)]
            solution = solve(start, place, tolerance=1e-3, soft=wishes)
            assert solution.reached
            a, b = (wish.missing(solution.pose) for wish in wishes)
            assert (a < b) == (one > other)


def test_a_direction_and_a_pole_that_contradict_each_other_share_by_weight():
    """With two links the bend and the last link's direction are the same choice."""
    chain = straight((1.0, 1.0))
    start, target = chain.rest_pose(), Point(Vector((0.0, 1.2, 0.0)))
    start.put(1, about(Vector((1.0, 0.0, 0.0)), 1.0))
    pole, towards = Vector((5.0, 0.0, 0.0)), Vector((0.0, 0.6, -0.8))  # the last link's way where the bend is at +Z
    off = {}
    for heavy in ("pole", "direction", "pole alone"):
        soft = [Pole(pole, weight=1.0 if heavy == "direction" else 10.0)]
        soft.append(Direction(towards, weight={"pole": 1.0, "direction": 10.0, "pole alone": 0.0}[heavy]))
        solution = solve(start, target, tolerance=1e-4, soft=soft)
        assert solution.reached
        off[heavy] = bend_off(solution.pose, pole), soft[1].missing(solution.pose)
    assert off["pole"][0] < 0.1 < off["direction"][0]
    assert off["direction"][1] < 0.1 < off["pole"][1]
    assert off["pole alone"][0] < 1e-3


def test_no_weight_is_no_wish():
    random = Random(22)
    pose = allowed(straight((1.0, 0.9, 0.4)), random)
    target = Point(random_direction(random))
    soft = [Orientation(random_rotation(random), 0.0), Direction(BONE, weight=0.0), Pole(BONE * 3.0, weight=0.0)]
    without, asked = (solve(pose, target, soft=wish) for wish in ((), soft))
    assert bits(without.pose.rotations) == bits(asked.pose.rotations)


def test_a_goal_that_moves_smoothly_within_the_limits_is_followed_smoothly():
    """Place and orientation of poses between two others, each some hundredths of a radian on."""
    random = Random(24)
    for _ in range(2):
        chain = arm()
        start, end = allowed(chain, random), allowed(chain, random)
        pose, steps, missing = start, [], []
        for number in range(40):
            between = map(Quaternion.slerp, start.rotations, end.rotations, [number / 39.0] * 3)
            goal = Pose(chain, start.base, list(between))
            goal.project()
            wish = Orientation(goal.tip_rotation)
            solution = solve(pose, Point(goal.tip), soft=[wish], follow=True)
            assert solution.reached
            missing.append(wish.missing(solution.pose))
            steps.append(max(map(rotation_angle, pose.rotations, solution.pose.rotations)))
            pose = solution.pose
        assert max(steps) < 0.2
        assert sum(angle < radians(0.1) for angle in missing) >= 36  # the way of the elbow may end at a limit


def test_goals_that_cannot_be_met_rank_below_those_that_can():
    """Whatever can be met keeps its weight; comfort has a hundredth of it beside that, and all of it by itself."""
    random = Random(27)
    pose = allowed(arm(), random)
    comfort = [Effort(-BONE, 0.5), Near([Quaternion()] * 3, 2.0)]
    alone = soft_cost(pose, comfort)
    assert ranked(comfort) == comfort
    for wish in (*some_soft(random, pose), Avoid([Ball(pose.tip, 0.3)], 0.7)):
        beside = ranked([*comfort, wish])
        assert beside[-1] is wish
        assert soft_cost(pose, beside[:-1]) == pytest.approx(alone / 1e4)
        assert ranked(beside) == beside
        _, _, turns = turns_of(pose)
        for plain, lower in zip(comfort, beside, strict=False):
            rows = zip(plain.residuals(pose, turns), lower.residuals(pose, turns), strict=True)
            for (_, row), (_, ranked_row) in rows:
                assert ranked_row == pytest.approx([each / 100.0 for each in row])


@pytest.mark.parametrize("solver", ["NATURAL", "TRIANGULATION", "GAUSS_NEWTON"])
def test_comfort_costs_an_orientation_nothing_that_can_be_seen(solver):
    random = Random(28)
    for _ in range(8):
        chain = arm()
        there, preferred = allowed(chain, random), allowed(chain, random)
        hand, near_by = Orientation(there.tip_rotation), Near(preferred.rotations, 1.0)
        both = [solve(there, Point(there.tip), solver=solver, soft=soft) for soft in ([hand], [hand, near_by])]
        assert all(each.reached for each in both)
        assert hand.missing(both[1].pose) < radians(0.1)
        without, comfortable = (soft_cost(each.pose, [near_by]) for each in both)
        assert comfortable <= without * SAME


BAD = {
    "an orientation that is no number": lambda: Orientation(Quaternion((nan, 0.0, 0.0, 1.0))),
    "an orientation of zero": lambda: Orientation(Quaternion((0.0, 0.0, 0.0, 0.0))),
    "a direction that is no number": lambda: Direction(Vector((inf, 0.0, 0.0))),
    "a direction without length": lambda: Direction(Vector()),
    "an axis without length": lambda: Direction(BONE, Vector()),
    "an axis that is no number": lambda: Direction(BONE, Vector((nan, 0.0, 0.0))),
    "a pole that is nowhere": lambda: Pole(Vector((0.0, nan, 0.0))),
    "an infinite pole angle": lambda: Pole(BONE, inf),
    "a negative weight": lambda: Orientation(Quaternion(), -1.0),
    "a weight that is no number": lambda: Direction(BONE, weight=nan),
    "a weight without end": lambda: Pole(BONE, weight=inf),
}


@pytest.mark.parametrize("what", BAD)
def test_bad_input_is_refused(what):
    with pytest.raises(SettingError, match=r"(Orientation|Direction|Pole|orientation|direction|axis)"):
        BAD[what]()


@pytest.mark.parametrize("links", [1, 2, 4])
def test_degenerate_places_give_a_finite_pose(links, long):
    chain = straight((1.0,) * links)
    targets = (Vector(), Vector((0.0, 1e-9, 0.0)), Vector((0.0, 1e6, 0.0)), chain.rest_pose().tip)
    poles = (Vector(), Vector((0.0, 1.0, 0.0)), Vector((1e-9, 0.0, 0.0)), Vector((1e9, 0.0, 0.0)))
    turned = zip(targets, (*poles[links:], *poles[:links]), strict=True)  # each of both, others for each chain
    for target, pole in product(targets, poles) if long else turned:
        soft = [Pole(pole), Direction(-BONE), Orientation(about(Vector((1.0, 0.0, 0.0)), pi))]
        solution = solve(Pose(chain, Matrix.Identity(4), [Quaternion()] * links), Point(target), soft=soft)
        assert np.isfinite(bits(solution.pose.rotations)).all()

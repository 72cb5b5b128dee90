# SPDX-License-Identifier: GPL-3.0-or-later
"""Soft constraints: what reaching and the limits leave open is used for them, and nothing else is given up for them."""

from math import atan2, inf, nan, pi, radians
from random import Random

import numpy as np
import pytest
from mathutils import Matrix, Quaternion, Vector

from ik_triangulation.errors import SettingError
from ik_triangulation.goals import Box, Direction, Line, Orientation, Plane, Point, Pole, Ring, Sphere, Transformed
from ik_triangulation.goals.soft import JointAxis, soft_cost
from ik_triangulation.kinematics import Chain, EulerLimits, Hinge, Joint, Pose
from ik_triangulation.kinematics.rotation import about, angle_between, rotation_angle
from ik_triangulation.solvers import solve
from ik_triangulation.solvers.jacobian import apply_changes, jacobian
from ik_triangulation.solvers.null_space import _axes, optimise, optimise_from_restarts

from ..chains import (
    GENERAL,
    bits,
    hinged,
    limited,
    mixed,
    random_base,
    random_chain,
    random_cone,
    random_direction,
    random_pose,
    random_rotation,
    straight,
)

TRIAL = 2e-2  # [rad] of finite differences: what single precision can tell apart
SAME = 1.0 + 1e-6  # times as much, which is what a pose that was taken back may differ by
BONE = Vector((0.0, 1.0, 0.0))


def coned(seed, links, ratio=1.0):
    random = Random(seed)
    return random_chain(seed, links, ratio, [random_cone(random) for _ in range(links)])


KINDS = [random_chain, hinged, limited, coned, mixed]
every_kind = pytest.mark.parametrize("make", KINDS)


def poses(make, seed, count=12, least=2):
    random = Random(seed)
    for number in range(count):
        chain = make(number, random.randint(least, 6), 3.0)
        pose = random_pose(chain, random, random_base(random))
        pose.project()
        yield random, pose


def turns_of(pose):
    joints, columns = jacobian(pose)
    turns = [
        JointAxis(i, axis, pose.head(i), weight)
        for i, weight, rotation, _ in joints
        for axis in _axes(pose, i, rotation)
    ]
    return joints, columns, turns


def near(rotation, random, angle):
    return about(random_direction(random), angle) @ rotation


def some_soft(random, pose):
    """One of each kind, anywhere."""
    return [
        Orientation(random_rotation(random), random.uniform(0.1, 2.0)),
        Direction(random_direction(random), random_direction(random), random.uniform(0.1, 2.0)),
        Pole(pose.head(0) + random_direction(random) * pose.chain.reach, random.uniform(-3.0, 3.0), random.random()),
    ]


def assert_inside(pose):
    for joint, rotation in zip(pose.chain.joints, pose.rotations, strict=True):
        assert rotation_angle(joint.freedom.nearest(rotation), rotation) < 2e-6


def allowed(chain, random, base=None):
    """A pose inside the limits."""
    pose = random_pose(chain, random, base)
    for i, joint in enumerate(chain.joints):
        if joint.freedom.moves:
            pose.rotations[i] = joint.freedom.random(random)
    pose = Pose(chain, pose.base, pose.rotations)
    pose.project()
    return pose


def error_of(pose, target):
    return (target.closest(pose.tip) - pose.tip).length


# Derivatives


def assert_rows_are_finite_differences(pose, soft, within=2e-3):
    joints, columns, turns = turns_of(pose)
    rows = list(soft.residuals(pose, turns))
    for n, column in enumerate(columns):
        if min(-column.least, column.most) <= TRIAL:
            continue
        ends = []
        for way in (TRIAL, -TRIAL):
            there = pose.copy()
            apply_changes(there, joints, [way * (k == n) for k in range(len(columns))])
            ends.append([number for number, _ in soft.residuals(there, ())])
        for row, (plus, minus) in enumerate(zip(*ends, strict=True)):
            assert rows[row][1][n] == pytest.approx((plus - minus) / (2.0 * TRIAL), abs=within)


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


def test_a_mirrored_bone_points_where_its_tail_is():
    """A mirrored frame has no rotation: that which is taken for one keeps the bone's own axis."""
    for scale in ((-1.0, 1.0, 1.0), (1.0, -1.0, 1.0), (1.0, 1.0, -1.0), (-1.0, -1.0, -1.0), (1.0, 2.0, 0.5)):
        chain = straight((1.0, 1.0))
        last = chain.joints[1]
        chain = Chain((chain.joints[0], Joint("last", last.offset, last.rest, last.freedom, scale=scale)), chain.tip)
        pose = random_pose(chain, Random(1))
        assert angle_between(pose.tip_rotation @ BONE, pose.tip - pose.head(1)) < 1e-6


# What holds whatever is asked for


@every_kind
def test_the_cost_never_rises_and_the_tip_stays_and_the_limits_hold(make):
    for random, pose in poses(make, 6, count=5):
        soft = some_soft(random, pose)
        target = Point(pose.tip + random_direction(random) * 1e-4 * pose.chain.reach)
        enough = 1e-3 * pose.chain.reach
        before = soft_cost(pose, soft)
        optimise(pose, target, soft, enough)
        settled = soft_cost(pose, soft)
        assert settled <= before * SAME
        assert error_of(pose, target) <= enough
        optimise_from_restarts(pose, target, soft, enough, Random(1))
        assert soft_cost(pose, soft) <= settled * SAME
        assert error_of(pose, target) <= enough
        assert_inside(pose)
        assert all(abs(rotation.magnitude - 1.0) < 1e-6 for rotation in pose.rotations)


@every_kind
def test_a_tip_out_of_tolerance_is_not_moved_farther_away(make):
    for random, pose in poses(make, 7, count=8):
        soft = some_soft(random, pose)
        target = Point(pose.tip + random_direction(random) * 0.3 * pose.chain.reach)
        before, cost = error_of(pose, target), soft_cost(pose, soft)
        optimise(pose, target, soft, 1e-3 * pose.chain.reach)
        assert error_of(pose, target) <= before
        assert soft_cost(pose, soft) <= cost * SAME


@every_kind
@pytest.mark.parametrize("far", [0.7, 3.0], ids=["within reach", "out of reach"])
def test_what_is_reached_and_how_near_the_rest_comes_does_not_depend_on_soft_constraints(make, far):
    for random, pose in poses(make, 8, count=2):
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


def test_the_bare_solver_ignores_them():
    random = Random(11)
    for _ in range(10):
        pose = allowed(random_chain(random.randrange(99), 4), random)
        target = Point(random_direction(random) * 2.0)
        soft = some_soft(random, pose)
        bare, asked = (solve(pose, target, finish=False, soft=wish) for wish in ((), soft))
        assert bits(bare.pose.rotations) == bits(asked.pose.rotations)
        assert (bare.error, bare.iterations) == (asked.error, asked.iterations)


@every_kind
def test_the_same_arguments_give_the_same_bits(make):
    for random, pose in poses(make, 12, count=1):
        target, soft = Point(allowed(pose.chain, random, pose.base).tip), some_soft(random, pose)
        once, again = (solve(pose, target, soft=soft, seed=5) for _ in range(2))
        assert bits(once.pose.rotations) == bits(again.pose.rotations)
        assert once.iterations == again.iterations


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


# Place and orientation


def arm():
    """A shoulder of three axes, an elbow of one, a wrist of three: seven degrees of freedom, all with limits."""
    ball = EulerLimits("YXZ", (-1.6, -1.4, -1.6), (1.6, 1.4, 1.6))
    wrist = EulerLimits("YXZ", (-0.9, -1.4, -0.6), (0.9, 1.4, 0.6))
    return straight((1.0, 0.9, 0.4), [ball, Hinge(Vector((1.0, 0.0, 0.0)), 0.05, 2.6), wrist])


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


# Direction


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


# Pole


def bend_off(pose, location, angle=0.0):
    """Angle [rad] from the pole to the bend about root to tip, from plain vectors."""
    root = np.array(pose.head(0), dtype=float)
    line = np.array(pose.tip, dtype=float) - root
    line /= np.linalg.norm(line)
    bend = sum(np.array(pose.head(i), dtype=float) - root for i in range(1, len(pose)))
    pole = np.array(location, dtype=float) - root
    bend, pole = bend - line * bend.dot(line), pole - line * pole.dot(line)
    away = atan2(np.cross(pole, bend).dot(line), pole.dot(bend)) - angle
    return abs((away + pi) % (2.0 * pi) - pi)


@pytest.mark.parametrize("angle", [0.0, 1.0, -2.5, pi, 7.0])
@pytest.mark.parametrize("links", [2, 3, 5])
def test_a_pole_turns_the_bend_towards_it(links, angle):
    random = Random(20)
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


def test_a_chain_of_one_joint_has_no_bend_and_no_choice():
    chain = straight((1.0,))
    soft = [Pole(Vector((3.0, 0.0, 0.0))), Direction(Vector((0.0, 0.0, 1.0)))]
    solution = solve(chain.rest_pose(), Point(Vector((0.0, 1.0, 0.0))), soft=soft)
    assert solution.reached


# Weights


def test_of_two_that_contradict_each_other_the_heavier_is_nearer():
    random = Random(21)
    for _ in range(8):
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


# Following


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


# Bad input


BAD = {
    "an orientation that is no number": lambda: Orientation(Quaternion((nan, 0.0, 0.0, 1.0))),
    "an orientation of zero": lambda: Orientation(Quaternion((0.0, 0.0, 0.0, 0.0))),
    "a direction that is no number": lambda: Direction(Vector((inf, 0.0, 0.0))),
    "a direction without length": lambda: Direction(Vector()),
    "an axis without length": lambda: Direction(BONE, Vector()),
    "an axis that is no number": lambda: Direction(BONE, Vector((nan, 0.0, 0.0))),
    "a pole that is nowhere": lambda: Pole(Vector((0.0, nan, 0.0))),
    "a pole angle that is none": lambda: Pole(BONE, inf),
    "a negative weight": lambda: Orientation(Quaternion(), -1.0),
    "a weight that is no number": lambda: Direction(BONE, weight=nan),
    "a weight without end": lambda: Pole(BONE, weight=inf),
}


@pytest.mark.parametrize("what", BAD)
def test_bad_input_is_refused(what):
    with pytest.raises(SettingError, match=r"(Orientation|Direction|Pole|orientation|direction|axis)"):
        BAD[what]()


@pytest.mark.parametrize("links", [1, 2, 4])
def test_degenerate_places_give_a_finite_pose(links):
    chain = straight((1.0,) * links)
    for target in (Vector(), Vector((0.0, 1e-9, 0.0)), Vector((0.0, 1e6, 0.0)), chain.rest_pose().tip):
        for pole in (Vector(), Vector((0.0, 1.0, 0.0)), Vector((1e-9, 0.0, 0.0)), Vector((1e9, 0.0, 0.0))):
            soft = [Pole(pole), Direction(-BONE), Orientation(about(Vector((1.0, 0.0, 0.0)), pi))]
            solution = solve(Pose(chain, Matrix.Identity(4), [Quaternion()] * links), Point(target), soft=soft)
            assert np.isfinite(bits(solution.pose.rotations)).all()

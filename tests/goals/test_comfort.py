# SPDX-License-Identifier: GPL-3.0-or-later
"""Low effort, nearness to a pose and obstacles: what reaching leaves open is used for them, and nothing else."""

from dataclasses import replace
from math import atan2, inf, nan, pi
from random import Random

import numpy as np
import pytest
from mathutils import Matrix, Quaternion, Vector

from ik_triangulation.errors import ChainError, SettingError
from ik_triangulation.goals import Avoid, Ball, Block, Effort, Near, Point
from ik_triangulation.goals.goal import ranked, soft_cost
from ik_triangulation.kinematics import Chain, Hinge, Joint, Pose
from ik_triangulation.kinematics.rotation import about
from ik_triangulation.solvers import solve

from ..chains import (
    GENERAL,
    bits,
    forward,
    limited,
    random_base,
    random_chain,
    random_direction,
    random_pose,
    random_rotation,
    straight,
)
from .comfortable import (
    DOWN,
    X,
    allowed,
    assert_the_cost_falls_as_the_rows_say,
    every_kind,
    poses,
)
from .soft_goals import SAME, assert_inside, assert_optimising_keeps_tip_and_limits


def some_soft(random, pose):
    """One of each kind, anywhere."""
    place, reach = pose.head(0), pose.chain.reach
    ball = Ball(place + random_direction(random) * 0.6 * reach, 0.3 * reach)
    turned = random_rotation(random).to_matrix().to_4x4()
    block = Block(
        Matrix.Translation(place + random_direction(random) * 0.7 * reach) @ turned @ Matrix.Scale(0.25 * reach, 4)
    )
    return [
        Effort(random_direction(random), random.uniform(0.1, 2.0)),
        Near(allowed(pose.chain, random).rotations, random.uniform(0.1, 2.0)),
        Avoid([ball, block], random.uniform(0.1, 2.0)),
    ]


@every_kind
def test_effort_falls_as_its_row_says(make):
    for random, pose in poses(make, 1):
        assert_the_cost_falls_as_the_rows_say(pose, Effort(random_direction(random) * 3.0, 0.7))


@every_kind
def test_nearness_falls_as_its_rows_say_however_far_away(make):
    for random, pose in poses(make, 2):
        wanted = [about(random_direction(random), random.uniform(0.0, 2.8)) @ rotation for rotation in pose.rotations]
        assert_the_cost_falls_as_the_rows_say(pose, Near(wanted, 0.7))


@pytest.mark.parametrize("scale", [(2.0, 2.0, 2.0), (-1.0, 1.0, 1.0), (1.0, 1.5, 0.7), (-2.0, 1.0, -0.5)])
def test_nearness_falls_as_its_rows_say_for_scaled_and_mirrored_bones(scale):
    for random, pose in poses(random_chain, 3, count=5, least=2):
        joints = [Joint(j.name, j.offset, j.rest, j.freedom, scale=Vector(scale)) for j in pose.chain.joints]
        posed = random_pose(Chain(joints, pose.chain.tip), random)
        wanted = [about(random_direction(random), random.uniform(0.0, 2.5)) @ rotation for rotation in posed.rotations]
        assert_the_cost_falls_as_the_rows_say(posed, Near(wanted))


def test_a_mirrored_chain_comes_as_near_as_one_that_is_not():
    random = Random(4)
    plain = straight((1.0, 1.0, 1.0))
    first, *others = plain.joints
    mirrored = Chain(
        (Joint("first", first.offset, first.rest, first.freedom, scale=(-1.0, 1.0, 1.0)), *others), plain.tip
    )
    for _ in range(5):
        wanted = allowed(plain, random).rotations
        start = [about(random_direction(random), 0.6) @ rotation for rotation in wanted]
        for chain in (plain, mirrored):
            near, there = Near(wanted), Point(Pose(chain, Matrix.Identity(4), wanted).tip)
            solution = solve(Pose(chain, Matrix.Identity(4), start), there, tolerance=1e-4, soft=[near])
            assert solution.reached
            assert soft_cost(solution.pose, [near]) < 1e-3


def test_effort_is_the_height_of_the_centre_of_gravity():
    random = Random(6)
    for _ in range(10):
        lengths = tuple(random.uniform(0.3, 2.0) for _ in range(4))
        pose = allowed(straight(lengths), random, random_base(random))
        places, _ = forward(pose.chain, pose.base, pose.rotations)
        centre = np.average((places[1:] + places[:-1]) / 2.0, axis=0, weights=lengths)
        height = (centre - places[0])[2]
        assert soft_cost(pose, [Effort(DOWN)]) == pytest.approx(2.0 * height / sum(lengths) + 1.0, abs=1e-5)


def test_links_weigh_as_much_as_they_are_long_times_the_mass_of_their_joint():
    random = Random(7)
    for _ in range(10):
        lengths = tuple(random.uniform(0.3, 2.0) for _ in range(4))
        chain = straight(lengths)
        joints = [replace(joint, mass=random.uniform(0.1, 10.0)) for joint in chain.joints]
        chain = replace(chain, joints=tuple(joints))
        pose = allowed(chain, random, random_base(random))
        masses = [length * joint.mass for length, joint in zip(lengths, joints, strict=True)]
        places, _ = forward(chain, pose.base, pose.rotations)
        centre = np.average((places[1:] + places[:-1]) / 2.0, axis=0, weights=masses)
        most = np.average(np.cumsum(lengths) - np.array(lengths) / 2.0, weights=masses)
        assert soft_cost(pose, [Effort(DOWN)]) == pytest.approx((centre - places[0])[2] / most + 1.0, abs=1e-5)
        assert_the_cost_falls_as_the_rows_say(pose, Effort(random_direction(random), 0.7))


def test_a_heavy_link_hangs_lower():
    target, middles = Point(Vector((0.0, 1.2, 0.0))), []
    for masses in ((1.0, 1.0, 1.0), (1.0, 1.0, 20.0), (20.0, 1.0, 1.0)):
        chain = straight((1.0, 1.0, 1.0))
        chain = replace(chain, joints=tuple(replace(j, mass=m) for j, m in zip(chain.joints, masses, strict=True)))
        solution = solve(chain.rest_pose(), target, tolerance=1e-4, soft=[Effort(DOWN)])
        assert solution.reached
        middles.append([(solution.pose.head(i) + solution.pose.end(i)).z / 2.0 for i in (0, 2)])
    alike, last, first = middles
    assert last[1] < alike[1] - 0.01
    assert first[0] < alike[0] - 0.02


@pytest.mark.parametrize("mass", [0.0, -1.0, inf, nan])
def test_a_mass_that_is_none_is_told_by_the_bone(mass):
    joints = straight((1.0, 1.0)).joints
    with pytest.raises(ChainError, match=r"'joint 1' has a mass of .*\. Give it a number above zero"):
        Chain((joints[0], replace(joints[1], mass=mass)), Vector((0.0, 1.0, 0.0)))


def test_the_elbow_hangs_below_the_line_from_root_to_tip():
    chain = straight((1.0, 1.0))
    for down in (DOWN, X, -X, Vector((0.3, 0.4, -2.0))):
        solution = solve(chain.rest_pose(), Point(Vector((0.0, 1.3, 0.0))), tolerance=1e-4, soft=[Effort(down)])
        assert solution.reached
        elbow = solution.pose.head(1)
        elbow.y = 0.0
        across = Vector((down.x, 0.0, down.z))
        assert elbow.angle(across) < 0.03


def test_effort_and_nearness_share_by_weight():
    """With two links and the tip given, where the elbow is on its circle is all there is to choose."""
    chain = straight((1.0, 1.0))
    target = Point(Vector((0.0, 1.3, 0.0)))
    start = solve(chain.rest_pose(), target, tolerance=1e-5).pose
    elbow = start.head(1)
    wanted = Pose(chain, start.base, start.rotations)
    wanted.turn(0, about(target.location.normalized(), 0.4 - atan2(elbow.x, elbow.z)))
    assert wanted.head(1).z > 0.6
    start.turn(0, about(target.location.normalized(), 0.3))
    heights = []
    for weight in (0.0, 0.1, 1.0, 10.0):
        soft = [Near(wanted.rotations), Effort(DOWN, weight)]
        solution = solve(start, target, tolerance=1e-4, soft=soft)
        assert solution.reached
        heights.append(solution.pose.head(1).z)
    assert heights == sorted(heights, reverse=True)
    assert heights[0] == pytest.approx(wanted.head(1).z, abs=1e-3)
    assert heights[-1] < -0.5


def test_the_pose_asked_for_is_found_where_it_reaches():
    random = Random(8)
    for _ in range(6):
        chain = straight((1.0, 0.8, 0.6, 0.4))
        wanted = allowed(chain, random)
        start = Pose(chain, wanted.base, [about(random_direction(random), 0.5) @ r for r in wanted.rotations])
        near = Near(wanted.rotations)
        solution = solve(start, Point(wanted.tip), tolerance=1e-4, soft=[near])
        assert solution.reached
        assert soft_cost(solution.pose, [near]) < 1e-3


def test_rotations_of_any_length_and_sign_mean_the_same():
    random = Random(9)
    pose = allowed(straight((1.0, 1.0)), random)
    wanted = [random_rotation(random) for _ in range(2)]
    costs = [soft_cost(pose, [Near([q * size for q in wanted])]) for size in (1.0, -1.0, 3.0, 1e-3)]
    assert costs == pytest.approx([costs[0]] * 4, rel=1e-4)


@every_kind
def test_the_cost_never_rises_and_the_tip_stays_and_the_limits_hold(make, long):
    for random, pose in poses(make, 13, count=4 if long else 2, least=2):
        soft = some_soft(random, pose)
        assert_optimising_keeps_tip_and_limits(pose, soft, random)


@every_kind
@pytest.mark.parametrize("follow", [False, True])
def test_a_reachable_target_is_reached_with_every_limit_kept(make, follow, long):
    """Made by forward kinematics, so that there is a pose; an obstacle may stand right on it."""
    for random, pose in poses(make, 14, count=4 if long else 2, least=2):
        goal = allowed(pose.chain, random, pose.base)
        soft = [*some_soft(random, pose), Avoid([Ball(goal.tip, 0.4 * pose.chain.reach)], 10.0)]
        tolerance = 1e-3 * pose.chain.reach
        without = solve(pose, Point(goal.tip), tolerance=tolerance, follow=follow)
        asked = solve(pose, Point(goal.tip), tolerance=tolerance, soft=soft, follow=follow)
        assert asked.reached == without.reached
        assert soft_cost(asked.pose, ranked(soft)) <= soft_cost(without.pose, ranked(soft)) * SAME
        assert_inside(asked.pose)


@pytest.mark.parametrize("solver", GENERAL)
def test_every_solver_reaches_and_leaves_them_to_be_met(solver):
    chain = straight((1.0, 0.8, 0.6))
    target = Point(Vector((0.2, 1.4, 0.3)))
    soft = [Effort(DOWN), Near([Quaternion()] * 3, 0.1), Avoid([Ball(Vector((0.0, 0.7, 0.2)), 0.2)])]
    without = solve(chain.rest_pose(), target, solver=solver, tolerance=1e-3)
    asked = solve(chain.rest_pose(), target, solver=solver, tolerance=1e-3, soft=soft)
    assert asked.reached
    assert soft_cost(asked.pose, ranked(soft)) <= soft_cost(without.pose, ranked(soft)) * SAME


@every_kind
def test_a_target_out_of_reach_is_approached_as_near_as_without(make):
    for random, pose in poses(make, 15, count=2, least=2):
        target = Point(pose.head(0) + random_direction(random) * 3.0 * pose.chain.reach)
        without = solve(pose, target)
        asked = solve(pose, target, soft=some_soft(random, pose))
        assert asked.error <= without.error + 2e-6 * pose.chain.reach
        assert_inside(asked.pose)


def test_no_weight_is_no_wish():
    random = Random(16)
    pose = allowed(straight((1.0, 0.9, 0.4)), random)
    target = Point(random_direction(random))
    soft = [
        Effort(DOWN, 0.0),
        Near([Quaternion()] * 3, 0.0),
        Avoid([Ball(target.location, 0.5)], 0.0),
    ]
    without, asked = (solve(pose, target, soft=wish) for wish in ((), soft))
    assert bits(without.pose.rotations) == bits(asked.pose.rotations)


def test_the_same_arguments_give_the_same_bits():
    for random, pose in poses(limited, 17, count=2, least=3):
        target, soft = Point(allowed(pose.chain, random, pose.base).tip), some_soft(random, pose)
        once, again = (solve(pose, target, soft=soft, seed=5) for _ in range(2))
        assert bits(once.pose.rotations) == bits(again.pose.rotations)


@pytest.mark.parametrize("links", [1, 2, 4])
def test_degenerate_places_give_a_finite_pose(links):
    chain = straight((1.0,) * links)
    end = Vector((0.0, float(links), 0.0))
    for target in (Vector(), end, Vector((0.0, 1e6, 0.0))):
        soft = [
            Effort(-end),
            Near([about(X, pi)] * links),
            Avoid([Ball(Vector(), 1e-6), Ball(end, 1e6), Block(Matrix.Identity(4))]),
        ]
        solution = solve(chain.rest_pose(), Point(target), soft=soft)
        assert np.isfinite(bits(solution.pose.rotations)).all()


def test_locked_and_limited_joints_that_cannot_do_better_stay():
    chain = straight((1.0, 1.0), [Hinge(X, -0.1, 0.1), Hinge(X, -0.1, 0.1)])
    soft = [Effort(DOWN), Near([about(X, 2.0)] * 2)]
    solution = solve(chain.rest_pose(), Point(Vector((0.0, 2.0, 0.0))), tolerance=1e-2, soft=soft)
    assert solution.reached
    assert_inside(solution.pose)


NOWHERE = Matrix.Translation((nan, 0.0, 0.0))
BAD = {
    "an effort without direction": (lambda: Effort(Vector()), "Effort needs a direction that is down. Give it one"),
    "an effort towards no number": (lambda: Effort(Vector((nan, 0.0, 1.0))), "Effort needs a direction"),
    "a negative effort": (lambda: Effort(DOWN, -1.0), "Effort weight -1.0 is not valid. Give it"),
    "an effort without end": (lambda: Effort(DOWN, inf), "Effort weight inf is not valid"),
    "a nearness of no weight": (lambda: Near([Quaternion()], nan), "Near weight nan is not valid"),
    "a rotation that is no number": (
        lambda: Near([Quaternion(), Quaternion((nan, 0.0, 0.0, 1.0))]),
        "Rotation 1 of Near is not valid. Give it a finite",
    ),
    "a rotation of zero": (lambda: Near([Quaternion((0.0,) * 4)]), "Rotation 0 of Near is not valid"),
    "an avoidance of no weight": (lambda: Avoid([], nan), "Avoid weight nan is not valid"),
    "a ball of no radius": (lambda: Ball(Vector(), 0.0), "Obstacle radius 0.0 is not a distance. Give it"),
    "a ball of negative radius": (lambda: Ball(Vector(), -1.0), "Obstacle radius -1.0 is not"),
    "a ball whose radius is no number": (lambda: Ball(Vector(), nan), "Obstacle radius nan is not"),
    "a ball without end": (lambda: Ball(Vector(), inf), "Obstacle radius inf is not"),
    "a ball that is nowhere": (lambda: Ball(Vector((nan, 0.0, 0.0)), 1.0), "Obstacle is not finite. Check"),
    "a block that is flat": (lambda: Block(Matrix.Diagonal((1.0, 0.0, 1.0, 1.0))), "a box without volume. Give it"),
    "a block that is nowhere": (lambda: Block(NOWHERE), "Obstacle is not finite. Check"),
    "a block of no number": (lambda: Block(Matrix.Diagonal((1.0, nan, 1.0, 1.0))), "Obstacle is not finite"),
    "a negative margin": (lambda: Block(Matrix.Identity(4), -0.1), "Obstacle margin -0.1 is not a distance. Give it"),
    "a margin that is no number": (lambda: Block(Matrix.Identity(4), nan), "Obstacle margin nan is not"),
}


@pytest.mark.parametrize("what", BAD)
def test_bad_input_is_refused(what):
    make, message = BAD[what]
    with pytest.raises(SettingError, match=message):
        make()


@pytest.mark.parametrize("count", [0, 1, 3])
def test_as_many_rotations_as_joints_are_wanted(count):
    pose = straight((1.0, 1.0)).rest_pose()
    with pytest.raises(SettingError, match=f"Near has {count} rotations for a chain of 2 joints. Give it one for each"):
        solve(pose, Point(Vector((0.0, 1.0, 1.0))), soft=[Near([Quaternion()] * count)])

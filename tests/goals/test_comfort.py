# SPDX-License-Identifier: GPL-3.0-or-later
"""Low effort, nearness to a pose and obstacles: what reaching leaves open is used for them, and nothing else."""

from itertools import pairwise
from math import atan2, inf, nan, pi
from random import Random

import numpy as np
import pytest
from mathutils import Matrix, Quaternion, Vector

from ik_triangulation.errors import SettingError
from ik_triangulation.goals import Avoid, Ball, Block, Effort, Near, Point
from ik_triangulation.goals.obstacles import deepest
from ik_triangulation.goals.soft import JointAxis, soft_cost
from ik_triangulation.kinematics import Chain, Hinge, Joint, Pose
from ik_triangulation.kinematics.rotation import about, rotation_angle
from ik_triangulation.solvers import solve
from ik_triangulation.solvers.jacobian import apply_changes, jacobian
from ik_triangulation.solvers.null_space import _axes, optimise, optimise_from_restarts

from ..chains import (
    GENERAL,
    bits,
    forward,
    hinged,
    limited,
    mixed,
    random_base,
    random_chain,
    random_direction,
    random_pose,
    random_rotation,
    straight,
)

TRIAL = 1e-2  # [rad] of finite differences: what single precision can tell apart
SAME = 1.0 + 1e-6  # times as much, which is what a pose that was taken back may differ by
DOWN, X = Vector((0.0, 0.0, -1.0)), Vector((1.0, 0.0, 0.0))

every_kind = pytest.mark.parametrize("make", [random_chain, hinged, limited, mixed])


def allowed(chain, random, base=None):
    """A pose inside the limits."""
    rotations = [joint.freedom.random(random) if joint.freedom.moves else Quaternion() for joint in chain.joints]
    pose = Pose(chain, base or Matrix.Identity(4), rotations)
    pose.project()
    return pose


def poses(make, seed, count=10, least=1):
    random = Random(seed)
    for number in range(count):
        yield random, allowed(make(number, random.randint(least, 6), 3.0), random, random_base(random))


def changed(pose, joints, changes):
    there = pose.copy()
    apply_changes(there, joints, changes)
    return there


def assert_the_cost_falls_as_the_rows_say(pose, soft, within=4e-3):
    """The gradient of the cost is the product of numbers and derivatives."""
    joints, columns = jacobian(pose)
    turns = [JointAxis(i, axis, pose.head(i), w) for i, w, rotation, _ in joints for axis in _axes(pose, i, rotation)]
    rows = list(soft.residuals(pose, turns))
    assert soft_cost(pose, [soft]) == pytest.approx(0.5 * sum(number * number for number, _ in rows))
    compared = 0
    for n, column in enumerate(columns):
        if min(-column.least, column.most) > TRIAL:
            ends = (changed(pose, joints, [way * (k == n) for k in range(len(columns))]) for way in (TRIAL, -TRIAL))
            plus, minus = (soft_cost(end, [soft]) for end in ends)
            gradient = sum(number * row[n] for number, row in rows)
            assert gradient == pytest.approx((plus - minus) / (2.0 * TRIAL), abs=within)
            compared += 1
    return compared


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


def assert_inside(pose):
    for joint, rotation in zip(pose.chain.joints, pose.rotations, strict=True):
        assert rotation_angle(joint.freedom.nearest(rotation), rotation) < 2e-6


def error_of(pose, target):
    return (target.closest(pose.tip) - pose.tip).length


def depth_of(pose, obstacle, count=200):
    """How deep the links are inside, looked at in many places."""
    ends = [*(pose.head(i) for i in range(len(pose))), pose.tip]
    places = (a.lerp(b, n / count) for a, b in pairwise(ends) for n in range(count + 1))
    return max(obstacle.depth(place)[0] for place in places)


# Derivatives


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


def clear_of_kinks(pose, obstacle, margin):
    """Whether each link stays in or out, and what is deepest goes the same way out nearby."""
    for i in range(len(pose)):
        place = deepest(obstacle, pose.head(i), pose.end(i) - pose.head(i))
        depth, out = obstacle.depth(place)
        if abs(depth) < margin:
            return False
        for way in (X, Vector((0.0, 1.0, 0.0)), Vector((0.0, 0.0, 1.0))):
            if any(obstacle.depth(place + way * side)[1].dot(out) < 0.7 for side in (margin, -margin)):
                return False
    return True


@every_kind
@pytest.mark.parametrize("kind", ["ball", "block"])
def test_depth_falls_as_the_rows_of_avoid_say(make, kind):
    compared = 0
    for random, pose in poses(make, 5, count=500):
        reach = pose.chain.reach
        centre = pose.head(0) + random_direction(random) * 0.6 * reach
        if kind == "ball":
            obstacle = Ball(centre, random.uniform(0.3, 0.6) * reach)
        else:
            sides = Matrix.Diagonal((*(random.uniform(0.3, 0.6) * reach for _ in "xyz"), 1.0))
            turned = random_rotation(random).to_matrix().to_4x4()
            obstacle = Block(Matrix.Translation(centre) @ turned @ sides, random.choice((0.0, 0.1 * reach)))
        if clear_of_kinks(pose, obstacle, 2.5 * TRIAL * reach) and depth_of(pose, obstacle) > 0.0:
            compared += assert_the_cost_falls_as_the_rows_say(pose, Avoid([obstacle], 0.8), 3e-3)
        if compared > 40:
            break
    assert compared > 15


# What the numbers mean


def test_effort_is_the_height_of_the_centre_of_gravity():
    random = Random(6)
    for _ in range(10):
        lengths = tuple(random.uniform(0.3, 2.0) for _ in range(4))
        pose = allowed(straight(lengths), random, random_base(random))
        places, _ = forward(pose.chain, pose.base, pose.rotations)
        centre = np.average((places[1:] + places[:-1]) / 2.0, axis=0, weights=lengths)
        height = (centre - places[0])[2]
        assert soft_cost(pose, [Effort(DOWN)]) == pytest.approx(2.0 * height / sum(lengths) + 1.0, abs=1e-5)


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


# Obstacles


def surface_of(block, count=60):
    """Places all over the box without its margin, in numpy."""
    line = np.linspace(-1.0, 1.0, count)
    a, b = (part.ravel() for part in np.meshgrid(line, line))
    faces = [np.insert(np.stack((a, b), 1), n, side, axis=1) for n in range(3) for side in (-1.0, 1.0)]
    frame = np.array(block.frame)
    return np.concatenate(faces) @ frame[:3, :3].T + frame[:3, 3]


def test_the_depth_in_a_block_is_the_distance_from_its_surface_with_the_margin_round_it():
    random = Random(10)
    inside = 0
    for _ in range(6):
        sides = [random.choice((-1.0, 1.0)) * random.uniform(0.2, 2.0) for _ in "xyz"]
        turned = random_rotation(random).to_matrix().to_4x4()
        frame = Matrix.Translation(random_direction(random)) @ turned @ Matrix.Diagonal((*sides, 1.0))
        block = Block(frame, random.choice((0.0, 0.3)))
        surface = surface_of(block)
        spacing = 4.0 / 59
        for _ in range(40):
            own = Vector([random.uniform(-1.8, 1.8) for _ in "xyz"])
            place = frame @ own
            distance = float(np.linalg.norm(surface - np.array(place), axis=1).min())
            signed = distance if max(map(abs, own)) <= 1.0 else -distance
            depth, out = block.depth(place)
            inside += signed > 0.0
            # The sampled surface is never nearer than the true one, and by half a mesh's diagonal at most farther.
            near = min(abs(depth - block.margin) + 0.71 * spacing, np.hypot(depth - block.margin, 0.71 * spacing))
            assert abs(depth - block.margin) - 1e-5 <= abs(signed) <= near + 1e-5
            assert (depth - block.margin) * signed >= -1e-6
            assert out.length == pytest.approx(1.0, abs=1e-5)
            step = 1e-3
            assert block.depth(place + out * step)[0] == pytest.approx(depth - step, abs=2e-5)
    assert inside > 20


def test_the_depth_in_a_ball_is_the_distance_from_its_surface():
    ball = Ball(Vector((1.0, 2.0, 3.0)), 0.5)
    assert ball.depth(Vector((1.0, 2.2, 3.0))) == (pytest.approx(0.3), Vector((0.0, 1.0, 0.0)))
    assert ball.depth(Vector((3.0, 2.0, 3.0))) == (pytest.approx(-1.5), X)
    depth, out = ball.depth(ball.centre)
    assert (depth, out.length) == (0.5, 1.0)


def test_a_place_in_the_middle_of_a_block_has_a_way_out():
    depth, out = Block(Matrix.Diagonal((1.0, 0.5, 2.0, 1.0)), 0.1).depth(Vector())
    assert (depth, abs(out.y)) == (pytest.approx(0.6), 1.0)


def test_the_deepest_point_of_a_link_is_found():
    random = Random(18)
    for number in range(150):
        size = random.uniform(0.2, 1.0)
        turned = random_rotation(random).to_matrix().to_4x4()
        sides = Matrix.Diagonal((*(random.uniform(0.05, 1.0) for _ in "xyz"), 1.0))
        block = Block(Matrix.Translation(random_direction(random)) @ turned @ sides, random.choice((0.0, 0.2)))
        obstacle = block if number % 2 else Ball(random_direction(random), size)
        head = random_direction(random) * random.uniform(0.0, 2.0)
        link = random_direction(random) * random.uniform(0.1, 3.0)
        most = max(obstacle.depth(head + link * (n / 500))[0] for n in range(501))
        found, _ = obstacle.depth(deepest(obstacle, head, link))
        if most > 0.0:
            assert found == pytest.approx(most, abs=2e-3 * link.length)
        else:
            assert found <= 1e-5


@pytest.mark.parametrize("kind", ["ball", "block"])
def test_an_arm_that_reaches_behind_an_obstacle_gets_out_of_it(kind):
    random = Random(11)
    out, cases = 0, 40
    for _ in range(cases):
        chain = straight((1.0, 0.9, 0.8, 0.5))
        away = random_direction(random)
        centre, size = away * 1.1, random.uniform(0.25, 0.45)
        target = Point(away * random.uniform(1.9, 2.3))
        turned = random_rotation(random).to_matrix().to_4x4()
        frame = Matrix.Translation(centre) @ turned @ Matrix.Diagonal((0.7 * size, size, 0.4 * size, 1.0))
        obstacle = Ball(centre, size) if kind == "ball" else Block(frame)
        start = chain.rest_pose()
        start.swing(0, Vector((0.0, 1.0, 0.0)), away)  # right through it
        avoid = Avoid([obstacle])
        solution = solve(start, target, tolerance=1e-3, soft=[avoid])
        assert solution.reached
        assert soft_cost(solution.pose, [avoid]) < soft_cost(start, [avoid])
        out += depth_of(solution.pose, obstacle) < 3e-3
    assert out == cases


def test_what_is_out_of_the_obstacles_is_left_bit_by_bit():
    random = Random(12)
    for _ in range(10):
        pose = allowed(random_chain(random.randrange(99), 4), random)
        avoid = Avoid([Ball(Vector((50.0, 0.0, 0.0)), 1.0), Block(Matrix.Translation((0.0, 90.0, 0.0)))])
        assert list(avoid.residuals(pose, ())) == []
        solution = solve(pose, Point(pose.tip), soft=[avoid])
        assert bits(solution.pose.rotations) == bits(pose.rotations)


def test_no_obstacles_are_nothing_to_avoid():
    pose = straight((1.0, 1.0)).rest_pose()
    assert soft_cost(pose, [Avoid([])]) == 0.0


# What holds whatever is asked for


@every_kind
def test_the_cost_never_rises_and_the_tip_stays_and_the_limits_hold(make):
    for random, pose in poses(make, 13, count=4, least=2):
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


@every_kind
@pytest.mark.parametrize("follow", [False, True])
def test_a_reachable_target_is_reached_with_every_limit_kept(make, follow):
    """Made by forward kinematics, so that there is a pose; an obstacle may stand right on it."""
    for random, pose in poses(make, 14, count=4, least=2):
        goal = allowed(pose.chain, random, pose.base)
        soft = [*some_soft(random, pose), Avoid([Ball(goal.tip, 0.4 * pose.chain.reach)], 10.0)]
        tolerance = 1e-3 * pose.chain.reach
        without = solve(pose, Point(goal.tip), tolerance=tolerance, follow=follow)
        asked = solve(pose, Point(goal.tip), tolerance=tolerance, soft=soft, follow=follow)
        assert asked.reached == without.reached
        assert soft_cost(asked.pose, soft) <= soft_cost(without.pose, soft) * SAME
        assert_inside(asked.pose)


@pytest.mark.parametrize("solver", GENERAL)
def test_every_solver_reaches_and_leaves_them_to_be_met(solver):
    chain = straight((1.0, 0.8, 0.6))
    target = Point(Vector((0.2, 1.4, 0.3)))
    soft = [Effort(DOWN), Near([Quaternion()] * 3, 0.1), Avoid([Ball(Vector((0.0, 0.7, 0.2)), 0.2)])]
    without = solve(chain.rest_pose(), target, solver=solver, tolerance=1e-3)
    asked = solve(chain.rest_pose(), target, solver=solver, tolerance=1e-3, soft=soft)
    assert asked.reached
    assert soft_cost(asked.pose, soft) <= soft_cost(without.pose, soft) * SAME


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


# Bad input

NOWHERE = Matrix.Translation((nan, 0.0, 0.0))
BAD = {
    "an effort without direction": (lambda: Effort(Vector()), "Effort needs a direction that is down. Give it one"),
    "an effort towards no number": (lambda: Effort(Vector((nan, 0.0, 1.0))), "Effort needs a direction"),
    "a negative effort": (lambda: Effort(DOWN, -1.0), "Effort weight -1.0 is none. Give it"),
    "an effort without end": (lambda: Effort(DOWN, inf), "Effort weight inf is none"),
    "a nearness of no weight": (lambda: Near([Quaternion()], nan), "Near weight nan is none"),
    "a rotation that is no number": (
        lambda: Near([Quaternion(), Quaternion((nan, 0.0, 0.0, 1.0))]),
        "Rotation 1 of Near is none. Give it a quaternion",
    ),
    "a rotation of zero": (lambda: Near([Quaternion((0.0,) * 4)]), "Rotation 0 of Near is none"),
    "an avoidance of no weight": (lambda: Avoid([], nan), "Avoid weight nan is none"),
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

# SPDX-License-Identifier: GPL-3.0-or-later
"""Links stay out of obstacles as far as reaching and the limits allow."""

from itertools import pairwise
from random import Random

import numpy as np
import pytest
from mathutils import Matrix, Vector

from ik_triangulation.goals import Avoid, Ball, Block, Point
from ik_triangulation.goals.goal import soft_cost
from ik_triangulation.goals.obstacles import deepest
from ik_triangulation.solvers import solve

from ..chains import (
    bits,
    random_chain,
    random_direction,
    random_rotation,
    straight,
)
from .comfortable import (
    TRIAL,
    X,
    allowed,
    assert_the_cost_falls_as_the_rows_say,
    every_kind,
    poses,
)


def depth_of(pose, obstacle, count=200):
    """How deep the links are inside, looked at in many places."""
    ends = [*(pose.head(i) for i in range(len(pose))), pose.tip]
    places = (a.lerp(b, n / count) for a, b in pairwise(ends) for n in range(count + 1))
    return max(obstacle.depth(place)[0] for place in places)


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

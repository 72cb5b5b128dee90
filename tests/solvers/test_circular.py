# SPDX-License-Identifier: GPL-3.0-or-later
"""Circular alignment puts all joints on one circle that ends at the aim, for every length and distance."""

from itertools import pairwise
from math import pi, sin
from random import Random

import numpy as np
import pytest
from mathutils import Matrix, Vector

from ik_triangulation.kinematics import Free, Hinge
from ik_triangulation.kinematics.rotation import about, angle_between, orthogonal
from ik_triangulation.solvers import circular
from ik_triangulation.solvers.circular import half_angles

from ..chains import (
    PAPER,
    forward,
    random_base,
    random_chain,
    random_direction,
    random_lengths,
    random_pose,
    straight,
)
from .reaching import CLOSE, optimum, some_distance

X = Vector((1.0, 0.0, 0.0))


def bent(pose):
    """Angle [rad] between each link and the next."""
    return [angle_between(pose.link(i), pose.link(i + 1)) for i in range(len(pose) - 1)]


def test_one_step_reaches_all_that_chains_of_unequal_links_can_reach(long):
    random = Random(1)
    for seed in range(10_000 if long else 2_000):
        chain = random_chain(seed, random.randint(1, 12), 10.0 ** random.uniform(0.0, 3.0))
        pose = random_pose(chain, random)
        aim = pose.head(0) + random_direction(random) * some_distance(random, chain)
        circular.step(pose, aim)
        left = optimum(chain, (aim - pose.head(0)).length)
        assert (aim - pose.tip).length - left <= CLOSE * chain.reach, seed


def test_the_root_the_joints_the_tip_and_the_aim_stand_on_one_circle():
    random = Random(2)
    for seed in range(200):
        chain = random_chain(seed, random.randint(2, 10), 5.0)
        pose = random_pose(chain, random, random_base(random))
        nearest, farthest = chain.reaches[0]
        distance = random.uniform(nearest + 0.02 * farthest, 0.98 * farthest)
        aim = pose.head(0) + random_direction(random) * distance
        circular.step(pose, aim)
        places, _ = forward(chain, pose.base, pose.rotations)
        halves = half_angles(chain.lengths, distance)
        radius = chain.lengths[0] / (2.0 * sin(halves[0]))
        middle = places.mean(axis=0)
        _, _, (u, v, _) = np.linalg.svd(places - middle)
        flat = np.column_stack(((places - middle) @ u, (places - middle) @ v))
        # The circle through the points: |p|^2 = 2 p.centre + constant.
        solved = np.linalg.lstsq(np.column_stack((2.0 * flat, np.ones(len(flat)))), (flat**2).sum(axis=1), rcond=None)
        spread = np.linalg.norm(flat - solved[0][:2], axis=1)
        assert spread == pytest.approx(np.full(len(flat), radius), rel=1e-3)
        assert np.linalg.norm(places[-1] - np.array(aim)) <= CLOSE * chain.reach


def test_links_of_equal_lengths_turn_by_equal_angles_as_the_papers_newton_iteration_finds_them():
    """Equations 5 to 8, on reach 1."""
    random = Random(3)
    for count in (2, 3, 5, 10, 30):
        pose, a = straight((1.0 / count,) * count).rest_pose(), 1.0 / count
        for _ in range(20):
            d = random.uniform(0.01, 0.98)
            theta = 2.0 * pi / count
            for _ in range(50):
                f = d * sin(theta / 2.0) - a * sin(count * theta / 2.0)
                slope = d / 2.0 * np.cos(theta / 2.0) - count * a / 2.0 * np.cos(count * theta / 2.0)
                theta -= f / slope
            assert half_angles((a,) * count, d) == pytest.approx([theta / 2.0] * count, abs=1e-7)
            circular.step(pose, random_direction(random) * d)
            assert bent(pose) == pytest.approx([theta] * (count - 1), abs=2e-5)


def test_the_chord_of_the_half_angles_is_the_distance_all_the_way(long):
    random = Random(4)
    for _ in range(1000 if long else 250):
        lengths = random_lengths(random, random.randint(2, 40), 10.0 ** random.uniform(0.0, 4.0))
        reach, longest = sum(lengths), max(lengths)
        core = max(0.0, 2.0 * longest - reach)
        for share in (0.0, 1e-9, 1e-4, 0.3, 0.9, 1.0 - 1e-6, 1.0):
            distance = core + share * (reach - core)
            angle = sum(halves := half_angles(lengths, distance))
            x = y = 0.0
            for length, half in zip(lengths, halves, strict=True):
                assert 0.0 <= half <= pi
                angle -= half
                x, y = x + length * np.cos(angle), y + length * np.sin(angle)
                angle -= half
            assert (x, y) == pytest.approx((distance, 0.0), abs=1e-8 * reach)


def test_the_half_angle_of_the_longest_link_grows_as_the_aim_comes_nearer():
    for lengths in ((1.0,) * 5, PAPER, (1.0, 5.0, 2.0), (10.0, 1.0, 3.0)):
        m = lengths.index(max(lengths))
        reach = sum(lengths)
        core = max(0.0, 2.0 * max(lengths) - reach)
        halves = [half_angles(lengths, core + (reach - core) * n / 50.0)[m] for n in range(51)]
        assert all(b < a for a, b in pairwise(halves))


@pytest.mark.parametrize("lengths", [(5.0, 1.0, 1.0), (1.0, 5.0, 1.0), (1.0, 1.0, 5.0)])
def test_inside_the_core_the_longest_link_points_against_all_others(lengths):
    random = Random(5)
    for distance in (0.0, 1.0, 3.0):
        pose = random_pose(straight(lengths), random)
        aim = random_direction(random) * distance
        circular.step(pose, aim)
        assert (aim - pose.tip).length == pytest.approx(3.0 - distance, abs=1e-5)
        m = lengths.index(5.0)
        for i in {0, 1, 2} - {m}:
            assert angle_between(pose.link(i), -pose.link(m)) < 1e-3


def test_a_straight_chain_bends_in_its_plane_with_the_aim_to_the_side_it_comes_from():
    random = Random(6)
    for _ in range(100):
        pose, aim = straight(PAPER).rest_pose(), random_direction(random) * random.uniform(5.0, 35.0)
        normal, side = pose.link(0).cross(aim).normalized(), orthogonal(pose.link(0), aim)
        circular.step(pose, aim)
        assert max(abs(pose.link(i).dot(normal)) for i in range(5)) < 1e-4
        assert all(pose.head(i).dot(side) > 0.0 for i in range(1, 5))


def test_a_bent_chain_keeps_the_side_to_which_it_bends():
    random, chain = Random(7), straight((1.0,) * 4)
    for _ in range(100):
        start = chain.rest_pose()
        axis, angle = random_direction(random), random.uniform(0.3, 1.2)
        axis = (axis - axis.project(start.link(0))).normalized()
        for i in range(1, 4):
            start.turn(i, about(axis, angle))
        aim = start.tip * random.uniform(0.6, 1.1)
        pose = start.copy()
        circular.step(pose, aim)
        for i in range(1, 4):
            side, other = (orthogonal(p.head(i), aim) for p in (start, pose))
            assert side.dot(other) > 0.999


def test_hinges_about_one_axis_on_a_free_root_are_reached_with_in_one_step_once_they_are_bent():
    random = Random(8)
    for _ in range(100):
        lengths = random_lengths(random, 4, 3.0)
        chain = straight(lengths, [Free(), Hinge(X), Hinge(X), Hinge(X)])
        pose = chain.rest_pose()
        for i in (1, 2, 3):
            pose.put(i, about(X, random.uniform(0.1, 1.0)))
        aim = random_direction(random) * chain.reach * random.uniform(0.3, 1.0)
        circular.step(pose, aim)
        assert (aim - pose.tip).length - optimum(chain, aim.length) <= CLOSE * chain.reach


def test_an_aim_on_the_root_closes_the_chain_to_a_circle():
    for base in (Matrix.Identity(4), random_base(Random(9))):
        pose = straight((1.0,) * 6).rest_pose()
        pose = type(pose)(pose.chain, base, pose.rotations)
        circular.step(pose, pose.head(0).copy())
        assert (pose.tip - pose.head(0)).length < 1e-5
        assert bent(pose) == pytest.approx([pi / 3.0] * 5, abs=1e-5)


def test_newtons_method_finds_the_same_pose_in_few_steps_for_any_lengths():
    random = Random(12)
    for seed in range(300):
        chain = random_chain(seed, random.randint(2, 10), random.choice((1.0, 5.0, 20.0)))
        nearest, farthest = chain.reaches[0]
        start = random_pose(chain, random)
        distance = nearest + (0.99 * farthest - nearest) * random.uniform(0.01, 1.0)
        aim = start.head(0) + random_direction(random) * distance
        one, other, step, count = start.copy(), start.copy(), circular.Newton(), 0
        circular.step(one, aim)
        while (other.tip - aim).length > 1e-5 * chain.reach and count < 12:
            step(other, aim)
            count += 1
        assert count < 12, seed
        apart = max((one.end(i) - other.end(i)).length for i in range(len(chain.joints)))
        assert apart < 2e-3 * chain.reach, seed


def test_newtons_method_is_right_out_of_reach_and_where_the_aim_moves():
    chain = straight(PAPER)
    step, pose = circular.Newton(), chain.rest_pose()
    for aim in (Vector((0.0, 50.0, 0.0)), Vector((10.0, 20.0, 0.0)), Vector((-15.0, 5.0, 0.0))):
        for _ in range(8):
            step(pose, aim)
        left = optimum(chain, aim.length)
        assert (aim - pose.tip).length - left <= 1e-5 * chain.reach

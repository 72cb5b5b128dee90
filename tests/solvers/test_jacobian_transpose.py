# SPDX-License-Identifier: GPL-3.0-or-later
"""The step goes down the gradient as far as straight lines say is best, and bounds shorten only what they hold."""

from math import hypot
from random import Random

import numpy as np
import pytest
from mathutils import Vector

from ik_triangulation.goals import Point
from ik_triangulation.kinematics import Free, Hinge
from ik_triangulation.kinematics.rotation import rotation_angle, twist
from ik_triangulation.solvers import solve
from ik_triangulation.solvers.gradient import MAX_TRANSPOSE_STEP
from ik_triangulation.solvers.gradient import step_transposed as step
from ik_triangulation.solvers.jacobian import jacobian

from ..chains import hinged, limited, random_chain, random_direction, random_pose, straight

X = Vector((1.0, 0.0, 0.0))


def test_the_step_is_the_best_multiple_of_the_gradient_on_straight_lines():
    """By numpy's least squares: of all multiples of J^T e the one whose J J^T e comes nearest to e."""
    random, count = Random(1), 0
    for seed in range(60):
        pose = random_pose(random_chain(seed, random.randint(2, 6)), random)
        aim = pose.tip + random_direction(random) * pose.chain.reach * 0.05
        j = np.array([column[:3] for column in jacobian(pose)[1]]).T
        e = np.array(aim - pose.tip)
        alpha = np.linalg.lstsq((j @ j.T @ e)[:, None], e, rcond=None)[0][0]
        turns = (alpha * j.T @ e).reshape(-1, 3)
        if np.abs(turns).max() < MAX_TRANSPOSE_STEP:
            count += 1
            start = pose.rotations[:]
            step(pose, aim)
            angles = list(map(rotation_angle, start, pose.rotations))
            assert angles == pytest.approx([hypot(*turn) for turn in turns], abs=1e-5)
    assert count > 40


@pytest.mark.parametrize(
    ("make", "most"), [(random_chain, 3.0**0.5 * MAX_TRANSPOSE_STEP), (hinged, MAX_TRANSPOSE_STEP)]
)
def test_no_joint_turns_far_in_one_step(make, most):
    random = Random(2)
    for seed in range(60):
        pose = random_pose(make(seed, random.randint(1, 6)), random)
        pose.project()
        aim, start = random_direction(random) * pose.chain.reach * 5.0 * random.random(), pose.rotations[:]
        if not any(abs(c.along(aim - pose.tip)) > 0.1 * (aim - pose.tip).length for c in jacobian(pose)[1]):
            continue  # a deadlock is left by other turns
        step(pose, aim)
        assert max(map(rotation_angle, start, pose.rotations)) <= most + 1e-5


def test_a_joint_held_by_its_limit_does_not_shorten_the_step_of_the_others():
    aim = Vector((0.0, 1.95, 0.4))
    held = straight((1.0, 1.0), [Hinge(X, -1.0, 0.0), Hinge(X)]).rest_pose()
    alone = straight((1.0, 1.0), [Hinge(X, 0.0, 0.0), Hinge(X)]).rest_pose()
    step(held, aim)
    step(alone, aim)
    assert twist(held.rotations[0], X) == 0.0
    assert twist(held.rotations[1], X) == pytest.approx(twist(alone.rotations[1], X), abs=1e-6)
    assert twist(held.rotations[1], X) > 0.1


def test_a_knee_stops_at_its_limit():
    pose = straight((1.0, 1.0), [Free(), Hinge(X, 0.0, 0.5)]).rest_pose()
    for _ in range(100):
        step(pose, Vector((0.0, 0.3, 0.1)))
    assert twist(pose.rotations[1], X) == pytest.approx(0.5, abs=1e-5)


@pytest.mark.parametrize(("make", "share"), [(random_chain, 1.0), (limited, 0.8)])
def test_most_targets_within_the_limits_are_reached_without_any_help(make, share):
    random, reached, count = Random(3), 0, 40
    for seed in range(count):
        chain = make(seed, 5)
        there, start = random_pose(chain, random), random_pose(chain, random)
        there.project()
        target = Point(there.tip)
        reached += solve(
            start, target, solver="JACOBIAN_TRANSPOSE", tolerance=1e-3 * chain.reach, iterations=1000, finish=False
        ).reached
    assert reached >= share * count

# SPDX-License-Identifier: GPL-3.0-or-later
"""The slopes are right for every kind of joint, every step leads downhill, and speed pays."""

from math import cos, hypot, pi, sin, sqrt
from random import Random
from statistics import median

import numpy as np
import pytest
from mathutils import Vector

from ik_triangulation.goals import Point
from ik_triangulation.kinematics import Hinge, Pose
from ik_triangulation.kinematics.rotation import about, rotation_angle, twist
from ik_triangulation.solvers import gradient, solve
from ik_triangulation.solvers.gradient import MAX_STEP, TRIAL, Accelerated, calculated, measured
from ik_triangulation.solvers.jacobian import apply_changes, jacobian

from ..chains import (
    bits,
    forward,
    hinged,
    limited,
    mixed,
    random_base,
    random_chain,
    random_direction,
    random_pose,
    straight,
)

X = Vector((1.0, 0.0, 0.0))
every_kind = pytest.mark.parametrize("make", [random_chain, hinged, limited, mixed])


def cases(make, seed, count=20):
    """Poses within their limits, each with an aim in reach of its lengths."""
    random = Random(seed)
    for number in range(count):
        pose = random_pose(make(number, random.randint(1, 6), 3.0), random, random_base(random))
        pose.project()
        yield pose, pose.head(0) + random_direction(random) * pose.chain.reach * random.random()


def half_square(pose, joints, changes, aim):
    """Half the squared distance in double precision."""
    there = pose.copy()
    apply_changes(there, joints, changes)
    return ((forward(pose.chain, pose.base, there.rotations)[0][-1] - np.array(aim)) ** 2).sum() / 2.0


@every_kind
def test_the_calculated_slope_is_that_of_finite_differences(make):
    for pose, aim in cases(make, 1):
        joints, columns = jacobian(pose)
        for n, slope in enumerate(calculated(columns, aim - pose.tip)):
            if min(-columns[n].least, columns[n].most) > 1e-2:
                there, back = (
                    half_square(pose, joints, [way * (k == n) for k in range(len(columns))], aim)
                    for way in (1e-2, -1e-2)
                )
                assert slope == pytest.approx((there - back) / 2e-2, abs=4e-4 * pose.chain.reach**2)


@every_kind
def test_the_measured_slope_is_the_calculated_one_and_leaves_no_turns(make):
    for pose, aim in cases(make, 2):
        joints, columns = jacobian(pose, MAX_STEP)
        before = bits(pose.rotations)
        slopes = measured(pose, aim, joints, columns)
        assert bits(pose.rotations) == before
        assert pose.turns == []
        for slope, column, exact in zip(slopes, columns, calculated(columns, aim - pose.tip), strict=True):
            one_sided = min(-column.least, column.most) < TRIAL
            assert slope == pytest.approx(exact, abs=(5e-2 if one_sided else 2e-4) * pose.chain.reach**2)


@every_kind
@pytest.mark.parametrize("step", [gradient.step, gradient.step_measured])
def test_no_step_leads_uphill_on_chains_of_any_size(make, step):
    for size in (1e-3, 1.0, 1e3):
        for pose, target in cases(make, 3):
            aim = pose.head(0) + (target - pose.head(0)) * size
            for _ in range(5):
                before = (aim - pose.tip).length
                step(pose, aim)
                assert (aim - pose.tip).length <= before + 2e-6 * max(pose.chain.reach, before)


def test_every_joint_turns_in_proportion_to_its_slope():
    for pose, aim in cases(random_chain, 4):
        start = pose.rotations[:]
        slopes = calculated(jacobian(pose)[1], aim - pose.tip)
        gradient.step(pose, aim)
        sizes = [hypot(*slopes[3 * i : 3 * i + 3]) for i in range(len(pose))]
        angles = list(map(rotation_angle, start, pose.rotations))
        assert [angle * max(sizes) for angle in angles] == pytest.approx(
            [size * max(angles) for size in sizes], abs=1e-5
        )


def test_a_joint_at_its_limit_stays_while_it_is_pushed_outward():
    chain = straight((1.0, 1.0), [Hinge(X, -0.1, 0.1), Hinge(X, 0.0, pi / 2.0)])
    for step in (gradient.step, gradient.step_measured, Accelerated()):
        pose = chain.rest_pose()
        for _ in range(300):
            step(pose, Vector((0.0, -1.0, 1.0)))
        assert [twist(rotation, X) for rotation in pose.rotations] == pytest.approx([0.1, pi / 2.0], abs=1e-6)


def swung(angle, aim_at, distance, steps):
    """Method 2 for a single link of length 1 at `angle`, its aim in the direction `aim_at`; in plain numbers."""
    speed, old, angles = 0.0, None, []
    for _ in range(steps):
        error = hypot(cos(angle) - distance * cos(aim_at), sin(angle) - distance * sin(aim_at))
        new = distance * sin(angle - aim_at)
        if old is not None and old * new < 0.0:
            angle, speed = angle + speed * new / (new - old), 0.0
        else:
            speed += new / (1.0 + error)
            angle -= speed
        old = new
        angles.append(angle)
    return angles


def test_speed_grows_until_the_lowest_point_is_passed_and_then_goes_back_by_the_slopes():
    for start, aim_at, distance in ((0.3, 1.5, 0.9), (-1.0, 0.5, 0.7), (0.0, -1.2, 1.3)):
        pose = straight((1.0,), [Hinge(X)]).rest_pose()
        pose.put(0, about(X, start))
        accelerated, aim = Accelerated(), Vector((0.0, distance * cos(aim_at), distance * sin(aim_at)))
        for angle in swung(start, aim_at, distance, 8):
            accelerated(pose, aim)
            assert twist(pose.rotations[0], X) == pytest.approx(angle, abs=1e-4)


def test_what_was_remembered_of_another_pose_is_forgotten():
    for pose, aim in cases(random_chain, 5):
        moved, fresh = pose.copy(), pose.copy()
        used = Accelerated()
        for _ in range(3):
            used(moved, aim)
        moved.restore(pose.rotations, 0)
        used(moved, aim)
        Accelerated()(fresh, aim)
        assert bits(moved.rotations) == bits(fresh.rotations)


def iterations(solver, count=60):
    """Median on the two-link arm of the source, to its 0.1 units, targets and poses anywhere."""
    random, chain, counts = Random(6), straight((10.0, 10.0), [Hinge(X)] * 2), []
    for _ in range(count):
        distance, angle = 19.5 * sqrt(random.random()), random.uniform(-pi, pi)
        start = Pose(chain, chain.rest_pose().base, [about(X, random.uniform(-pi, pi)) for _ in range(2)])
        target = Point((0.0, distance * cos(angle), distance * sin(angle)))
        counts.append(solve(start, target, solver=solver, tolerance=0.1, iterations=3000, finish=False).iterations)
    return median(counts)


def test_on_the_sources_arm_speed_takes_less_than_half_the_iterations():
    """With the source's own steps of a few tenths of a degree: 500 and 59."""
    simple, fast = iterations("GRADIENT"), iterations("GRADIENT_ACCELERATED")
    assert 40.0 < simple < 160.0
    assert 10.0 < fast < 0.5 * simple


@pytest.mark.parametrize(
    ("solver", "make", "share"),
    [
        ("GRADIENT", random_chain, 0.9),
        ("GRADIENT_MEASURED", random_chain, 0.9),
        ("GRADIENT_ACCELERATED", random_chain, 0.95),
        ("GRADIENT", limited, 0.7),
        ("GRADIENT_ACCELERATED", limited, 0.8),
    ],
)
def test_most_targets_within_the_limits_are_reached_without_any_help(solver, make, share, long):
    random, reached, count = Random(7), 0, 15 if long else 10
    for seed in range(count):
        chain = make(seed, 5)
        there, start = random_pose(chain, random), random_pose(chain, random)
        there.project()
        reached += solve(
            start, Point(there.tip), solver=solver, tolerance=1e-2 * chain.reach, iterations=1000, finish=False
        ).reached
    assert reached >= share * count

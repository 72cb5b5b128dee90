# SPDX-License-Identifier: GPL-3.0-or-later
"""Poses, goals and finite differences for the tests of soft goals."""

from math import atan2, pi
from random import Random

import numpy as np
import pytest
from mathutils import Vector

from ik_triangulation.goals import Direction, Orientation, Point, Pole
from ik_triangulation.goals.goal import JointAxis, ranked, soft_cost
from ik_triangulation.kinematics import EulerLimits, Hinge, Pose
from ik_triangulation.kinematics.rotation import about, rotation_angle
from ik_triangulation.solvers.jacobian import apply_changes, jacobian
from ik_triangulation.solvers.null_space import _axes, optimise, optimise_from_restarts

from ..chains import (
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
BONE = Vector((0.0, 1.0, 0.0))
SAME = 1.0 + 1e-6  # times as much, which is what a pose that was taken back may differ by


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


def error_of(pose, target):
    return (target.closest(pose.tip) - pose.tip).length


def assert_optimising_keeps_tip_and_limits(pose, soft, random):
    """Optimise the soft goals, with and without restarts: no ranked cost rises, the tip stays within tolerance."""
    target = Point(pose.tip + random_direction(random) * 1e-4 * pose.chain.reach)
    enough = 1e-3 * pose.chain.reach
    order = ranked(soft)
    before = soft_cost(pose, order)
    optimise(pose, target, soft, enough)
    settled = soft_cost(pose, order)
    assert settled <= before * SAME
    assert error_of(pose, target) <= enough
    optimise_from_restarts(pose, target, soft, enough, 1)
    assert soft_cost(pose, order) <= settled * SAME
    assert error_of(pose, target) <= enough
    assert_inside(pose)


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


def arm():
    """A shoulder of three axes, an elbow of one, a wrist of three: seven degrees of freedom, all with limits."""
    ball = EulerLimits("YXZ", (-1.6, -1.4, -1.6), (1.6, 1.4, 1.6))
    wrist = EulerLimits("YXZ", (-0.9, -1.4, -0.6), (0.9, 1.4, 0.6))
    return straight((1.0, 0.9, 0.4), [ball, Hinge(Vector((1.0, 0.0, 0.0)), 0.05, 2.6), wrist])


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

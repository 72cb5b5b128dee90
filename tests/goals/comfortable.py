# SPDX-License-Identifier: GPL-3.0-or-later
"""Poses and soft goals for the tests of comfort and obstacles."""

from random import Random

import pytest
from mathutils import Matrix, Quaternion, Vector

from ik_triangulation.goals.goal import JointAxis, soft_cost
from ik_triangulation.kinematics import Pose
from ik_triangulation.solvers.jacobian import apply_changes, jacobian
from ik_triangulation.solvers.null_space import _axes

from ..chains import (
    hinged,
    limited,
    mixed,
    random_base,
    random_chain,
)

TRIAL = 1e-2  # [rad] of finite differences: what single precision can tell apart
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

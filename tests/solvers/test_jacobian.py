# SPDX-License-Identifier: GPL-3.0-or-later
"""The columns are what finite differences of plain forward kinematics give, for every kind of joint."""

from math import inf
from random import Random

import numpy as np
import pytest
from mathutils import Vector

from ik_triangulation.kinematics import Chain, Joint, Locked
from ik_triangulation.kinematics.rotation import rotation_angle
from ik_triangulation.solvers.jacobian import apply_changes, jacobian

from ..chains import forward, hinged, limited, mixed, random_base, random_chain, random_pose

TRIAL = 1e-2
every_kind = pytest.mark.parametrize("make", [random_chain, hinged, limited, mixed])


def poses(make, seed, count=20):
    random = Random(seed)
    for number in range(count):
        chain = make(number, random.randint(1, 6), 3.0)
        pose = random_pose(chain, random, random_base(random))
        pose.project()
        yield pose


def with_joints(chain, **fields):
    """The same chain with other values in all joints."""
    return Chain([Joint(j.name, j.offset, j.rest, j.freedom, **fields) for j in chain.joints], chain.tip)


def moved(pose, joints, changes):
    """Where the tip comes to, in double precision."""
    there = pose.copy()
    apply_changes(there, joints, changes)
    return forward(pose.chain, pose.base, there.rotations)[0][-1]


def assert_columns_are_finite_differences(pose):
    joints, columns = jacobian(pose)
    for n, column in enumerate(columns):
        if min(-column.least, column.most) > TRIAL:
            there, back = (
                moved(pose, joints, [way * (k == n) for k in range(len(columns))]) for way in (TRIAL, -TRIAL)
            )
            measured = (there - back) / (2.0 * TRIAL)
            assert np.abs(np.array([column.x, column.y, column.z]) - measured).max() < 2e-4 * pose.chain.reach


@every_kind
def test_columns_are_finite_differences(make):
    for pose in poses(make, 1):
        assert_columns_are_finite_differences(pose)


@every_kind
def test_columns_of_scaled_joints_are_finite_differences(make):
    for pose in poses(lambda *of: with_joints(make(*of), scale=Vector((1.0, 1.5, 0.7))), 2):
        assert_columns_are_finite_differences(pose)


@every_kind
def test_stiffness_scales_columns_and_widens_bounds(make):
    for pose in poses(make, 3):
        stiff = random_pose(with_joints(pose.chain, stiffness=0.75), Random(0), pose.base)
        stiff.rotations[:] = pose.rotations
        for soft, hard in zip(jacobian(pose)[1], jacobian(stiff.copy())[1], strict=True):
            assert hard[:3] == pytest.approx([0.25 * value for value in soft[:3]], abs=1e-6 * pose.chain.reach)
            assert hard[3:] == pytest.approx([4.0 * value for value in soft[3:]])
        assert_columns_are_finite_differences(stiff.copy())


def test_a_joint_that_is_wholly_stiff_or_locked_has_no_columns():
    chain = random_chain(1, 3)
    assert jacobian(with_joints(chain, stiffness=1.0).rest_pose()) == ([], [])
    assert jacobian(random_chain(1, 3, freedoms=[Locked()] * 3).rest_pose()) == ([], [])


@every_kind
def test_no_change_leaves_every_joint_where_it_is(make):
    for pose in poses(make, 4):
        before = pose.rotations[:]
        joints, columns = jacobian(pose)
        apply_changes(pose, joints, [0.0] * len(columns))
        assert max(map(rotation_angle, before, pose.rotations)) < 2e-6


@every_kind
def test_changes_to_the_bounds_are_allowed_and_none_leads_beyond(make):
    for pose in poses(make, 5):
        joints, columns = jacobian(pose, 1.0)
        for least, most in ((c.least, c.most) for c in columns):
            assert -1.0 <= least <= 0.0 <= most <= 1.0
        at_bounds, beyond = pose.copy(), pose.copy()
        apply_changes(at_bounds, joints, [c.most for c in jacobian(pose, 2.0)[1]])
        apply_changes(beyond, joints, [min(c.most + 1.0, 2.0) for c in jacobian(pose, inf)[1]])
        for there in (at_bounds, beyond):
            for joint, rotation in zip(there.chain.joints, there.rotations, strict=True):
                assert rotation_angle(joint.freedom.nearest(rotation), rotation) < 2e-6

# SPDX-License-Identifier: GPL-3.0-or-later
"""Chains on one line with the aim bend or unfold, the same way each time, and only where that helps."""

from math import pi, radians
from random import Random

import pytest
from mathutils import Vector

from ik_triangulation.goals import Point
from ik_triangulation.kinematics import Chain, Free, Hinge, Joint
from ik_triangulation.kinematics.rotation import about, rotation_angle, twist
from ik_triangulation.solvers import solve
from ik_triangulation.solvers.jacobian import escape, jacobian

from ..chains import bits, hinged, limited, random_chain, random_direction, random_pose, straight

X = Vector((1.0, 0.0, 0.0))
BREAKERS = [
    "GRADIENT",
    "GRADIENT_MEASURED",
    "GRADIENT_ACCELERATED",
    "JACOBIAN_TRANSPOSE",
    "FABRIK",
    "SIMPLEX",
    "ROSENBROCK",
]


def unlocked(pose, y):
    """Whether the pose left a deadlock with the aim at (0, y, 0)."""
    return escape(pose, Vector((0.0, y, 0.0)), jacobian(pose)[1])


@pytest.mark.parametrize("solver", BREAKERS)
@pytest.mark.parametrize("links", [2, 3, 7])
@pytest.mark.parametrize("share", [-0.6, 0.1, 0.5, 0.9])
def test_a_straight_chain_reaches_what_lies_on_its_own_line(solver, links, share):
    chain = straight((1.0,) * links)
    target = Point((0.0, share * chain.reach, 0.0))
    solution = solve(
        chain.rest_pose(), target, solver=solver, tolerance=1e-2 * chain.reach, iterations=1000, finish=False
    )
    assert solution.reached


@pytest.mark.parametrize("links", [1, 2, 3, 20])
@pytest.mark.parametrize("share", [-3.0, -1.0, -0.3, 0.2, 0.9, 0.99, 0.999, 1.0, 1.001, 3.0])
def test_a_straight_chain_leaves_the_line_just_where_that_brings_the_tip_nearer(links, share):
    chain = straight((1.0,) * links)
    pose = chain.rest_pose()
    helps = share < 0.0 or (share < 1.0 and links > 1)
    assert unlocked(pose, share * chain.reach) == helps
    if helps:
        assert (pose.tip - Vector((0.0, share * chain.reach, 0.0))).length < abs(1.0 - share) * chain.reach
    else:
        assert pose.turns == []


@pytest.mark.parametrize(("lower", "upper", "way"), [(0.0, 2.6, 1.0), (-2.6, 0.0, -1.0), (-2.6, 2.6, 1.0)])
def test_a_knee_bends_as_limbs_do_or_else_as_it_can(lower, upper, way):
    pose = straight((1.0, 1.0), [Free(), Hinge(X, lower, upper)]).rest_pose()
    assert unlocked(pose, 1.5)
    assert twist(pose.rotations[1], X) * way > radians(1.0)


def test_a_folded_chain_unfolds():
    for lengths in ((1.0, 1.0, 1.0), (1.0, 2.0, 1.5), (2.0, 1.0, 1.0, 1.0)):
        pose = straight(lengths).rest_pose()
        for i in range(1, len(lengths)):
            pose.turn(i, about(X, pi))
        before = (pose.tip - pose.head(0)).length
        assert unlocked(pose, 0.9 * sum(lengths))
        assert (pose.tip - pose.head(0)).length > before


def test_a_chain_folded_towards_an_aim_in_the_core_that_it_cannot_reach_stays():
    pose = straight((5.0, 1.0)).rest_pose()
    pose.turn(1, about(X, pi))
    before = bits(pose.rotations)
    assert not unlocked(pose, 3.0)
    assert bits(pose.rotations) == before


@pytest.mark.parametrize("make", [random_chain, hinged, limited])
def test_a_pose_that_small_turns_bring_nearer_is_left_to_them(make):
    random = Random(1)
    for seed in range(40):
        pose = random_pose(make(seed, random.randint(1, 6)), random)
        pose.project()
        aim = random_direction(random) * pose.chain.reach * 0.8
        columns = jacobian(pose)[1]
        along = max(abs(c.along((aim - pose.tip).normalized())) for c in columns)
        if along > 0.1 * pose.chain.reach:
            assert not escape(pose, aim, columns)
            assert pose.turns == []


def test_joints_that_are_wholly_stiff_stay():
    joints = [Joint(j.name, j.offset, j.rest, j.freedom, stiffness=1.0) for j in straight((1.0,) * 3).joints]
    pose = Chain(joints, Vector((0.0, 1.0, 0.0))).rest_pose()
    assert not unlocked(pose, 1.5)
    assert pose.turns == []


def test_limits_are_kept_and_the_way_out_is_the_same_each_time():
    random = Random(2)
    for _ in range(20):
        freedoms = [Hinge(X, -random.uniform(0.0, 0.1), random.uniform(0.0, 0.1)) for _ in range(4)]
        poses = [straight((1.0,) * 4, freedoms).rest_pose() for _ in range(2)]
        assert [unlocked(pose, 2.0) for pose in poses] in ([True, True], [False, False])
        assert bits(poses[0].rotations) == bits(poses[1].rotations)
        for freedom, rotation in zip(freedoms, poses[0].rotations, strict=True):
            assert rotation_angle(freedom.nearest(rotation), rotation) < 2e-6

# SPDX-License-Identifier: GPL-3.0-or-later
"""A chain at one frame, of free joints or with limits, is posed as the arrays pose it."""

from random import Random

import numpy as np
import pytest
from mathutils import Euler, Quaternion, Vector

from ik_triangulation.cooperative import finished
from ik_triangulation.goals import Direction, Goal, Line, Point
from ik_triangulation.goals.from_goals import tasks_of
from ik_triangulation.kinematics import Cone, EulerLimits, Free, Hinge, Locked, Pose, framed
from ik_triangulation.kinematics.batch import Tree
from ik_triangulation.kinematics.rotation import rotation_angle
from ik_triangulation.solvers.natural.chains import spread
from ik_triangulation.solvers.natural.one_chain import pose_chain, suits_chain
from ik_triangulation.solvers.solver import PLAIN_LIMB, LimbForm

from ...chains import straight
from .motions import chain_of


def reference(count, seed, kind=Free):
    """A pose of a chain, near rest or, for seed 0, straight; with a source of random numbers."""
    random = Random(seed)
    lengths = [random.uniform(0.5, 1.5) for _ in range(count)]
    chain = chain_of(
        lengths, [0.0 if seed == 0 else random.uniform(-10.0, 10.0) for _ in lengths], [kind() for _ in lengths]
    )
    base = Euler((random.uniform(-3.0, 3.0), random.uniform(-1.0, 1.0), 0.5)).to_matrix().to_4x4()
    scatter = 0.0 if seed == 0 else 0.15
    turns = [Euler([random.gauss(0.0, scatter) for _ in range(3)]).to_quaternion() for _ in lengths]
    return Pose(chain, base, turns), random


def goal_of(pose, random, share, soft=()):
    """A point at this share of the reach."""
    away = Vector([random.gauss(0.0, 1.0) for _ in range(3)]).normalized() * (share * pose.chain.reach)
    return Goal(Point(pose.head(0) + away), soft, 1e-4 * pose.chain.reach)


@pytest.mark.parametrize("count", [3, 5, 12])
def test_a_pose_is_that_of_the_arrays(count):
    for seed in range(6):
        pose, random = reference(count, seed)
        goal, start = goal_of(pose, random, random.uniform(0.2, 0.97)), pose.copy()
        assert suits_chain(pose, goal, PLAIN_LIMB)
        assert pose_chain(pose, goal)
        assert (pose.tip - goal.target.location).length <= 5e-6 * pose.chain.reach
        tree = Tree.of(pose.chain)
        given = np.array(start.rotations, float)[:, :, None]
        wanted = finished(spread(tree, tree.states([start]), tasks_of([goal], pose.chain.reach), given))
        for found, other in zip(pose.rotations, tree.rotations(wanted)[:, :, 0], strict=True):
            assert rotation_angle(found, Quaternion(other)) < 0.02


ROUND = EulerLimits("XYZ", (-0.6, -0.3, -0.6), (0.6, 0.3, 0.6))
LIMITS = {
    "euler": [ROUND, EulerLimits("ZXY", (-0.4, -1.2, -0.2), (1.2, 0.3, 0.9))],
    "hinges": [Free(), Hinge((1.0, 0.0, 0.0), -0.4, 0.5), Hinge((0.0, 0.0, 1.0), -0.4, 0.5)],
    "mixed": [
        Free(),
        Locked(),
        framed(ROUND, Euler((0.3, 0.2, 0.5)).to_quaternion()),
        Hinge((1.0, 0.0, 0.0), -0.3, 2.4),
    ],
    "hinges by euler": [ROUND, EulerLimits("XYZ", (-0.2, 0.0, 0.0), (0.7, 0.0, 0.0))],
}


@pytest.mark.parametrize("kind", LIMITS)
def test_a_pose_with_limits_is_that_of_the_arrays_and_inside_them(kind):
    posed, at_limits = 0, 0
    for seed in range(12):
        count = 3 + seed % 6
        freedoms = [LIMITS[kind][i % len(LIMITS[kind])] for i in range(count)]
        pose, random = reference(count, seed + 1, iter(freedoms).__next__)
        own = [freedom.nearest(turn) for freedom, turn in zip(freedoms, pose.rotations, strict=True)]
        start = Pose(pose.chain, pose.base, own)
        away = [Euler([random.gauss(0.0, 0.5) for _ in range(3)]).to_quaternion() for _ in own]
        far = [freedom.nearest(turn @ more) for freedom, turn, more in zip(freedoms, own, away, strict=True)]
        there = Pose(pose.chain, pose.base, far)
        goal, pose = Goal(Point(there.tip.copy()), (), 1e-4 * pose.chain.reach), start.copy()
        assert suits_chain(pose, goal, PLAIN_LIMB)
        if not pose_chain(pose, goal):
            assert pose.rotations == start.rotations
            continue
        posed += 1
        assert (pose.tip - goal.target.location).length <= 5e-6 * pose.chain.reach
        tree = Tree.of(pose.chain)
        given = np.array(start.rotations, float)[:, :, None]
        wanted = finished(spread(tree, tree.states([start]), tasks_of([goal], pose.chain.reach), given))
        for found, other, freedom in zip(pose.rotations, tree.rotations(wanted)[:, :, 0], freedoms, strict=True):
            assert rotation_angle(found, Quaternion(other)) < 1e-4
            assert rotation_angle(freedom.nearest(found), found) < 2e-6
            found_at = freedom.coordinates(found)
            at_limits += any(min(at.value - at.lower, at.upper - at.value) < 1e-5 for at in found_at)
    assert posed >= 10
    assert at_limits > 0


@pytest.mark.parametrize(("count", "nearer"), [(3, 0.9), (6, 0.9), (3, 0.98), (6, 0.98)])
def test_a_straight_chain_bends_as_on_the_arrays(count, nearer):
    links = (1.0, 0.8, 1.1, 0.7, 1.0, 0.9)[:count]
    pose = straight(links).rest_pose()
    goal = Goal(Point(Vector((0.02, nearer, 0.1)) * pose.chain.reach), (), 1e-4 * pose.chain.reach)
    tree, given = Tree.of(pose.chain), np.array(pose.rotations, float)[:, :, None]
    wanted = finished(spread(tree, tree.states([pose]), tasks_of([goal], pose.chain.reach), given))
    assert pose_chain(pose, goal)
    assert (pose.tip - goal.target.location).length <= 5e-6 * pose.chain.reach
    for found, other in zip(pose.rotations, tree.rotations(wanted)[:, :, 0], strict=True):
        assert rotation_angle(found, Quaternion(other)) < 2e-3


def test_what_is_met_already_stays():
    pose, _ = reference(5, 3)
    before = pose.rotations[:]
    assert pose_chain(pose, Goal(Point(pose.tip), (), 1e-4))
    assert pose.rotations == before


def test_other_chains_and_goals_are_left_to_the_arrays():
    pose, random = reference(5, 1)
    near = goal_of(pose, random, 0.5)
    direction = Direction(Vector((0.0, 0.0, 1.0)))
    assert not suits_chain(pose, goal_of(pose, random, 1.2), PLAIN_LIMB)
    assert not suits_chain(pose, near._replace(soft=(direction,)), PLAIN_LIMB)
    assert not suits_chain(pose, near._replace(target=Line(Vector(), Vector((0.0, 0.0, 1.0)))), PLAIN_LIMB)
    assert not suits_chain(reference(5, 1, lambda: Cone(1.0, -1.0, 1.0))[0], near, PLAIN_LIMB)
    assert not suits_chain(reference(5, 1, Locked)[0], near, PLAIN_LIMB)
    assert not suits_chain(reference(2, 1)[0], near, PLAIN_LIMB)
    assert not suits_chain(reference(3, 1)[0], near, LimbForm(has_end=True))

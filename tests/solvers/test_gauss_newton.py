# SPDX-License-Identifier: GPL-3.0-or-later
"""A step of Gauss-Newton turns ball joints as their coordinates say, and foresees how the way of the tip bends."""

from random import Random

import numpy as np
import pytest
from mathutils import Vector

from ik_triangulation.kinematics import Chain, Joint
from ik_triangulation.kinematics.rotation import rotation_vector
from ik_triangulation.solvers import gauss_newton
from ik_triangulation.solvers.jacobian import jacobian

from ..chains import mixed, random_base, random_chain, random_direction, random_pose

SHORT = 1e-3  # of the reach: a way of the tip that is as good as straight


def poses(links, count=20, stiff=False, make=random_chain):
    random = Random(links)
    for number in range(count):
        chain = make(number, links, 3.0)
        if stiff:
            shares = [*random.choices((0.0, 0.4, 1.0), k=links - 1), 0.0]
            pairs = zip(chain.joints, shares, strict=True)
            chain = Chain([Joint(j.name, j.offset, j.rest, j.freedom, share) for j, share in pairs], chain.tip)
        yield random_pose(chain, random, random_base(random)), random


@pytest.mark.parametrize("stiff", [False, True])
@pytest.mark.parametrize("links", [2, 3, 5, 12])
def test_a_short_step_of_ball_joints_is_the_least_change_of_all_their_coordinates(links, stiff):
    compared = 0
    for pose, random in poses(links, stiff=stiff):
        way = random_direction(random) * (SHORT * pose.chain.reach)
        joints, columns = jacobian(pose)
        table = np.array(columns)[:, :3].T
        if np.linalg.cond(table) > 20.0:  # there a short way of the tip is none of the joints
            continue
        changes = iter(np.linalg.pinv(table) @ way)
        wanted = {joint.joint: Vector([joint.weight * next(changes) for _ in range(3)]) for joint in joints}
        close = 0.1 * max(turn.length for turn in wanted.values())
        before = pose.rotations[:]
        gauss_newton.step(pose, pose.tip + way)
        for i, rotation in enumerate(pose.rotations):
            turned = rotation_vector(rotation @ before[i].conjugated())
            assert (turned - wanted.get(i, Vector())).length < close
        compared += 1
    assert compared >= 12


@pytest.mark.parametrize("links", [2, 3, 5, 12])
def test_a_step_of_ball_joints_is_right_to_the_second_order(links):
    ratios = []
    for pose, random in poses(links, 60):
        if np.linalg.cond(np.array(jacobian(pose)[1])[:, :3]) > 5.0:
            continue
        way = random_direction(random) * (0.2 * pose.chain.reach)
        left = []
        for share in (1.0, 0.5):
            trial, aim = pose.copy(), pose.tip + way * share
            gauss_newton.step(trial, aim)
            left.append((aim - trial.tip).length)
        ratios.append(left[0] / left[1])
    assert len(ratios) >= 50
    assert np.median(ratios) > 6.0  # 8 for an error of the third order, 4 for one of the second


@pytest.mark.parametrize("links", [2, 5, 12])
def test_no_ball_joint_turns_by_more_than_is_sensible_at_once(links):
    for pose, random in poses(links, make=mixed):
        before = pose.rotations[:]
        gauss_newton.step(pose, random_direction(random) * (2.0 * pose.chain.reach))
        for i, _ in pose.chain.balls:
            turned = rotation_vector(pose.rotations[i] @ before[i].conjugated())
            assert turned.length < gauss_newton.MAX_STEP + 1e-5

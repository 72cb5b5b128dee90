# SPDX-License-Identifier: GPL-3.0-or-later
"""Forward kinematics of many frames at once gives what each pose gives for itself, and Blender's rotations."""

from random import Random

import numpy as np
import pytest
from mathutils import Euler, Quaternion, Vector

from ik_triangulation.kinematics import Chain, Joint, Pose
from ik_triangulation.kinematics.rotation import EULER_ORDERS
from ik_triangulation.motion.frames import quaternions_of

from ..chains import mixed, random_base, random_pose, random_rotation
from .paths import kinematics_of

FRAMES = 7


def poses(chain, seed=0):
    random = Random(seed)
    return [random_pose(chain, random, random_base(random)) for _ in range(FRAMES)]


def scaled(chain):
    """The chain with a bone that is scaled unequally."""
    joints = [
        Joint(joint.name, joint.offset, joint.rest, joint.freedom, scale=Vector((1.0, 2.0, 0.5)) if i == 1 else None)
        for i, joint in enumerate(chain.joints)
    ]
    return Chain(tuple(joints), chain.tip)


def tips_of(frames, which, given=None):
    """The tips at some of the frames, with other rotations given for some joints."""
    batch = kinematics_of(frames)
    turned = np.moveaxis(batch.rotations[which], 0, 2).copy()
    for joint, rotations in (given or {}).items():
        turned[joint] = np.array(rotations).T
    return batch.tips(turned, which)


@pytest.mark.parametrize("change", [lambda chain: chain, scaled], ids=["plain", "scaled"])
def test_tips_are_those_of_the_poses(change):
    frames = poses(change(mixed(1, 5)))
    which = np.array([5, 0, 3])
    tips = tips_of(frames, which)
    assert tips == pytest.approx(np.array([frames[i].tip for i in which]), abs=1e-5)


@pytest.mark.parametrize("change", [lambda chain: chain, scaled], ids=["plain", "scaled"])
def test_rotations_that_are_given_replace_those_of_their_joint(change):
    random, which = Random(4), np.arange(FRAMES)
    frames = poses(change(mixed(2, 4)))
    given = [random_rotation(random) for _ in frames]
    tips = tips_of(frames, which, {2: given})
    for pose, rotation, tip in zip(frames, given, tips, strict=True):
        changed = Pose(pose.chain, pose.base, [*pose.rotations[:2], rotation, *pose.rotations[3:]])
        assert (changed.tip - Vector(tip)).length < 1e-5


def test_poses_of_several_chains_are_mixed():
    frames = [*poses(mixed(1, 3)), *poses(mixed(9, 3), seed=1)]
    tips = tips_of(frames, np.arange(len(frames)))
    assert tips == pytest.approx(np.array([pose.tip for pose in frames]), abs=1e-5)


@pytest.mark.parametrize("order", EULER_ORDERS)
def test_euler_angles_mean_what_blender_takes_them_for(order):
    values = np.random.default_rng(0).uniform(-4.0, 4.0, (20, 3))
    for row, angles in zip(quaternions_of(values.T, order).T, values, strict=True):
        expected = np.array(Euler(angles, order).to_quaternion())
        assert min(np.abs(row - expected).max(), np.abs(row + expected).max()) < 1e-5


def test_an_axis_of_any_length_is_turned_about():
    axis = np.array([0.3, -2.0, 0.9])
    (row,) = quaternions_of(np.array([[1.2, *axis]]).T, "AXIS_ANGLE").T
    assert row == pytest.approx(np.array(Quaternion(Vector(axis).normalized(), 1.2)), abs=1e-6)


@pytest.mark.parametrize(("mode", "channels"), [("QUATERNION", 4), ("AXIS_ANGLE", 4)])
def test_values_of_zero_are_no_rotation(mode, channels):
    assert quaternions_of(np.zeros((channels, 2)), mode).T.tolist() == [[1.0, 0.0, 0.0, 0.0]] * 2

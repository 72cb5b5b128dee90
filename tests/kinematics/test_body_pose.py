# SPDX-License-Identifier: GPL-3.0-or-later
"""Poses of a body are those of its tree, and are found again from it."""

import numpy as np
import pytest
from mathutils import Euler, Matrix, Quaternion, Vector

from ik_triangulation.kinematics import BodyPose
from ik_triangulation.kinematics.batch import Geometry
from ik_triangulation.kinematics.body import poses_of_body, states_of
from ik_triangulation.kinematics.rotation import rotation_angle
from scripts.benchmarks import humanoid

from ..trees import centre_of_mass

FIGURE = humanoid.body()


def random_poses(count=5, seed=2):
    states = humanoid.random_states(FIGURE, count, np.random.default_rng(seed))
    return states, poses_of_body(FIGURE, states)


def test_forward_kinematics_is_that_of_the_tree_and_of_plain_matrices():
    states, poses = random_poses()
    geometry, plain = Geometry(FIGURE.tree, states), humanoid.forward(FIGURE, states)
    for n, pose in enumerate(poses):
        assert np.abs(pose.frames - geometry.frames[..., n]).max() < 2e-6
        assert np.abs(pose.frames - plain[:, n]).max() < 2e-6
        for number, tip in enumerate(FIGURE.tips):
            assert (pose.tip(tip.name) - Vector(geometry.tip(number)[:, n])).length < 2e-6
            wanted = Matrix(geometry.tip_rotation(number)[..., n].tolist()).to_quaternion()
            assert rotation_angle(pose.tip_rotation(tip.name), wanted) < 1e-5


def test_poses_become_states_and_poses_again():
    states, poses = random_poses()
    again = states_of(poses)
    assert np.abs(again.angles - states.angles).max() < 1e-5
    assert np.abs(again.place - states.place).max() < 1e-6
    assert np.abs(Geometry(FIGURE.tree, again).heads - Geometry(FIGURE.tree, states).heads).max() < 1e-5


def test_each_state_has_a_place_of_its_own_even_if_all_poses_stand_at_one():
    pose = humanoid.standing(FIGURE)
    assert states_of([pose] * 3).place.shape == (3, 3)
    assert states_of([pose]).place.shape == (3, 1)


def test_a_pose_outside_its_limits_is_moved_inside():
    turns = [Euler((2.0, 2.0, 2.0)).to_quaternion()] * len(FIGURE.joints)
    pose = BodyPose(FIGURE, Matrix.Identity(4), turns)
    inside = pose.inside()
    assert inside is not pose
    assert all(j.freedom.allows(q) for j, q in zip(FIGURE.joints, inside.rotations, strict=True))
    assert inside.inside() is inside
    tree, states = FIGURE.tree, states_of([pose])
    assert (states.angles >= tree.lower).all()
    assert (states.angles <= tree.upper).all()


def test_the_stand_stands_on_its_feet_with_its_weight_between_them():
    pose = humanoid.standing(FIGURE)
    contacts = pose.contacts(["foot.L", "foot.R"])
    assert contacts.shape == (6, 3)
    assert np.ptp(contacts[:, 2]) < 0.02
    low, high = contacts.min(0), contacts.max(0)
    assert (low[:2] < centre_of_mass(pose)[:2]).all()
    assert (centre_of_mass(pose)[:2] < high[:2]).all()


def test_a_pose_is_not_changed_from_outside():
    pose = FIGURE.rest_pose()
    with pytest.raises(TypeError):
        pose.rotations[0] = Quaternion()
    with pytest.raises(TypeError):
        pose.base[0][0] = 2.0
    limb = pose.limb("hand.L")
    limb.turn(1, Quaternion((0, 0, 1), 0.1))
    assert pose.rotations[1] == Quaternion()

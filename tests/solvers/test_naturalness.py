# SPDX-License-Identifier: GPL-3.0-or-later
"""Naturalness is the turn off the reference, and bends that bodies do not make."""

from math import degrees, radians
from random import Random

import pytest
from mathutils import Matrix, Quaternion, Vector

from ik_triangulation.errors import SettingError
from ik_triangulation.kinematics import Chain, Cone, Free, Hinge, Joint, Locked, Pose
from ik_triangulation.kinematics.rotation import rotation_angle
from ik_triangulation.solvers.compare import naturalness

from ..chains import random_chain, random_pose, random_rotation

X, Y, Z = (Vector(axis) for axis in ((1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0)))
FREE = (Free(), Free(), Free())
AT_REST = radians(20.0)  # bend of the elbow about X, as a rig has it


def turn(axis, angle):
    """A rotation by so many degrees."""
    return Quaternion(axis, radians(angle))


def arm(bend=AT_REST, freedoms=FREE, base=None):
    """Upper arm, forearm and hand at rest, the elbow bent forwards about X by `bend` [rad]."""
    rests = Quaternion(), Quaternion(X, bend), Quaternion()
    offsets = Vector(), Y, Y * 0.9
    joints = [
        Joint(name, offset, rest, freedom)
        for name, offset, rest, freedom in zip(("upper", "fore", "hand"), offsets, rests, freedoms, strict=True)
    ]
    chain = Chain(tuple(joints), Y * 0.3)
    return Pose(chain, base or Matrix.Identity(4), [Quaternion() for _ in joints])


def posed(elbow=None, hand=None, shoulder=None, **how):
    """An arm with these rotations from rest, and their reference: the same pose."""
    pose = arm(**how)
    turns = [rotation or Quaternion() for rotation in (shoulder, elbow, hand)]
    return Pose(pose.chain, pose.base, turns), turns


def test_a_pose_is_as_far_from_its_reference_as_its_joints_turn_on_average():
    random = Random(1)
    for seed in range(10):
        pose = random_pose(random_chain(seed, 5), random)
        other = random_pose(pose.chain, random)
        turns = [rotation_angle(*pair) for pair in zip(pose.rotations, other.rotations, strict=True)]
        assert naturalness(pose, other.rotations) == pytest.approx(degrees(sum(turns) / 5.0))
        assert naturalness(pose, pose.rotations) == pytest.approx(0.0, abs=1e-3)


def test_joints_that_cannot_move_do_not_count():
    pose, reference = posed(freedoms=(Free(), Locked(), Free()))
    reference[1] = turn(X, 50.0)
    assert naturalness(pose, reference) == pytest.approx(0.0, abs=1e-3)
    assert naturalness(posed(freedoms=(Locked(),) * 3)[0], reference) == 0.0


def test_what_is_outside_its_limits_counts_by_as_much():
    tight = Hinge(X, 0.0, radians(40.0))
    pose, reference = posed(turn(X, 65.0), freedoms=(Free(), tight, Cone(radians(10.0))), hand=turn(Z, 15.0))
    assert naturalness(pose, reference) == pytest.approx(25.0 + 5.0, abs=1e-3)


@pytest.mark.parametrize(("swing", "wanted"), [(59.0, 0.0), (75.0, 15.0), (170.0, 110.0)])
def test_a_wrist_counts_from_sixty_degrees_of_swing_on_whatever_it_twists(swing, wanted):
    hand = turn(Vector((0.6, 0.0, -0.8)), swing) @ turn(Y, 80.0)
    assert naturalness(*posed(hand=hand)) == pytest.approx(wanted, abs=1e-3)


@pytest.mark.parametrize(("elbow", "wanted"), [(100.0, 0.0), (-20.0, 0.0), (-35.0, 15.0), (-90.0, 70.0)])
def test_an_elbow_counts_from_straight_on_backwards(elbow, wanted):
    assert naturalness(*posed(turn(X, elbow))) == pytest.approx(wanted, abs=1e-3)


def test_an_elbow_counts_from_thirty_degrees_of_sideways_bend_on():
    for angle, wanted in ((25.0, 0.0), (-25.0, 0.0), (70.0, 40.0), (-70.0, 40.0)):
        sideways = turn(X, -20.0) @ turn(Z, angle)  # straight, then aside
        assert naturalness(*posed(sideways)) == pytest.approx(wanted, abs=1e-3)


def test_nothing_else_about_the_limb_matters():
    """Not where it is, nor how the shoulder turns, nor the roll of its bones."""
    random = Random(2)
    for _ in range(10):
        base = Matrix.LocRotScale(Vector((3.0, -1.0, 2.0)), random_rotation(random), None)
        shoulder, elbow = random_rotation(random), turn(X, -75.0)
        assert naturalness(*posed(elbow, shoulder=shoulder, base=base)) == pytest.approx(55.0, abs=2e-3)


def test_a_limb_that_is_straight_at_rest_bends_as_its_reference_does():
    pose, _ = posed(turn(X, -40.0), bend=0.0)
    like, against = ([Quaternion(), turn(X, angle), Quaternion()] for angle in (-10.0, 10.0))
    assert naturalness(pose, like) == pytest.approx(30.0 / 3.0, abs=1e-3)
    assert naturalness(pose, against) == pytest.approx(50.0 / 3.0 + 40.0, abs=1e-3)
    straight = [Quaternion()] * 3
    assert naturalness(pose, straight) == pytest.approx(40.0 / 3.0, abs=1e-3)


def test_two_bones_are_a_limb_without_its_end_and_a_tail_is_none():
    upper, fore, _ = arm().chain.joints
    two = Chain((upper, fore), Y * 0.9)
    turns = [Quaternion(), turn(X, -50.0)]
    pose = Pose(two, Matrix.Identity(4), turns)
    assert naturalness(pose, turns) == pytest.approx(30.0, abs=1e-3)
    assert naturalness(pose, turns, of_body=False) == pytest.approx(0.0, abs=1e-3)


def test_a_reference_of_other_joints_is_refused():
    with pytest.raises(SettingError, match=r"2 rotations for 3 joints\. Give it as many"):
        naturalness(arm(), [Quaternion()] * 2)

# SPDX-License-Identifier: GPL-3.0-or-later
"""Chains at rest: lengths, what they can span, and what they refuse."""

from dataclasses import FrozenInstanceError
from math import inf, nan
from random import Random

import pytest
from mathutils import Quaternion, Vector

from ik_triangulation.errors import ChainError
from ik_triangulation.kinematics import Chain, Free, Joint
from ik_triangulation.kinematics.reach import reaches
from tests.chains import random_chain, random_pose, straight


def test_lengths_are_those_of_the_links_and_the_tip():
    chain = straight((3.0, 2.0, 1.0))
    assert chain.lengths == pytest.approx((3.0, 2.0, 1.0))
    assert chain.reach == pytest.approx(6.0)


@pytest.mark.parametrize(
    ("lengths", "expected"),
    [
        ((1.0,), ((1.0, 1.0), (0.0, 0.0))),
        ((3.0, 1.0), ((2.0, 4.0), (1.0, 1.0), (0.0, 0.0))),
        ((1.0, 3.0), ((2.0, 4.0), (3.0, 3.0), (0.0, 0.0))),
        ((2.0, 2.0, 1.0), ((0.0, 5.0), (1.0, 3.0), (1.0, 1.0), (0.0, 0.0))),
    ],
)
def test_the_longest_link_decides_how_near_the_end_comes(lengths, expected):
    assert reaches(lengths) == expected


def test_random_poses_never_leave_the_span():
    random = Random(1)
    for seed in range(50):
        chain = random_chain(seed, random.randint(1, 6), 20.0)
        for _ in range(20):
            pose = random_pose(chain, random)
            for i, (nearest, farthest) in enumerate(chain.reaches[:-1]):
                distance = (pose.tip - pose.head(i)).length
                assert nearest - 1e-5 * chain.reach <= distance <= farthest + 1e-5 * chain.reach


def test_a_chain_without_joints_is_refused():
    with pytest.raises(ChainError, match="at least one joint"):
        Chain((), Vector((0.0, 1.0, 0.0)))


@pytest.mark.parametrize("bad", [nan, inf])
def test_a_joint_that_is_nowhere_is_refused_by_name(bad):
    joint = Joint("elbow", Vector((0.0, bad, 0.0)), Quaternion(), Free())
    with pytest.raises(ChainError, match="'elbow' has an invalid rest pose"):
        Chain((joint,), Vector((0.0, 1.0, 0.0)))
    fine = Joint("hand", Vector(), Quaternion(), Free())
    with pytest.raises(ChainError, match="'hand' has an invalid tail"):
        Chain((fine,), Vector((0.0, bad, 0.0)))


def test_chains_and_joints_cannot_be_changed():
    chain = straight((1.0, 1.0))
    with pytest.raises(FrozenInstanceError):
        chain.tip = Vector()
    with pytest.raises(TypeError):
        chain.tip.x = 5.0
    with pytest.raises(TypeError):
        chain.joints[0].offset.x = 5.0


def test_rest_orientations_are_made_unit_length_once():
    joint = Joint("a", Vector(), Quaternion((2.0, 0.0, 0.0, 2.0)), Free())
    assert joint.rest.magnitude == pytest.approx(1.0, abs=1e-7)
    assert tuple(Joint("a", Vector(), joint.rest, Free()).rest) == tuple(joint.rest)

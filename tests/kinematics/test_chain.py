# SPDX-License-Identifier: GPL-3.0-or-later
"""A chain knows its lengths and what it can reach, cannot be changed, and joints that do not form one are refused."""

from dataclasses import FrozenInstanceError, replace
from math import inf, nan, pi
from random import Random

import numpy as np
import pytest
from mathutils import Matrix, Quaternion, Vector

from ik_triangulation.errors import ChainError
from ik_triangulation.kinematics import Chain, Free, Joint

from ..chains import forward, random_chain, random_lengths, random_pose, straight


def joint(offset=(0, 0, 0), rest=(1, 0, 0, 0), name="joint"):
    return Joint(name, Vector(offset), Quaternion(rest), Free())


def grown(lengths):
    """Least and greatest distance that links span, one link joined on after the other."""
    nearest = farthest = 0.0
    for length in reversed(lengths):
        nearest, farthest = max(0.0, length - farthest, nearest - length), length + farthest
    return nearest, farthest


def test_lengths_are_those_of_the_offsets_and_the_tip():
    chain = Chain((joint((9, 9, 9)), joint((0, 3, 4)), joint((2, 0, 0))), Vector((0, 0, -7)))
    assert chain.lengths == pytest.approx((5.0, 2.0, 7.0))
    assert chain.reach == pytest.approx(14.0)


def test_offsets_lead_to_the_next_head_and_last_to_the_end_effector():
    chain = random_chain(1, 5)
    assert list(chain.offsets) == [*(joint.offset for joint in chain.joints[1:]), chain.tip]


@pytest.mark.parametrize("ratio", [1.0, 10.0, 1e4])
def test_what_the_rest_of_a_chain_reaches_is_found_by_joining_link_to_link(ratio):
    random = Random(2)
    for _ in range(200):
        chain = straight(random_lengths(random, random.randint(1, 20), ratio))
        assert len(chain.reaches) == len(chain.joints) + 1
        for i, pair in enumerate(chain.reaches):
            assert pair == pytest.approx(grown(chain.lengths[i:]), rel=1e-6, abs=1e-6 * chain.reach)
        assert chain.spans == chain.reaches[1:]


@pytest.mark.parametrize(
    ("lengths", "expected"),
    [
        ((3.0, 1.0), ((2.0, 4.0), (1.0, 1.0), (0.0, 0.0))),
        ((1.0, 3.0), ((2.0, 4.0), (3.0, 3.0), (0.0, 0.0))),
        ((2.0, 2.0, 1.0), ((0.0, 5.0), (1.0, 3.0), (1.0, 1.0), (0.0, 0.0))),
    ],
)
def test_the_longest_link_decides_how_near_the_end_comes(lengths, expected):
    assert straight(lengths).reaches == expected


def test_what_a_chain_reaches_is_found_by_trying_every_fold():
    random = Random(3)
    fractions = np.exp(1j * np.linspace(0.0, pi, 61))
    for _ in range(30):
        chain = straight(random_lengths(random, 3, 20.0))
        a, b, c = chain.lengths
        distances = np.abs(a + b * fractions[:, None] + c * np.concatenate((fractions, fractions.conj()))[None, :])
        nearest, farthest = chain.reaches[0]
        assert distances.max() == pytest.approx(farthest, rel=1e-6)
        assert distances.min() >= nearest - 1e-6 * chain.reach
        assert distances.min() <= nearest + 0.06 * chain.reach  # the steps of the search


def test_no_pose_leaves_what_is_called_reachable():
    random = Random(4)
    for seed in range(100):
        chain = random_chain(seed, random.randint(1, 8), 50.0)
        pose = random_pose(chain, random)
        distance = (pose.tip - pose.head(0)).length
        nearest, farthest = chain.reaches[0]
        assert nearest - 1e-5 * chain.reach <= distance <= farthest + 1e-5 * chain.reach


def test_the_rest_pose_has_no_rotations_and_stands_where_forward_kinematics_says():
    chain = random_chain(5, 12)
    pose = chain.rest_pose()
    assert all(rotation == Quaternion() for rotation in pose.rotations)
    places, _ = forward(chain, pose.base, pose.rotations)
    assert (pose.tip - Vector(places[-1])).length < 1e-6 * chain.reach


def test_rest_orientations_are_made_unit_rotations():
    made = joint(rest=(3, 0, 4, 0))
    assert made.rest.magnitude == pytest.approx(1.0, abs=1e-6)
    assert tuple(joint(rest=made.rest).rest) == tuple(made.rest)


def test_a_chain_without_joints_is_refused():
    with pytest.raises(ChainError, match="at least one joint"):
        Chain((), Vector((0, 1, 0)))


@pytest.mark.parametrize("wrong", [nan, inf, -inf])
def test_a_place_that_is_no_finite_number_is_refused_by_the_bones_name(wrong):
    with pytest.raises(ChainError, match="'forearm' has an invalid rest pose"):
        Chain((joint(), joint((0, wrong, 0), name="forearm")), Vector((0, 1, 0)))
    with pytest.raises(ChainError, match="'forearm' has an invalid rest pose"):
        Chain((joint(), joint(rest=(wrong, 0, 0, 1), name="forearm")), Vector((0, 1, 0)))
    with pytest.raises(ChainError, match="'hand' has an invalid tail"):
        Chain((joint(), joint(name="hand")), Vector((wrong, 1, 0)))


def test_nothing_of_a_chain_can_be_changed():
    tip, offset = Vector((0, 1, 0)), Vector((0, 2, 0))
    chain = Chain([Joint("root", Vector(), Quaternion(), Free()), Joint("end", offset, Quaternion(), Free())], tip)
    assert isinstance(chain.joints, tuple)
    with pytest.raises(FrozenInstanceError):
        chain.tip = Vector()
    with pytest.raises(FrozenInstanceError):
        chain.joints[0].offset = Vector()
    with pytest.raises(TypeError):
        chain.tip.x = 5.0
    with pytest.raises(TypeError):
        chain.joints[0].offset.x = 5.0
    with pytest.raises(TypeError):
        chain.joints[0].rest.w = 5.0
    tip.y = offset.y = 50.0  # what the caller goes on doing with their own is their business
    assert chain.lengths == (2.0, 1.0)


def test_a_single_link_reaches_a_sphere_and_nothing_else():
    chain = straight((3.0,))
    assert chain.reaches == ((3.0, 3.0), (0.0, 0.0))
    assert chain.plain


def test_a_stiffness_that_is_no_share_is_refused_by_the_bones_name():
    for stiffness in (-0.1, 1.1, nan):
        with pytest.raises(ChainError, match=r"'joint' has a stiffness of .*\. Give it one from 0 to 1"):
            Chain([replace(joint(), stiffness=stiffness)], Vector((0, 1, 0)))
    assert Chain([replace(joint(), stiffness=1.0), replace(joint(), stiffness=0.0)], Vector((0, 1, 0))).reach == 1.0


def test_a_bone_under_one_that_is_scaled_flat_has_no_way_back():
    chain = Chain(
        [replace(joint(name="flat"), scale=Vector((1, 0, 1))), joint((0, 1, 0), name="hand")], Vector((0, 1, 0))
    )
    pose = chain.rest_pose()
    assert pose.back(0) == Matrix.Identity(3)
    with pytest.raises(ChainError, match="Bone 'hand' is turned in a frame that is scaled flat"):
        pose.back(1)

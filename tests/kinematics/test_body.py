# SPDX-License-Identifier: GPL-3.0-or-later
"""A body is a tree with named tips; what is no tree is refused by name."""

from dataclasses import replace
from math import inf, nan

import numpy as np
import pytest
from mathutils import Matrix, Quaternion, Vector

from ik_triangulation.errors import ChainError
from ik_triangulation.kinematics import Body, BodyPose, BodySegment, BodyTip, Chain, Free, Hinge, Joint
from ik_triangulation.kinematics.body import segments_by_length
from scripts.benchmarks import humanoid

FIGURE = humanoid.body()
STILL = Quaternion()


def fork(**more):
    """A trunk of one link with an arm of two links on either side."""
    joints = [
        Joint("hips", Vector((0, 0, 1)), STILL, Free()),
        Joint("chest", Vector((0, 0, 2)), STILL, Free()),
        Joint("arm.L", Vector((1, 0, 0)), STILL, Free()),
        Joint("arm.R", Vector((-1, 0, 0)), STILL, Hinge((0, 0, 1))),
    ]
    tips = [BodyTip("L", 2, Vector((3, 0, 0))), BodyTip("R", 3, Vector((-4, 0, 0)))]
    return Body(**{"joints": joints, "parents": [-1, 0, 1, 1], "tips": tips, **more})


def test_a_limb_is_what_leads_to_its_tip_alone():
    body = fork()
    assert (body.limb("L"), body.limb("R")) == ([2], [3])
    assert body.reach("R") == 4.0
    names = [[FIGURE.joints[i].name for i in FIGURE.limb(name)] for name in ("hand.L", "foot.R", "head")]
    assert names[0] == ["clavicle.L", "upper arm.L", "forearm.L", "wrist.L", "hand.L"]
    assert names[1] == ["thigh.R", "shin.R", "foot.R"]
    assert names[2] == ["neck 1", "neck 2", "head"]


def test_a_tip_that_shares_all_its_bones_has_its_last_one():
    tips = [BodyTip("L", 2, Vector((3, 0, 0))), BodyTip("elbow", 1, Vector((0, 0, 1)))]
    assert fork(tips=tips).limb("elbow") == [1]


def test_the_way_to_a_tip_is_a_chain_with_the_same_forward_kinematics():
    body = fork()
    chain = body.chain("R")
    assert isinstance(chain, Chain)
    assert [joint.name for joint in chain.joints] == ["hips", "chest", "arm.R"]
    turns = [Quaternion((0, 0, 1), 0.1 * i) for i in range(4)]
    pose = BodyPose(body, Matrix.Translation((5, 6, 7)), turns)
    assert (pose.limb("R").tip - pose.tip("R")).length < 1e-5


def test_a_body_that_is_read_again_has_the_tree_it_had():
    assert fork().tree is fork().tree
    assert fork(hips_motion="FIXED").tree is not fork().tree


def test_the_tree_moves_as_the_hips_may():
    columns = [fork(hips_motion=motion).tree.columns for motion in ("FREE", "UP_DOWN", "FIXED")]
    assert columns == [columns[2] + 3, columns[2] + 1, columns[2]]
    assert fork(hips_motion="UP_DOWN", up=(0, 3, 4)).tree.root_ways == pytest.approx(np.array([[0.0, 0.6, 0.8]]))


def test_masses_are_as_links_are_long_unless_given():
    masses = [segment.mass for segment in fork().segments]
    assert masses == [2.0, 2.0, 3.0, 4.0]
    assert fork().segments[1].centre == Vector((0, 0, 0))  # between both arms
    assert fork().segments[2].centre == Vector((1.5, 0, 0))
    given = [BodySegment(mass, Vector()) for mass in (1, 0, 0, 0)]
    assert fork(segments=given).segments == tuple(given)
    assert [each.mass for each in segments_by_length(fork(), [4, 3, 2, 1])] == [4, 3, 2, 1]


def test_a_body_without_length_has_a_mass_all_the_same():
    joint = Joint("dot", Vector(), STILL, Free())
    assert Body((joint,), (-1,), (BodyTip("tip", 0, Vector()),)).segments[0].mass == 1.0


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"joints": ()}, "at least one tip"),
        ({"tips": ()}, "at least one tip"),
        ({"hips_motion": "SIDEWAYS"}, "FREE, UP_DOWN, FIXED"),
        ({"parents": [-1, 2, 1, 1]}, "after its parent"),
        ({"parents": [-1, 0, 1]}, "after its parent"),
        ({"parents": [-1, 0, -1, 1]}, r"'arm\.L' does not hang on the hips"),
        ({"tips": [BodyTip("a", 1, Vector()), BodyTip("a", 2, Vector())]}, "Two tips are called 'a'"),
        ({"tips": [BodyTip("a", 9, Vector())]}, "'a' is at no joint"),
        ({"tips": [BodyTip("a", 1, Vector((nan, 0, 0)))]}, "'a' is at no joint"),
        ({"up": (0, 0, 0)}, "upward direction"),
        ({"segments": [BodySegment(-1.0, Vector())] * 4}, "none of them negative"),
        ({"segments": [BodySegment(0.0, Vector())] * 4}, "none of them negative"),
        ({"segments": [BodySegment(inf, Vector())] * 4}, "none of them negative"),
        ({"segments": [BodySegment(1.0, Vector())]}, "one for each joint"),
    ],
)
def test_what_is_no_body_is_refused(change, said):
    with pytest.raises(ChainError, match=said):
        fork(**change)


def test_scaled_bones_and_unknown_tips_are_named():
    joints = list(fork().joints)
    joints[2] = replace(joints[2], scale=Vector((1, 2, 1)))
    with pytest.raises(ChainError, match=r"'arm\.L' is scaled"):
        fork(joints=joints)
    with pytest.raises(ChainError, match=r"no tip 'foot'.*'L', 'R'"):
        fork().tip("foot")


def test_several_roots_are_fine_where_nothing_moves_them():
    assert fork(parents=[-1, 0, -1, 1], hips_motion="FIXED").tree.columns > 0


def test_heads_of_a_pose_are_those_of_the_chain_to_a_tip():
    pose = BodyPose(fork(), Matrix.Translation((5, 6, 7)), [Quaternion((0, 0, 1), 0.1 * i) for i in range(4)])
    for joint, other in ((0, 0), (1, 1), (3, 2)):
        assert (pose.head(joint) - pose.limb("R").head(other)).length < 1e-5

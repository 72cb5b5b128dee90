# SPDX-License-Identifier: GPL-3.0-or-later
"""Parts of a body are told by its joints, whatever they are called."""

from dataclasses import replace

import pytest
from mathutils import Quaternion, Vector

from ik_triangulation.kinematics import Body, BodyTip, Free, Joint
from ik_triangulation.kinematics.batch import Tree
from ik_triangulation.kinematics.body_anatomy import Part
from ik_triangulation.solvers.body.flexing import parts_of_body, two_part_limbs
from scripts.benchmarks import humanoid

from ..chains import random_chain

FIGURE = humanoid.body()
EXPECTED = {
    "pelvis": Part.HIPS,
    "spine": Part.TRUNK,
    "neck": Part.SIMPLE,
    "head": Part.SIMPLE,
    "clavicle": Part.GIRDLE,
    "upper arm": Part.UPPER_ARM,
    "forearm": Part.FOREARM,
    "wrist": Part.FOREARM,  # it splits the forearm in two
    "hand": Part.HAND,
    "thigh": Part.THIGH,
    "shin": Part.SHIN,
    "foot": Part.FOOT,
}


def test_every_part_of_a_humanoid_is_told():
    for joint, part in zip(FIGURE.joints, parts_of_body(FIGURE.tree), strict=True):
        name = joint.name.split(".")[0].rstrip(" 1234")
        assert part == EXPECTED.get(name, Part.TRUNK), joint.name


@pytest.mark.parametrize("size", [1e-3, 1e3])
def test_the_size_of_a_body_tells_nothing(size):
    joints = [replace(joint, offset=joint.offset * size) for joint in FIGURE.joints]
    tips = [replace(tip, place=tip.place * size) for tip in FIGURE.tips]
    assert parts_of_body(Body(joints, FIGURE.parents, tips).tree) == parts_of_body(FIGURE.tree)


def test_a_short_joint_between_hips_and_thigh_leaves_the_leg_a_leg():
    names, parents = ["hips", "spine", "socket", "thigh", "shin", "foot"], (-1, 0, 0, 2, 3, 4)
    offsets = [(0, 0, 1), (0, 0, 0.1), (0.05, 0, 0), (0.1, 0, 0), (0, 0, -0.42), (0, 0, -0.42)]
    joints = [Joint(name, Vector(offset), Quaternion(), Free()) for name, offset in zip(names, offsets, strict=True)]
    tips = BodyTip("foot", 5, Vector((0, -0.15, 0))), BodyTip("head", 1, Vector((0, 0, 0.6)))
    tree = Body(joints, parents, tips).tree
    assert parts_of_body(tree)[2:] == (Part.GIRDLE, Part.THIGH, Part.SHIN, Part.FOOT)
    assert two_part_limbs(tree) == ((3, 4, 5),)


def test_a_tail_of_many_joints_has_no_elbow():
    assert two_part_limbs(Tree.of(random_chain(1, 9, 1.0))) == ()

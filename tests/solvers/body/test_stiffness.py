# SPDX-License-Identifier: GPL-3.0-or-later
"""Limbs give before the trunk, and hips move before they turn."""

from mathutils import Quaternion, Vector

from ik_triangulation.kinematics import Body, BodyTip, EulerLimits, Free, Joint
from ik_triangulation.kinematics.batch import Tree
from ik_triangulation.kinematics.body_anatomy import BodyAnatomy, Part, TwoPartLimb
from ik_triangulation.solvers.body.flexing import body_compliance
from scripts.benchmarks import humanoid

from ...chains import limited

FIGURE = humanoid.body()


def test_each_joint_gives_by_its_part():
    compliance = body_compliance(FIGURE.tree)[:, 0]
    of = {FIGURE.joints[i].name: compliance[n] for n, i in enumerate(FIGURE.tree.joint_of)}
    assert of["forearm.L"] > of["shin.L"] > of["neck 2"] > of["spine 2"] > of["pelvis"]
    assert of["upper arm.L"] > of["clavicle.L"]
    assert of["shin.L"] == of["shin.R"]
    assert (compliance[len(FIGURE.tree.joint_of) :] > 1.0).all()


def test_hips_that_go_nowhere_turn_as_the_trunk_does():
    tree = humanoid.body("FIXED").tree
    compliance = body_compliance(tree)[:, 0]
    assert set(compliance[tree.joint_of == 0]) == set(compliance[tree.joint_of == 1])


def test_a_joint_between_hips_and_thigh_hardly_gives_while_a_shoulder_blade_does():
    joints = [Joint(f"{n}", Vector((0, 0.3, 0)), Quaternion(), Free()) for n in range(10)]
    parts = [Part.HIPS, Part.GIRDLE, Part.THIGH, Part.SHIN, Part.FOOT, Part.TRUNK, Part.GIRDLE, Part.THIGH]
    anatomy = BodyAnatomy((*parts, Part.SHIN, Part.FOOT), (TwoPartLimb(2, 3, 4), TwoPartLimb(7, 8, 9)), (None, None))
    tips = [BodyTip("hind", 4, Vector((0, 0.1, 0))), BodyTip("fore", 9, Vector((0, 0.1, 0)))]
    tree = Body(joints, (-1, 0, 1, 2, 3, 0, 5, 6, 7, 8), tips, "FREE", Vector((0, 0, 1)), anatomy=anatomy).tree
    of = dict(zip(tree.joint_of.tolist(), body_compliance(tree)[:, 0], strict=False))
    assert of[1] < 0.5 * of[0] < of[5] < of[6]


def test_a_chain_alone_keeps_the_stiffness_of_its_joints():
    tree = Tree.of(limited(1, 4))
    assert body_compliance(tree) is tree.compliance


def test_an_elbow_that_bends_one_way_gives_little_off_its_hinge():
    limits = EulerLimits("YZX", (-0.1, -0.6, -0.9), (2.6, 0.6, 0.9))
    joints = [Joint(f"{n}", Vector((0, 0.3, 0)), Quaternion(), limits if n == 3 else Free()) for n in range(5)]
    parts = Part.HIPS, Part.TRUNK, Part.UPPER_ARM, Part.FOREARM, Part.HAND
    anatomy = BodyAnatomy(parts, (TwoPartLimb(2, 3, 4),), (None,))
    tip = BodyTip("hand", 4, Vector((0, 0.1, 0)))
    tree = Body(joints, range(-1, 4), [tip], "FREE", Vector((0, 0, 1)), anatomy=anatomy).tree
    flexion, twist, aside = body_compliance(tree)[: len(tree.joint_of)][tree.joint_of == 3, 0]
    assert flexion == twist > 10.0 * aside

# SPDX-License-Identifier: GPL-3.0-or-later
"""Limbs give before the trunk, and hips move before they turn."""

from ik_triangulation.kinematics.batch import Tree
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


def test_a_chain_alone_keeps_the_stiffness_of_its_joints():
    tree = Tree.of(limited(1, 4))
    assert body_compliance(tree) is tree.compliance

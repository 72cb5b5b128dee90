# SPDX-License-Identifier: GPL-3.0-or-later
"""Limbs give before the trunk, and hips move before they turn."""

import numpy as np

from ik_triangulation.kinematics.batch import Tree
from ik_triangulation.solvers.body.stiffness import body_compliance
from scripts.benchmarks import humanoid
from scripts.benchmarks.body_goals import goals_of

from ...chains import limited

FIGURE = humanoid.body()


def test_each_joint_gives_by_its_part():
    there = humanoid.random_states(FIGURE, 1, np.random.default_rng(0))
    compliance = body_compliance(FIGURE.tree, goals_of(FIGURE, there, "feet held, hands, look"))[:, 0]
    of = {FIGURE.joints[i].name: compliance[n] for n, i in enumerate(FIGURE.tree.joint_of)}
    assert of["forearm.L"] > of["shin.L"] > of["spine 2"] > of["pelvis"]
    assert of["shin.L"] == of["shin.R"]
    assert (compliance[len(FIGURE.tree.joint_of) :] > 1.0).all()


def test_a_chain_alone_keeps_the_stiffness_of_its_joints():
    tree = Tree.of(limited(1, 4))
    assert body_compliance(tree, []) is tree.compliance

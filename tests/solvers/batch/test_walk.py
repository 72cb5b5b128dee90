# SPDX-License-Identifier: GPL-3.0-or-later
"""Poses on their way add up what their rotations cost."""

import numpy as np
import pytest
from mathutils import Vector

from ik_triangulation.kinematics.batch import Tree
from ik_triangulation.solvers.batch.own_steps import Walk, WalkedChain

from ...limited import limited_chains


@pytest.mark.parametrize("name", limited_chains())
def test_a_swing_is_that_of_a_pose_and_costs_as_much(name):
    chain = limited_chains()[name]
    start, tree, random = chain.rest_pose(), Tree.of(chain), np.random.default_rng(2)
    start.project()
    walk = Walk.begin(WalkedChain(chain, tree.states([start]), tree), 9)
    poses = [start.copy() for _ in range(9)]
    head, socket = walk.root()
    for i in range(len(chain.joints)):
        to, those = random.normal(size=(3, 9)), np.arange(9) != 4
        walk.swing(i, head, socket, walk.link(i, socket), to, those)
        for n in np.flatnonzero(those):
            poses[n].swing(i, poses[n].link(i), Vector(to[:, n]))
        if i + 1 < len(chain.joints):
            head, socket = walk.beyond(i, head, socket)
    reach = chain.reach
    assert walk.tip == pytest.approx(np.array([pose.tip for pose in poses]).T, abs=1e-5 * reach)
    assert walk.turns.tolist() == [pose.cost.turns for pose in poses]
    assert walk.total_angle == pytest.approx([pose.cost.total_angle for pose in poses], abs=1e-4)
    assert walk.travel == pytest.approx([pose.cost.travel for pose in poses], abs=1e-4 * reach)
    assert walk.total_angle[4] == 0.0
    taken = walk.take(np.array([4, 0]))
    taken.put(np.array([0]), walk.take(np.array([3])))
    assert taken.tip == pytest.approx(walk.tip[:, [3, 0]])

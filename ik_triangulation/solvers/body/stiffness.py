# SPDX-License-Identifier: GPL-3.0-or-later
"""Compliance of a body's joints by their part in it: limbs give before the trunk, and hips move before they turn.

A body that reaches for the floor may bend its back over straight knees or squat; both are optima of some weights. With
these the way of people is the cheaper one: knees bend forward, hips go down, the trunk leans a part of the way.
Chosen by the poses of a humanoid that reaches to the floor, to its knees, ahead and up. Source: none.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ...goals.batch import Level, Task
from ...kinematics.arrays import Numbers
from ...kinematics.batch import Tree

_ROOT_TURN, _ROOT_MOVE, _TRUNK, _HELD, _REACHING = 0.05, 3.0, 0.15, 1.0, 1.5


def body_compliance(tree: Tree, tasks: Sequence[Task]) -> Numbers:
    """Compliance (k, 1) of all columns: that of the joints' stiffness, times that of their part in the body."""
    if not tree.moves_root and len(tree.tips) < 2:
        return tree.compliance
    tips = np.array([tip.joint for tip in tree.tips])
    leads = tree.above[:, tips]  # [i, t]: joint i leads to tip t
    held = {task.tip for task in tasks if task.level == Level.HOLD}
    share = np.ones(len(tree.joints))
    for joint, to in enumerate(leads):
        number = np.flatnonzero(to)
        if len(number) == 1:
            share[joint] = _HELD if int(number[0]) in held else _REACHING
        elif len(number) > 1:
            share[joint] = _TRUNK
    if tree.moves_root:
        share[0] = _ROOT_TURN
    move = np.full(len(tree.root_ways), _ROOT_MOVE)
    compliance: Numbers = tree.compliance * np.concatenate((share[tree.joint_of], move))[:, None]
    return compliance

# SPDX-License-Identifier: GPL-3.0-or-later
"""Compliance of a body's joints by their part in it: limbs give before the trunk, and hips move before they turn.

A body that reaches for the floor may bend its back over straight knees or squat; both are optima of some weights. With
these the way of people is the cheaper one: knees bend forward, hips go down, the trunk leans a part of the way. A
shoulder and an elbow go through wide ranges all day, clavicles, neck and ankles through narrow ones: arms that give as
little as these pull the trunk along with the hands. Chosen by recorded motion and the poses of a humanoid that reaches
to the floor, to its knees, ahead and up; checked on other recordings. Source: none.
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from ...kinematics.arrays import Numbers
from ...kinematics.batch import Tree
from ...kinematics.body_anatomy import Part
from .parts import parts_of_body

_ROOT_MOVE = 3.0
_COMPLIANCE = {
    Part.HIPS: 0.05,
    Part.TRUNK: 0.225,
    Part.GIRDLE: 0.45,
    Part.SIMPLE: 0.45,
    Part.UPPER_ARM: 6.0,
    Part.FOREARM: 6.0,
    Part.HAND: 2.25,
    Part.THIGH: 3.0,
    Part.SHIN: 1.5,
    Part.FOOT: 0.75,
}


@lru_cache(maxsize=32)
def body_compliance(tree: Tree) -> Numbers:
    """Compliance (k, 1) of all columns: that of the joints' stiffness, times that of their part in the body."""
    if not tree.moves_root and len(tree.tips) < 2:
        return tree.compliance
    share = np.array([_COMPLIANCE[part] for part in parts_of_body(tree)])
    if not tree.moves_root:
        share[0] = _COMPLIANCE[Part.TRUNK]
    move = np.full(len(tree.root_ways), _ROOT_MOVE)
    compliance: Numbers = tree.compliance * np.concatenate((share[tree.joint_of], move))[:, None]
    return compliance

# SPDX-License-Identifier: GPL-3.0-or-later
"""Parts, arms and legs of a tree of joints, and the axes about which its elbows and knees flex."""

from __future__ import annotations

from functools import lru_cache

import numpy as np
from mathutils import Vector

from ...kinematics.arrays import Numbers
from ...kinematics.batch import Tree
from ...kinematics.body_anatomy import Part, TwoPartLimb
from ...kinematics.flexion import allowed_flexion


def two_part_limbs(tree: Tree) -> tuple[TwoPartLimb, ...]:
    """Return the arms and legs of a tree."""
    return tree.anatomy.limbs


def parts_of_body(tree: Tree) -> tuple[Part, ...]:
    """Return the part to which each joint belongs."""
    return tree.anatomy.parts


@lru_cache(maxsize=32)
def flexion_axes(tree: Tree) -> Numbers:
    """Return the unit axes about which elbows and knees flex (l, 3), one for each limb, in their own rest frames.

    They are those of the anatomy, as near as the joints' limits allow. Without one it is the axis of a hinge, or X.
    """
    wanted = wanted_flexion(tree)
    freedoms = [tree.joints[limb.middle].freedom for limb in tree.anatomy.limbs]
    found = [allowed_flexion(each, Vector(axis))[:] for each, axis in zip(freedoms, wanted, strict=True)]
    return np.array(found, float).reshape(-1, 3)


def wanted_flexion(tree: Tree) -> Numbers:
    """Return the same axes (l, 3) without regard to the joints' limits."""
    anatomy = tree.anatomy
    axes = [
        tree.joints[limb.middle].freedom.bend_axis[:] if axis is None else axis[:]
        for limb, axis in zip(anatomy.limbs, anatomy.flexion, strict=True)
    ]
    return np.array(axes, float).reshape(-1, 3)

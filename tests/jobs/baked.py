# SPDX-License-Identifier: GPL-3.0-or-later
"""Limbs that are baked, then changed."""

from ik_triangulation.jobs.bake import bake
from ik_triangulation.rig.limb import Limb

from ..rigs import (
    chain_rig,
    curves_of,
    empty,
    key_location,
)

OTHERS = {"solver": "CCD", "tolerance": 0.005, "iterations": 50, "seed": 3, "interpolation": "CONSTANT"}


def baked(mode="QUATERNION", **settings):
    """A rig baked from frame 3 to 20 onto a moving target, which then has moved elsewhere."""
    rig, target = chain_rig(3, mode=mode), key_location(empty(), range(1, 42))
    bake(Limb.from_tip(rig, "Bone 2", target, 2, **settings), 3, 20)
    for curve in curves_of(target):
        for key in curve.keyframe_points:
            key.co.y *= 0.9
        curve.update()
    return rig, target

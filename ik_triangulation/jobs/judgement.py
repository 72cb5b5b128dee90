# SPDX-License-Identifier: GPL-3.0-or-later
"""Judgement of tips by arrays: limbs, tips of bodies that reach, and held ones are missed by the same rule."""

from __future__ import annotations

from math import inf

import numpy as np

from ..goals.batch.of_bodies import HELD, HELD_ANGLE
from ..kinematics.arrays import Mask, Numbers
from ..rig.body import RigBody
from ..rig.units import scale_of


def is_within(
    distances: Numbers,
    tolerance: Numbers | float,
    angles: Numbers | None = None,
    angle_tolerance: Numbers | float = inf,
) -> Mask:
    """Return a mask of the tips that are at their goals: `distances` and `angles` (any shape) within the tolerances.

    Lengths are in the same units, angles in rad; NaN is an angle where no rotation is asked for.
    """
    close: Mask = np.asarray(distances) <= tolerance
    return close if angles is None else close & ((angles <= angle_tolerance) | np.isnan(angles))


def held_tolerances(rig: RigBody, tip: str, reach: float) -> tuple[float, float]:
    """Return how far a held tip may slip [Blender units, armature space] and turn [rad]; `reach` is that of its limb.

    These are the tolerances of the limb, but no less than what is solved for.
    """
    stored = getattr(rig.armature.pose.bones[tip], "ik_triangulation", None)
    slip, turn = (stored.tolerance / scale_of(rig.armature), stored.angle_tolerance) if stored else (0.0, 0.0)
    return max(slip, HELD * reach), max(turn, HELD_ANGLE)

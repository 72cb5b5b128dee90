# SPDX-License-Identifier: GPL-3.0-or-later
"""The goal of one solve."""

from typing import NamedTuple

from .soft import SoftGoal
from .target import Target


class Goal(NamedTuple):
    """A `target` to reach within `tolerance` [Blender units], and `soft` goals for the freedom that is left.

    Everything is in armature space.
    """

    target: Target
    soft: tuple[SoftGoal, ...] = ()
    tolerance: float = 1e-3

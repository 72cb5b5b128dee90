# SPDX-License-Identifier: GPL-3.0-or-later
"""The goal of one solve."""

from math import radians
from typing import NamedTuple

from .soft import SoftGoal
from .target import Target


class Goal(NamedTuple):
    """A `target` to reach within `tolerance` [Blender units], and `soft` goals for the freedom that is left.

    An orientation or direction among the soft goals is met within `angle_tolerance` [rad]. Everything is in armature
    space; the goal of a tip of a body may hang `on` one of its joints, by name, and is in the frame of that then.
    """

    target: Target
    soft: tuple[SoftGoal, ...] = ()
    tolerance: float = 1e-3
    angle_tolerance: float = radians(1.0)
    on: str = ""

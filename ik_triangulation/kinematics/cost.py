# SPDX-License-Identifier: GPL-3.0-or-later
"""Cost of a solution, in the measures of the source papers."""

from __future__ import annotations

from dataclasses import dataclass
from math import radians
from typing import TYPE_CHECKING

from .rotation import rotation_angle

if TYPE_CHECKING:
    from .pose import Pose

SMALLEST_TURN = radians(5.0)  # rotations of a joint up to this angle are not counted as turns


@dataclass(frozen=True)
class Cost:
    """The three measures of Mukundan 2009: `turns`, the number of joint rotations above 5 degrees; `total_angle`, the
    sum of all rotation angles [rad]; `travel`, the sum of the distances the end effector moved with each [Blender
    units].
    """

    turns: int
    total_angle: float
    travel: float


def cost_of(pose: Pose) -> Cost:
    """Replay the recorded rotations of a pose and add up their cost."""
    replay = type(pose)(pose.chain, pose.base, pose.start)
    turns, total, travel = 0, 0.0, 0.0
    before = replay.tip
    for i, rotation in pose.turns:
        angle = rotation_angle(replay.rotations[i], rotation)
        replay.put(i, rotation)
        after = replay.tip
        turns += angle > SMALLEST_TURN
        total += angle
        travel += (after - before).length
        before = after
    return Cost(turns, total, travel)

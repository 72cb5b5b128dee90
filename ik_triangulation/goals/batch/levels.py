# SPDX-License-Identifier: GPL-3.0-or-later
"""Priorities of the goals of a body."""

from enum import IntEnum


class Level(IntEnum):
    """Priorities, the most urgent first; posture takes the freedom that all of them leave."""

    HOLD = 0
    REACH = 1
    TURN = 2
    BALANCE = 3

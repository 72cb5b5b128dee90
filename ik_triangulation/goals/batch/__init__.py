# SPDX-License-Identifier: GPL-3.0-or-later
"""Goals of many poses at once, as rows of a linear system: errors and their Jacobian, the last axis over the poses."""

from .from_goals import BATCHED, RADIAN, Refusal, are_formulas, tasks_of
from .levels import Level
from .look import LookTask
from .pole_task import PoleTask
from .support import BalanceTask, Support, balance_task
from .targets import BatchTarget, shape_is_batched
from .task import AlongTask, OrientTask, PlaceTask, Task

__all__ = [
    "BATCHED",
    "RADIAN",
    "AlongTask",
    "BalanceTask",
    "BatchTarget",
    "Level",
    "LookTask",
    "OrientTask",
    "PlaceTask",
    "PoleTask",
    "Refusal",
    "Support",
    "Task",
    "are_formulas",
    "balance_task",
    "shape_is_batched",
    "tasks_of",
]

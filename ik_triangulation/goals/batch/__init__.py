# SPDX-License-Identifier: GPL-3.0-or-later
"""Goals of many poses at once, as rows of a linear system: errors and their Jacobian, the last axis over the poses."""

from .from_goals import BATCHED, RADIAN, tasks_of
from .targets import BatchTarget, shape_is_batched
from .task import AlongTask, OrientTask, PlaceTask, PoleTask, Task

__all__ = [
    "BATCHED",
    "RADIAN",
    "AlongTask",
    "BatchTarget",
    "OrientTask",
    "PlaceTask",
    "PoleTask",
    "Task",
    "shape_is_batched",
    "tasks_of",
]

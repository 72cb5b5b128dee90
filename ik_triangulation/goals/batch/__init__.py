# SPDX-License-Identifier: GPL-3.0-or-later
"""Goals of many poses at once, as rows of a linear system: errors and their Jacobian, the last axis over the poses."""

from .from_goals import ANGLE_LENGTH, BATCHED, place_task, soft_tasks
from .targets import BatchTarget, shape_is_batched
from .task import AlongTask, OrientTask, PlaceTask, PoleTask, Task

__all__ = [
    "ANGLE_LENGTH",
    "BATCHED",
    "AlongTask",
    "BatchTarget",
    "OrientTask",
    "PlaceTask",
    "PoleTask",
    "Task",
    "place_task",
    "shape_is_batched",
    "soft_tasks",
]

# SPDX-License-Identifier: GPL-3.0-or-later
"""Tasks with an influence: goals that blend, pose by pose, from where a tip is without them to where they lead it."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from ...kinematics.arrays import Columns, Numbers
from ...kinematics.batch import Geometry
from ...kinematics.batch.algebra import at
from .task import Missing, Task


@dataclass(frozen=True, kw_only=True)
class FadedTask:
    """A `task` of which `rest` (r, F) of the errors [Blender units] is left, and that counts where it is `present` (F).

    With (1 - influence) times the errors of a pose without the task as the rest, a tip goes the share `influence` of
    the way from there: a place along the line, an orientation about the axis between the two.
    """

    task: Task
    rest: Numbers
    present: Numbers

    @property
    def tip(self) -> int:
        """Number of the tip."""
        return self.task.tip

    @property
    def level(self) -> int:
        """Priority."""
        return self.task.level

    @property
    def count(self) -> int:
        """Number of rows."""
        return self.task.count

    @property
    def tolerance(self) -> Numbers:
        """Error that is allowed, in the unit of the task."""
        return self.task.tolerance

    def measure(self, geometry: Geometry) -> Missing:
        """Measure what is missing beside the rest."""
        measured = self.task.measure(geometry)
        errors = (measured.errors - self.rest) * self.present
        off = np.sqrt((errors * errors).sum(0)) / getattr(self.task, "length", 1.0)
        return Missing(errors, off, measured.more)

    def rows(self, geometry: Geometry, axes: Numbers, measured: Missing, out: Numbers) -> None:
        """Write the rows of the task where it is present."""
        self.task.rows(geometry, axes, measured, out)
        out *= self.present

    def ways(self, root: Numbers, place: Numbers) -> Numbers:
        """Ways of the task's own goal."""
        return self.task.ways(root, place)

    def take(self, columns: Columns) -> FadedTask:
        """The task of those poses."""
        return FadedTask(task=self.task.take(columns), rest=at(self.rest, columns), present=at(self.present, columns))

    def at_level(self, level: int) -> FadedTask:
        """The same task with another priority."""
        return replace(self, task=self.task.at_level(level))

    def within(self, tolerance: Numbers) -> FadedTask:
        """The same task with another tolerance."""
        return replace(self, task=self.task.within(tolerance))

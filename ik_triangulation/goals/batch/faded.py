# SPDX-License-Identifier: GPL-3.0-or-later
"""Tasks with an influence: goals that blend, pose by pose, from where a tip is without them to where they lead it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ...kinematics.arrays import Columns, Numbers
from ...kinematics.batch import Geometry
from ...kinematics.batch.algebra import at
from .task import Missing
from .wrapped import WrappedTask


@dataclass(frozen=True, kw_only=True)
class FadedTask(WrappedTask):
    """A `task` of which `rest` (r, F) of the errors [Blender units] is left, and that counts where it is `present` (F).

    With (1 - influence) times the errors of a pose without the task as the rest, a tip goes the share `influence` of
    the way from there: a place along the line, an orientation about the axis between the two.
    """

    rest: Numbers
    present: Numbers

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

# SPDX-License-Identifier: GPL-3.0-or-later
"""Tasks that are another task in other terms."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Self

from ...kinematics.arrays import Numbers
from .task import Task


@dataclass(frozen=True, kw_only=True)
class WrappedTask:
    """A task that has the tip, priority, rows and tolerance of another `task`."""

    task: Task

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
        """Error that is allowed, in the unit of the task (F or 1)."""
        return self.task.tolerance

    def at_level(self, level: int) -> Self:
        """The same task with another priority."""
        return replace(self, task=self.task.at_level(level))

    def within(self, tolerance: Numbers) -> Self:
        """The same task with another tolerance."""
        return replace(self, task=self.task.within(tolerance))

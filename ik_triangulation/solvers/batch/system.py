# SPDX-License-Identifier: GPL-3.0-or-later
"""Tasks measured at many states: the errors, whether they are met, and the rows for a step."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ...goals.batch import Task
from ...goals.batch.task import Missing
from ...kinematics.arrays import Columns, Indices, Mask, Numbers
from ...kinematics.batch import Geometry, States, Tree

_MORE_URGENT = 30.0  # weight of squared errors of level 0 beside those of the levels below


class System:
    """F states with their tasks.

    `value` (F) is the weighted sum of the squared errors, `met` (F) tells whether every task is within tolerance.
    """

    def __init__(self, tree: Tree, states: States, tasks: Sequence[Task]) -> None:
        self.tree, self.tasks = tree, tasks
        self.geometry = Geometry(tree, states)
        self.measured: list[Missing] = [task.measure(self.geometry) for task in tasks]
        levels = {task.level for task in tasks}
        value, met = np.zeros(len(states)), np.ones(len(states), bool)
        for task, measured in zip(tasks, self.measured, strict=True):
            squares = np.einsum("rf,rf->f", measured.errors, measured.errors)
            value += squares * (_MORE_URGENT if task.level == 0 and len(levels) > 1 else 1.0)
            met &= measured.off <= task.tolerance
        self.value, self.met = value, met

    @property
    def urgent(self) -> Mask:
        """Whether every task of the most urgent level is within tolerance (F), whatever becomes of the others."""
        first = min(task.level for task in self.tasks)
        found = np.ones(len(self.met), bool)
        for task, measured in zip(self.tasks, self.measured, strict=True):
            if task.level == first:
                found &= measured.off <= task.tolerance
        return found

    @property
    def states(self) -> States:
        """The states at which the tasks are measured."""
        return self.geometry.states

    def errors(self) -> tuple[Numbers, Indices]:
        """Errors of all tasks (r, F), and the level of each row."""
        levels = np.repeat([task.level for task in self.tasks], [task.count for task in self.tasks])
        return np.concatenate([measured.errors for measured in self.measured]), levels

    def jacobian(self) -> Numbers:
        """Rows of all tasks (r, k, F): the decrease of the errors for a change of each column."""
        geometry = self.geometry
        axes, begin = geometry.axes(), 0
        rows = np.zeros((sum(task.count for task in self.tasks), self.tree.columns, len(geometry.states)))
        for task, measured in zip(self.tasks, self.measured, strict=True):
            task.rows(geometry, axes, measured, rows[begin : begin + task.count])
            begin += task.count
        return rows

    def after(self, change: Numbers) -> System:
        """The system after a change (k, F) of all columns."""
        return System(self.tree, self.tree.moved(self.states, self.geometry.frames, change), self.tasks)

    def take(self, columns: Columns) -> System:
        """Those of the states."""
        some = System.__new__(System)
        some.tree, some.tasks = self.tree, [task.take(columns) for task in self.tasks]
        some.geometry = self.geometry.take(columns)
        some.measured = [measured.take(columns) for measured in self.measured]
        some.value, some.met = self.value[columns], self.met[columns]
        return some

    def put(self, columns: Indices | Mask, other: System) -> None:
        """Replace states by those of another system of the same states."""
        self.geometry.put(columns, other.geometry)
        for mine, theirs in zip(self.measured, other.measured, strict=True):
            mine.put(columns, theirs)
        self.value[columns], self.met[columns] = other.value[columns], other.met[columns]

# SPDX-License-Identifier: GPL-3.0-or-later
"""Null-space optimisation of many states at once: comfort, and links out of obstacles, with the goals kept.

As solvers.null_space, where the sources are named: a damped least-squares step of all that is below the most urgent
level, in the null space of that, is put right by Gauss-Newton and accepted state by state where it costs less.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ...goals.task import Task
from ...kinematics.arrays import Numbers
from ...kinematics.batch import States, Tree
from .change import System, bounded_change
from .descent import Descent, descend, precisely

_STEPS, _TRIES = 40, 8  # at most, and those in a row that were refused
_LARGEST = 0.5  # [rad] change of a column in a step
_DAMPING, _MORE, _LESS, _LEAST = 1e-3, 8.0, 0.25, 1e-6
_CONVERGED = 1e-4  # relative decrease of the cost that ends the steps
_CORRECTION = Descent(iterations=4, stall=2)


def settle_preferences(tree: Tree, states: States, tasks: Sequence[Task], preferences: Sequence[Task]) -> None:
    """Lower the cost of `preferences`, and of the less urgent `tasks`, in place, where the urgent tasks are met.

    The cost never increases, and states that miss an urgent task stay as they are.
    """
    urgent = [task for task in precisely(tree, tasks) if task.level == 0]
    soft = [*(task for task in tasks if task.level > 0), *preferences]
    active = np.flatnonzero(System(tree, states, [task for task in tasks if task.level == 0]).met)
    some, damping = states.take(active), np.full(len(active), _DAMPING)
    refused = np.zeros(len(active), int)
    for _ in range(_STEPS):
        if not len(active):
            break
        held, others = ([task.take(active) for task in each] for each in (urgent, soft))
        now = System(tree, some, [*held, *others])
        before = _cost(now, len(held))
        low = np.full((tree.columns, len(active)), -_LARGEST)
        high = -low
        low[: tree.angles], high[: tree.angles] = tree.ranges(some, _LARGEST)
        errors, levels = now.errors()
        levels = np.minimum(levels, 1)
        change = bounded_change(now.jacobian(), errors, levels, low, high, tree.compliance, damping, tree.size)
        moved = now.after(change).states
        if held:
            descend(tree, moved, held, _CORRECTION)
        after = System(tree, moved, [*held, *others])
        found = _cost(after, len(held))
        kept = System(tree, moved, [task.take(active) for task in tasks if task.level == 0]).met
        better = kept & (found < before)
        some = some.copy()
        some.put(np.flatnonzero(better), moved.take(np.flatnonzero(better)))
        states.put(active[better], moved.take(np.flatnonzero(better)))
        damping = np.where(better, np.maximum(damping * _LESS, _LEAST), damping * _MORE)
        refused = np.where(better, 0, refused + 1)
        left = np.flatnonzero(np.where(better, before - found > _CONVERGED * before, refused < _TRIES))
        active, damping, refused, some = active[left], damping[left], refused[left], some.take(left)


def _cost(system: System, urgent: int) -> Numbers:
    """Weighted sum (F) of the squared errors of all tasks but the first so many."""
    cost = np.zeros(len(system.met))
    for measured in system.measured[urgent:]:
        cost += np.einsum("rf,rf->f", measured.errors, measured.errors)
    return cost

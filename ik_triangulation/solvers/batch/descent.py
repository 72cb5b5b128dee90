# SPDX-License-Identifier: GPL-3.0-or-later
"""Gauss-Newton descent of many states at once, each until its tasks are met or nothing helps.

Source: as in solvers.gauss_newton, with the damping of Yamashita and Fukushima 2001, which decreases with the error.
A step is accepted state by state. A refused one is tried again with more damping, and with less of the aim of all
levels but the most urgent one: more damping on every level would loosen what has to hold. States that are done drop
out.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from ...goals.batch import PlaceTask, Task
from ...kinematics.arrays import Indices, Mask, Numbers
from ...kinematics.batch import States, Tree
from ...kinematics.batch.algebra import cross
from .change import bounded_change, point_change
from .system import System

CHUNK = 512  # states solved together: below, a state costs more; above, arrays leave the processor's cache
_DAMPING = 1e-3  # share of the trace, times error / size
_LESS_AIM, _MORE_DAMPING, _LEAST_DAMPING = 0.35, 4.0, 1e-5  # after a step that was refused
_GAIN = 0.7  # relative decrease of the value that counts as progress
_SHORT = 0.3  # aim below which the change of a column is bounded more tightly too


@dataclass(frozen=True, kw_only=True)
class Descent:
    """Bounds of a descent.

    At most `iterations` steps, of at most `largest` [rad] for a column; `stall` steps without progress end it, and
    `tries` refused ones in a row. At least `least` steps are made.
    """

    iterations: int = 60
    largest: float = 0.6
    stall: int = 8
    tries: int = 7
    least: int = 0


PLAIN = Descent()


def descend(
    tree: Tree, states: States, tasks: Sequence[Task], bounds: Descent = PLAIN, groups: Indices | None = None
) -> tuple[Mask, Numbers]:
    """Bring states nearer to their tasks, in place; return which are met (F), and the value of each (F).

    The value never increases. States of the same group (F; in order) stop once one of them is met.
    """
    count = len(states)
    met, value = np.zeros(count, bool), np.full(count, np.inf)
    for begin, end in _chunks(count, groups):
        part = np.arange(begin, end)
        some = states.take(part)
        run = _Run(tree, some, [task.take(part) for task in tasks], bounds, None if groups is None else groups[part])
        met[part], value[part] = run.finished()
        states.put(part, some)
    return met, value


def _chunks(count: int, groups: Indices | None) -> list[tuple[int, int]]:
    """Begin and end of each chunk; a group stays in one."""
    ends = [*range(0, count, CHUNK), count]
    if groups is not None and count > CHUNK:
        cuts = [0, *(np.flatnonzero(np.diff(groups)) + 1).tolist(), count]
        ends = sorted({cuts[int(np.searchsorted(cuts, end))] for end in ends})
    return [(a, b) for a, b in pairwise(ends) if b > a]


class _Run:
    """The descent of one chunk. Arrays are those of the states that are not done yet, whose indices are `active`."""

    def __init__(
        self, tree: Tree, states: States, tasks: Sequence[Task], bounds: Descent, groups: Indices | None
    ) -> None:
        self.tree, self.states, self.bounds, self.groups = tree, states, bounds, groups
        self.now = System(tree, states.copy(), tasks)
        count = len(states)
        self.active = np.arange(count)
        self.damping, self.aim, self.failed = np.full(count, np.nan), np.ones(count), np.zeros(count, int)
        self.best, self.best_at = self.now.value.copy(), np.zeros(count, int)
        self.met, self.value = np.zeros(count, bool), np.full(count, np.inf)
        self.is_point = _is_point(tree, tasks)

    def finished(self) -> tuple[Mask, Numbers]:
        """Descend as far as the bounds allow."""
        last = 2 * self.bounds.iterations - 1
        before: System | None = None
        for number in range(last + 1):
            if before is not None:
                self._judge(before, number)
            if not self._drop(number, number == last):
                break
            before = self.now
            self.now = before.after(self._change())
        return self.met, self.value

    def _judge(self, before: System, number: int) -> None:
        """Accept the steps that helped, and put back the others."""
        now = self.now
        refused = np.flatnonzero(~((now.value < before.value) | now.met))
        self.damping[:], fresh = np.where(np.isnan(self.damping), np.nan, self.damping), np.ones(len(self.active), bool)
        if len(refused):
            now.put(refused, before)
            fresh[refused] = False
            self.failed[refused] += 1
            self.damping[refused] = np.maximum(self._used[refused], _LEAST_DAMPING) * _MORE_DAMPING
            self.aim[refused] *= _LESS_AIM
        self.damping[fresh], self.aim[fresh], self.failed[fresh] = np.nan, 1.0, 0
        gained = now.value < _GAIN * self.best
        self.best, self.best_at = np.where(gained, now.value, self.best), np.where(gained, number, self.best_at)

    def _drop(self, number: int, last: bool) -> bool:
        """Store the states that are done; return whether any are left."""
        now, bounds, active = self.now, self.bounds, self.active
        done = now.met & (number >= bounds.least)
        done |= (self.failed >= bounds.tries) | (number - self.best_at > bounds.stall + self.failed)
        if self.groups is not None and now.met.any():
            done |= np.isin(self.groups[active], self.groups[active[now.met]])
        if not done.any() and not last:
            return True
        self.met[active], self.value[active] = now.met, now.value
        self.states.put(active, now.states)
        left = np.flatnonzero(~done)
        if last or not len(left):
            return False
        if len(left) < len(active):
            self.active = active[left]
            self.damping, self.aim, self.failed = self.damping[left], self.aim[left], self.failed[left]
            self.best, self.best_at = self.best[left], self.best_at[left]
            self.now = now.take(left)
        return True

    def _change(self) -> Numbers:
        """The next change of every column."""
        now, tree, largest = self.now, self.tree, self.bounds.largest
        size = np.minimum(1.0, np.sqrt(now.value) / tree.size)
        self._used = damping = np.where(np.isnan(self.damping), _DAMPING * size, self.damping)
        if self.is_point:
            heads, joints = now.geometry.heads, tree.at_columns
            levers = now.geometry.tip() - heads
            velocities = cross(now.geometry.angle_axes(), levers[joints])
            low, high = tree.ranges(now.states, largest)
            errors = now.measured[0].errors * self.aim
            return point_change(velocities, levers[tree.at_balls], errors, low, high, damping, largest)
        errors, levels = now.errors()
        below = levels > levels.min() if levels.min() < levels.max() else np.ones(len(levels), bool)
        errors = np.where(below[:, None], errors * self.aim, errors)
        reach = largest * np.where(self.aim < _SHORT, self.aim, 1.0)
        low, high = np.empty((tree.columns, len(reach))), np.empty((tree.columns, len(reach)))
        low[:], high[:] = -reach, reach
        low[: tree.angles], high[: tree.angles] = tree.ranges(now.states, reach)
        if tree.moves_root:
            place = slice(len(tree.joint_of), None)
            low[place], high[place] = -reach * tree.size, reach * tree.size
        return bounded_change(now.jacobian(), errors, levels, low, high, tree.compliance, damping)


def _is_point(tree: Tree, tasks: Sequence[Task]) -> bool:
    """Tell whether the written-out kernel for a single point serves."""
    if len(tasks) != 1 or not isinstance(tasks[0], PlaceTask) or tasks[0].target.shape is not None:
        return False
    return tree.is_chain and bool((tree.compliance == 1.0).all())


def at_one_level(tasks: Sequence[Task]) -> list[Task]:
    """The tasks without priorities."""
    return [task.at_level(0) for task in tasks]

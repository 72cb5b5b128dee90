# SPDX-License-Identifier: GPL-3.0-or-later
"""Descent of many poses at once to their goals, by damped least squares within the limits.

One bounded Newton step of many states of a chain towards the place nearest to a point that they cannot reach.
Gauss-Newton takes the chain for straight lines. Out of reach, where the error does not vanish, what the joints' arcs
bend away is all that is left: Gauss-Newton goes to and fro there, stops anywhere near the optimum, and differently in
every frame. With the second derivatives the step is exact, a few reach the optimum, and the decrease that the next one
would bring tells that they did. Source: Newton's method on bounds by Bertsekas 1982, "Projected Newton methods for
optimization problems with simple constraints".

Gauss-Newton descent of many states at once, each until its tasks are met or nothing helps. Source: as in
solvers.gauss_newton, with the damping of Yamashita and Fukushima 2001, which decreases with the error. A step is
accepted state by state. A refused one is tried again with more damping, and with less of the aim of all levels but the
most urgent one: more damping on every level would loosen what has to hold. States that are done drop out.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np

from ...goals.task import PlaceTask, Task
from ...kinematics.arrays import Indices, Mask, Numbers, einsum
from ...kinematics.batch import Geometry, States, Tree
from ...kinematics.batch.algebra import cross
from ...kinematics.batch.geometry import curvature, nesting
from .change import System, bounded_change, point_change

_PASSES = 2  # of the active set; what is still beyond a bound is clipped
_WORST = 0.5  # share of the largest excess from which on a column is fixed
_AT_BOUND = 1e-9  # [rad] room that a column at a bound has left at most
_BEYOND = 1e-12  # rounding of a bound
_FLAT = 1e-12  # share of the diagonal's size that is added to it, so that no matrix is singular

CHUNK = 512  # states solved together: below, a state costs more; above, arrays leave the processor's cache
_SMALL_TREE = 8  # joints
_DAMPING = 1e-3  # share of the trace, times error / size
_LESS_AIM, _MORE_DAMPING, _LEAST_DAMPING = 0.35, 4.0, 1e-5  # after a step that was refused
_GAIN = 0.7  # relative decrease of the value that counts as progress
PRECISE = 0.005  # share of its tolerance to which every frame of a path is solved
_SINGLE = 1e-6  # of the reach: the most that single precision allows
_FAR = 0.002  # of the reach: error from which on one step without progress calls for second derivatives, else two
_STILL = 3e-5  # of the reach: if a step cannot bring a state nearer by this, it is as near as it can be
_FIRMER = 100.0  # times the damping of other steps, so that flat directions are left alone
_FEW_COLUMNS = 36  # up to so many, steps with second derivatives are worth their cost
_SHORT = 0.3  # aim below which the change of a column is bounded more tightly too


def nearest_change(
    geometry: Geometry, some: Indices, errors: Numbers, low: Numbers, high: Numbers, damping: Numbers, least: Numbers
) -> tuple[Numbers, Mask]:
    """Return the change (k, n) of `some` states within `low` and `high` (k, n), and which are at the optimum (n).

    `errors` (3, n) are the ways to the points, `damping` (n) is a share of the trace, `least` (n) the decrease of the
    squared error below which a state is at its optimum.
    """
    tree, states = geometry.tree, geometry.states.take(some)
    levers = (geometry.tip() - geometry.heads)[..., some]
    axes = geometry.axes()[..., some]
    velocities = cross(axes, levers[tree.joint_of])
    rows = np.ascontiguousarray(velocities.transpose(2, 0, 1))
    downhill = einsum("fki,if->fk", rows, errors)
    matrix = rows @ rows.swapaxes(1, 2)
    diagonal = einsum("fkk->fk", matrix)
    trace = diagonal.sum(1)
    matrix -= curvature(tree, states, axes, velocities, levers, errors, nesting(tree))
    diagonal += (damping * trace + _FLAT * (trace + np.abs(diagonal).sum(1)))[:, None]
    low, high = low.T, high.T
    free = ((high > _AT_BOUND) | (downhill <= 0.0)) & ((low < -_AT_BOUND) | (downhill >= 0.0))
    change = _solved(matrix, np.where(free, downhill, 0.0), free, trace)
    still = np.zeros(len(trace), bool)
    doubtful = (einsum("fk,fk->f", change, downhill) < least).nonzero()[0]
    for i in doubtful.tolist():
        own = _among(matrix[i], free[i], trace[i])
        still[i] = _is_convex(own)
        if not still[i]:
            change[i] = _downhill(own, np.where(free[i], downhill[i], 0.0))
    clipped = np.clip(change, low, high)
    excess = np.abs(change - clipped)
    excess[doubtful] = 0.0
    left = (excess.max(1) > _BEYOND).nonzero()[0]
    excess = excess[left]
    for _ in range(_PASSES):
        if not len(left):
            break
        free[left] &= excess <= _WORST * excess.max(1)[:, None]
        own, held = matrix[left], np.where(free[left], 0.0, clipped[left])
        right = np.where(free[left], downhill[left] - (own @ held[:, :, None])[:, :, 0], 0.0)
        wanted = held + _solved(own, right, free[left], trace[left])
        clipped[left] = np.clip(wanted, low[left], high[left])
        excess = np.abs(wanted - clipped[left])
        beyond = excess.max(1) > _BEYOND
        left, excess = left[beyond], excess[beyond]
    return clipped.T, still


def _among(matrix: Numbers, free: Mask, trace: Numbers) -> Numbers:
    """Matrices (..., k, k) of the free columns alone; the others are left as they are, apart from all."""
    reduced: Numbers = matrix * (free[..., :, None] & free[..., None, :])
    einsum("...kk->...k", reduced)[...] += np.where(free, 0.0, trace[..., None])
    return reduced


def _solved(matrix: Numbers, right: Numbers, free: Mask, trace: Numbers) -> Numbers:
    """The change (n, k) of the free columns."""
    reduced = matrix if free.all() else _among(matrix, free, trace)
    change: Numbers = np.linalg.solve(reduced, right[:, :, None])[:, :, 0]
    return change


def _is_convex(matrix: Numbers) -> bool:
    """Tell whether a symmetric matrix (k, k) is positive definite."""
    try:
        np.linalg.cholesky(matrix)
    except np.linalg.LinAlgError:
        return False
    return True


def _downhill(matrix: Numbers, right: Numbers) -> Numbers:
    """A step (k) that leads downhill, by the matrix with the absolute values of its eigenvalues."""
    values, vectors = np.linalg.eigh(matrix)
    size = np.abs(values)
    step: Numbers = vectors @ ((right @ vectors) / np.maximum(size, 1e-9 * size.sum()))
    return step


@dataclass(frozen=True, kw_only=True)
class Descent:
    """Bounds of a descent.

    At most `iterations` steps, of at most `largest` [rad] for a column; `stall` steps without progress end it, and
    `tries` refused ones in a row. At least `least` steps are made. Unless `curved`, states out of reach
    only come about as near as they can.
    """

    iterations: int = 60
    largest: float = 0.6
    stall: int = 8
    tries: int = 7
    least: int = 0
    curved: bool = True


PLAIN = Descent()


def descend(
    tree: Tree,
    states: States,
    tasks: Sequence[Task],
    bounds: Descent = PLAIN,
    groups: Indices | None = None,
    steps: Indices | None = None,
) -> tuple[Mask, Numbers]:
    """Bring states nearer to their tasks, in place; return which are met (F), and the value of each (F).

    The value never increases, except by a step that meets all tasks. States of the same group (F; in order) stop once
    one of them is met. The number of steps of each, those that were refused included, is added to `steps` (F).
    """
    count = len(states)
    if tree.moves_root:
        states.own_places()
    met, value = np.zeros(count, bool), np.full(count, np.inf)
    for part in _chunks(count, _chunk_size(tree), groups):
        # Arrays that are seen through a slice: what is written there is written to all.
        some = states if part == slice(0, count) else states.take(part)
        run = _Run(tree, some, [task.take(part) for task in tasks], bounds, None if groups is None else groups[part])
        met[part], value[part] = run.finished()
        if steps is not None:
            steps[part] += run.steps
    return met, value


def hold(tree: Tree, states: States, tasks: Sequence[Task], bounds: Descent = PLAIN, share: float = 0.01) -> Mask:
    """Take off the errors that other tasks have left in the most urgent ones, in place; return which are met (F).

    Priorities leak what their dampings let through, and what is of second order: this is what makes the most urgent
    level exact, within `share` of its tolerances. States move as little as it takes.
    """
    urgent = min(task.level for task in tasks)
    held = [task.within(share * task.tolerance) for task in tasks if task.level == urgent]
    return descend(tree, states, held, bounds)[0]


def _chunk_size(tree: Tree) -> int:
    """Number of states solved together; twice as many of a small tree fit into the processor's cache."""
    return CHUNK * 2 if len(tree.joints) <= _SMALL_TREE else CHUNK


def _chunks(count: int, size: int, groups: Indices | None) -> list[slice]:
    """The states of each chunk; a group stays in one."""
    ends = [*range(0, count, size), count]
    if groups is not None and count > size:
        cuts = [0, *(np.diff(groups).nonzero()[0] + 1).tolist(), count]
        ends = sorted({cuts[int(np.searchsorted(cuts, end))] for end in ends})
    return [slice(a, b) for a, b in pairwise(ends) if b > a]


class _Run:
    """The descent of one chunk. Arrays are those of the states that are not done yet, whose indices are `active`.

    `steps` are those made, of all states. Of a state whose last steps were refused, `failed` counts these, `damping` is
    the next one's and `aim` its share of the errors.
    """

    def __init__(
        self, tree: Tree, states: States, tasks: Sequence[Task], bounds: Descent, groups: Indices | None
    ) -> None:
        self.tree, self.states, self.bounds, self.groups = tree, states, bounds, groups
        self.now = System(tree, states, tasks)
        count = len(states)
        self.active: Any = np.arange(count)
        self.failed, self.any_failed = np.zeros(count, int), False
        self.damping, self.aim = np.zeros(count), np.ones(count)
        self.best, self.best_at = self.now.value.copy(), np.zeros(count, int)
        self.met, self.value = np.zeros(count, bool), np.full(count, np.inf)
        self.steps = np.zeros(count, int)
        self.is_point = _is_point(tree, tasks)
        self.curved = bounds.curved and tree.angles > 0 and tree.columns <= _FEW_COLUMNS
        self.slow, self.still = np.zeros(count, bool), np.zeros(count, bool)

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
        helped = now.value < before.value
        helped |= now.met & ~before.met
        refused = (~helped).nonzero()[0]
        if self.any_failed:
            self.failed[helped], self.aim[helped] = 0, 1.0
        self.any_failed = len(refused) > 0
        if self.any_failed:
            now.put(refused, before)
            self.failed[refused] += 1
            self.damping[refused] = np.maximum(self._used[refused], _LEAST_DAMPING) * _MORE_DAMPING
            self.aim[refused] *= _LESS_AIM
        gained = now.value < _GAIN * self.best
        np.copyto(self.best, now.value, where=gained)
        self.best_at[gained] = number
        since = number - self.best_at
        self.slow = (since > 1) | ((since > 0) & (now.value > (_FAR * self.tree.size) ** 2))

    def _drop(self, number: int, last: bool) -> bool:
        """Store the states that are done; return whether any are left."""
        now, bounds, active = self.now, self.bounds, self.active
        if last:
            done = np.ones(len(now.met), bool)
        else:
            done = now.met if number >= bounds.least else np.zeros(len(now.met), bool)
            done = done | self.still | (number - self.best_at > bounds.stall + self.failed)
            if self.any_failed:
                done |= self.failed >= bounds.tries
            if self.groups is not None and now.met.any():
                done |= np.isin(self.groups[active], self.groups[active[now.met]])
            if not done.any():
                return True
        self.met[active], self.value[active], self.steps[active] = now.met, now.value, number
        left = (~done).nonzero()[0]
        if number:
            # If all of them are left off at once, no index is needed.
            self.states.put(slice(None) if len(done) == len(self.met) else active, now.states)
        if not len(left):
            return False
        self.active, self.now = active[left], now.take(left)
        self.slow, self.still = self.slow[left], self.still[left]
        self.failed, self.damping, self.aim = self.failed[left], self.damping[left], self.aim[left]
        self.best, self.best_at = self.best[left], self.best_at[left]
        return True

    def _change(self) -> Numbers:
        """The next change of every column."""
        now, tree, largest = self.now, self.tree, self.bounds.largest
        damping = _DAMPING * np.minimum(1.0, np.sqrt(now.value) / tree.size)
        if self.any_failed:
            np.copyto(damping, self.damping, where=self.failed > 0)
        self._used = damping
        if self.is_point:
            slow = self.slow.nonzero()[0] if self.curved else ()
            if not len(slow):
                return self._point_change(damping)
            change = (
                np.empty((tree.columns, len(damping))) if len(slow) == len(damping) else self._point_change(damping)
            )
            change[:, slow], self.still[slow] = self._nearest_change(slow, damping[slow])
            return change
        errors, levels = now.errors()
        below = levels > levels.min() if levels.min() < levels.max() else np.ones(len(levels), bool)
        errors = np.where(below[:, None], errors * self.aim, errors)
        reach = largest * np.where(self.aim < _SHORT, self.aim, 1.0)
        low, high = np.empty((tree.columns, len(reach))), np.empty((tree.columns, len(reach)))
        low[:], high[:] = -reach, reach
        low[: tree.angles], high[: tree.angles] = tree.ranges(now.states, reach)
        return bounded_change(now.jacobian(), errors, levels, low, high, tree.compliance, damping, tree.size)

    def _point_change(self, damping: Numbers) -> Numbers:
        """The change towards a single point, by Gauss-Newton."""
        now, tree, largest = self.now, self.tree, self.bounds.largest
        heads, joints = now.geometry.heads, tree.at_columns
        levers = now.geometry.tip() - heads
        velocities = cross(now.geometry.angle_axes(), levers[joints])
        low, high = tree.ranges(now.states, largest)
        errors = now.measured[0].errors * self.aim if self.any_failed else now.measured[0].errors
        return point_change(velocities, levers[tree.at_balls], errors, low, high, damping, tree.size, largest)

    def _nearest_change(self, slow: Indices, damping: Numbers) -> tuple[Numbers, Mask]:
        """The change of states that come hardly nearer, and which of them need none, as they are as near as can be."""
        now, tree, largest = self.now, self.tree, self.bounds.largest
        low = np.full((tree.columns, len(slow)), -largest)
        high = -low
        low[: tree.angles], high[: tree.angles] = tree.ranges(now.states.take(slow), largest)
        least = 2.0 * _STILL * tree.size * np.sqrt(now.value[slow])
        errors, damping = now.measured[0].errors[:, slow], _FIRMER * damping
        return nearest_change(now.geometry, slow, errors, low, high, damping, least)


def _is_point(tree: Tree, tasks: Sequence[Task]) -> bool:
    """Tell whether the written-out kernel for a single point serves."""
    if len(tasks) != 1 or not isinstance(tasks[0], PlaceTask) or tasks[0].target.shape is not None:
        return False
    return tree.is_chain and tree.is_compliant


def precisely(tree: Tree, tasks: Sequence[Task]) -> list[Task]:
    """The tasks with a share of their tolerances, so that frames do not trail behind their goals."""
    return [task.within(np.maximum(PRECISE * task.tolerance, _SINGLE * tree.size)) for task in tasks]


def at_one_level(tasks: Sequence[Task]) -> list[Task]:
    """The tasks without priorities."""
    return [task.at_level(0) for task in tasks]

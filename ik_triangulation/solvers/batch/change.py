# SPDX-License-Identifier: GPL-3.0-or-later
"""The linear system of all tasks, and the bounded change of coordinates that solves it, for many poses at once.

One bounded Gauss-Newton step of many states: the change of all columns that takes the errors off, level by level.
Source: damped least squares of Levenberg 1944 and Marquardt 1963; priorities as by Nakamura, Hanafusa and Yoshikawa
1987. With J the rows of all tasks, e their errors, W the compliance of the columns and d0 a change that is wished for,

    (J W J' + diag(mu)) z = e - J d0,    d = d0 + W J' z,

where mu is tiny for the most urgent level and larger for those below. In the limit that is the elimination of one level
after the other, each in the null space of those before, without a projector: the factors of this one matrix are the
projected levels. Columns that leave their bounds the farthest are fixed there, and the others are solved again (active
set). Fixing all that leave them at once is cheaper, but fixes columns that would have come back inside.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce
from operator import add, and_
from typing import Any

import numpy as np

from ...goals.task import Missing, Task
from ...kinematics.arrays import Columns, Indices, Mask, Numbers, einsum
from ...kinematics.batch import Geometry, States, Tree
from ...kinematics.batch.algebra import at, cross, lengths

_MORE_URGENT = 30.0  # weight of squared errors of level 0 beside those of the levels below

Shares = Sequence[tuple[Any, Any]]  # rows of each level, and their damping: a number, or (F)

PASSES = 6  # of the active set; what is still beyond a bound is clipped
_WORST = 0.5  # share of the largest excess from which on a column is fixed: the others may yet come back inside
_URGENT = 1e-7  # damping of level 0 where there are others, as a share of the trace of its rows
_AT_BOUND = 1e-9  # [rad] room that a column at a bound has left at most
_LEAST = 1e-12  # of the square of the size of the tree, added to every diagonal: rows without any column
_BEYOND = 1e-12  # rounding of a bound
_PAIRS = (0, 0, 0, 1, 1, 2), (0, 1, 2, 1, 2, 2)  # rows and columns of one half of a symmetric matrix
_FEW_ROWS, _FEW_STATES = 6, 24  # up to so many rows and from so many states on, systems are written out
_AT_ONCE = 1000  # states up to which both halves of a symmetric matrix at once take less than one half by elements


class System:
    """F states with their tasks.

    `value` (F) is the weighted sum of the squared errors, `met` (F) tells whether every task is within tolerance.
    """

    def __init__(self, tree: Tree, states: States, tasks: Sequence[Task], geometry: Geometry | None = None) -> None:
        """The `geometry` of the states is spared if they have one already."""
        self.tree, self.tasks = tree, tasks
        self.geometry = geometry or Geometry.of(tree, states)
        self.measured: list[Missing] = [task.measure(self.geometry) for task in tasks]
        several = any(task.level for task in tasks)
        values = [einsum("rf,rf->f", measured.errors, measured.errors) for measured in self.measured]
        within = [measured.off <= task.tolerance for task, measured in zip(tasks, self.measured, strict=True)]
        for task, squares in zip(tasks, values, strict=True):
            if several and not task.level:
                squares *= _MORE_URGENT
        self.value: Numbers = reduce(add, values) if values else np.zeros(len(states))
        self.met: Mask = reduce(and_, within) if within else np.ones(len(states), bool)

    @property
    def urgent(self) -> Mask:
        """Whether every task of the most urgent level is within tolerance (F), whatever becomes of the others."""
        first = min(task.level for task in self.tasks)
        found = np.ones(len(self.met), bool)
        for task, measured in zip(self.tasks, self.measured, strict=True):
            if task.level == first:
                found &= measured.off <= task.tolerance
        return found

    def within(self, tasks: Sequence[Task]) -> Mask:
        """Whether every one of the same tasks with other tolerances is within those (F)."""
        found = np.ones(len(self.met), bool)
        for task, measured in zip(tasks, self.measured, strict=True):
            found &= measured.off <= task.tolerance
        return found

    @property
    def states(self) -> States:
        """The states at which the tasks are measured."""
        return self.geometry.states

    def errors(self) -> tuple[Numbers, Indices]:
        """Errors of all tasks (r, F), and the level of each row."""
        levels = np.array([task.level for task in self.tasks for _ in range(task.count)])
        errors = [measured.errors for measured in self.measured]
        return np.concatenate(errors) if len(errors) > 1 else errors[0], levels

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
        moved = self.tree.moved(self.states, self.geometry.frames, change)
        return System(self.tree, moved, self.tasks, Geometry(self.tree, moved))

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


def solve_each(matrix: Sequence[Sequence[Numbers]], right: Sequence[Numbers]) -> list[Numbers]:
    """Solve matrix x = right for each pose by Cholesky's factors; of the matrix (r x r of F) the lower half is read.

    It has to be positive definite.
    """
    count = len(right)
    lower: dict[tuple[int, int], Numbers] = {}  # of the diagonal the inverse
    forward: list[Numbers] = []
    for j in range(count):
        diagonal = matrix[j][j]
        for p in range(j):
            diagonal = diagonal - lower[j, p] * lower[j, p]
        lower[j, j] = inverse = 1.0 / np.sqrt(np.maximum(diagonal, 1e-300))
        value = right[j]
        for p in range(j):
            value = value - lower[j, p] * forward[p]
        forward.append(value * inverse)
        for i in range(j + 1, count):
            element = matrix[i][j]
            for p in range(j):
                element = element - lower[i, p] * lower[j, p]
            lower[i, j] = element * inverse
    for j in reversed(range(count)):
        value = forward[j]
        for i in range(j + 1, count):
            value = value - lower[i, j] * forward[i]
        forward[j] = value * lower[j, j]
    return forward


def bounded_change(
    rows: Numbers,
    errors: Numbers,
    levels: Indices,
    low: Numbers | None,
    high: Numbers | None,
    compliance: Numbers,
    damping: Numbers,
    size: float,
    wished: Numbers | None = None,
) -> Numbers:
    """Return the change (k, F) within `low` and `high` (k, F; None: without bounds), which no size changes.

    `rows` (r, k, F) and `errors` (r, F) are those of all tasks, `levels` (r) their priorities, `compliance` (k, 1),
    `damping` (F) that of the last level, as a share of its trace, `size` the tree's [Blender units], which rows and
    errors grow with, `wished` (k, F) the change d0.
    """
    columns, count = rows.shape[1:]
    result = np.empty((columns, count))
    is_written = len(rows) <= _FEW_ROWS and count >= _FEW_STATES
    if not is_written:  # states first, as products of matrices take them
        rows = np.ascontiguousarray(rows.transpose(2, 0, 1))
    solve, along = (_solve_written, _along_written) if is_written else (_solve_blas, _along_blas)
    every, least = sorted({*levels.tolist()}), _LEAST * size * size
    shares: list[tuple[Any, Any]] = [(slice(None), damping)]
    if len(every) > 1:
        shares = [(levels == level, damping if level else _URGENT) for level in every]
    left: Any = slice(None)  # states that are not within their bounds yet
    free: Mask | None = None  # columns that are not fixed
    mu: Numbers | None = None
    d0 = wished
    for number in range(PASSES):
        weights = compliance if free is None else compliance * free
        aim = errors if d0 is None else errors - along(rows, d0)
        step, mu = solve(rows, aim, weights, mu, shares, least)
        if d0 is not None:
            step += d0
        if low is None or high is None:
            return step
        inside = np.minimum(np.maximum(step, low), high)
        excess = np.abs(step - inside)
        most = excess.max(0)
        result[:, left] = inside
        bad = (most > _BEYOND).nonzero()[0]
        if not len(bad) or number == PASSES - 1:
            break
        fine = excess <= np.maximum(_WORST * most, _BEYOND)
        free = fine if free is None else free & fine
        if len(bad) < len(most):
            left = bad if isinstance(left, slice) else left[bad]
            free, inside = free[:, bad], inside[:, bad]
            rows = rows[..., bad] if is_written else rows[bad]
            errors, mu, low, high = errors[:, bad], mu[:, bad], low[:, bad], high[:, bad]
            shares = [(mask, at(share, bad) if isinstance(share, np.ndarray) else share) for mask, share in shares]
        d0 = np.where(free, 0.0 if wished is None else wished[:, left], inside)
    return result


def _mu(diagonal: Numbers, shares: Shares, least: float) -> Numbers:
    """Damping of every row (r, F), from the diagonal of J W J'."""
    mu = np.empty(diagonal.shape)
    for mask, share in shares:
        mu[mask] = share * diagonal[mask].sum(0) + least
    return mu


def _solve_written(
    rows: Numbers, errors: Numbers, weights: Numbers, mu: Numbers | None, shares: Any, least: float
) -> tuple[Numbers, Numbers]:
    """Solve for the change of few rows, states last."""
    weighted = rows * weights
    count = len(rows)
    if rows.shape[-1] <= _AT_ONCE:
        matrix = [list(each) for each in einsum("ikf,jkf->ijf", weighted, rows)]
    else:
        matrix = [[einsum("kf,kf->f", weighted[i], rows[j]) for j in range(i + 1)] for i in range(count)]
    if mu is None:
        mu = _mu(np.array([matrix[i][i] for i in range(count)]), shares, least)
    for i in range(count):
        matrix[i][i] = matrix[i][i] + mu[i]
    along = solve_each(matrix, list(errors))
    step: Numbers = weighted[0] * along[0]
    for i in range(1, count):
        step += weighted[i] * along[i]
    return step, mu


def _along_written(rows: Numbers, change: Numbers) -> Numbers:
    """Change (r, F) of the rows by a change (k, F) of the columns."""
    along: Numbers = einsum("rkf,kf->rf", rows, change)
    return along


def _along_blas(rows: Numbers, change: Numbers) -> Numbers:
    """The same for rows (F, r, k)."""
    along: Numbers = np.matmul(rows, change.T[:, :, None])[:, :, 0].T
    return along


def _solve_blas(
    rows: Numbers, errors: Numbers, weights: Numbers, mu: Numbers | None, shares: Any, least: float
) -> tuple[Numbers, Numbers]:
    """Solve for the change of many rows (F, r, k), or of few states, by one product and one factorisation for all."""
    weighted = rows * np.ascontiguousarray(weights.T)[:, None]
    matrix = weighted @ rows.transpose(0, 2, 1)
    diagonal = einsum("fii->fi", matrix)
    if mu is None:
        mu = _mu(diagonal.T, shares, least)
    diagonal += mu.T
    along = np.linalg.solve(matrix, errors.T[:, :, None])
    return (weighted.transpose(0, 2, 1) @ along)[:, :, 0].T, mu


def point_change(
    velocities: Numbers,
    levers: Numbers,
    errors: Numbers,
    low: Numbers,
    high: Numbers,
    damping: Numbers,
    size: float,
    largest: float,
) -> Numbers:
    """Return the same change for the commonest case: one place, every column of the same compliance.

    `velocities` (m, 3, F) are the columns of the angles, `levers` (b, 3, F) the vectors from the ball joints to the
    tip: with l a lever, a ball joint adds |l|^2 - l l' to the 3 x 3 matrix and rotates by l x z, at most by `largest`.
    """
    sums, least = _ball_sums(levers, errors.shape[-1]), _LEAST * size * size
    if len(velocities):
        change, along = _within_bounds(velocities, sums, errors, low, high, damping, least)
    else:
        change, along = low, _point_along(sums, errors, damping, least)
    if not len(levers):
        return change
    turns = cross(levers, along[None])
    turns *= np.minimum(1.0, largest / np.maximum(lengths(turns), 1e-12))[:, None]
    return np.concatenate((change, turns.reshape(3 * len(levers), -1)))


def _ball_sums(levers: Numbers, count: int) -> Numbers:
    """The part of J J' of the ball joints: its elements xx, xy, xz, yy, yz, zz (6, F)."""
    if not len(levers):
        return np.zeros((6, count))
    x, y, z = levers[:, 0], levers[:, 1], levers[:, 2]
    xx, yy, zz = (einsum("bf,bf->f", part, part) for part in (x, y, z))
    xy, xz, yz = (-einsum("bf,bf->f", p, q) for p, q in ((x, y), (x, z), (y, z)))
    return np.array((yy + zz, xy, xz, xx + zz, yz, xx + yy))


def _column_sums(these: Numbers, velocities: Numbers) -> Numbers:
    """The same of columns (m, 3, F), of which `these` count."""
    if velocities.shape[-1] <= _AT_ONCE:
        every: Numbers = einsum("mif,mjf->ijf", these, velocities)[_PAIRS]
        return every
    return np.array([einsum("mf,mf->f", these[:, i], velocities[:, j]) for i, j in zip(*_PAIRS, strict=True)])


def _point_along(sums: Numbers, errors: Numbers, damping: Numbers, least: float) -> Numbers:
    """Solve (J J' + damping) z = errors for z (3, F)."""
    xx, xy, xz, yy, yz, zz = sums
    mu = damping * (xx + yy + zz) + least
    return np.array(solve_each([[xx + mu], [xy, yy + mu], [xz, yz, zz + mu]], list(errors)))


def _within_bounds(
    velocities: Numbers,
    sums: Numbers,
    errors: Numbers,
    low: Numbers,
    high: Numbers,
    damping: Numbers,
    least: float,
) -> tuple[Numbers, Numbers]:
    """The change of the angles (m, F) within their bounds, and z (3, F); `sums` are those of the ball joints."""
    sums = sums + _column_sums(velocities, velocities)
    along = _point_along(sums, errors, damping, least)
    wanted = einsum("mif,if->mf", velocities, along)
    change = np.minimum(np.maximum(wanted, low), high)
    left = (wanted != change).any(0).nonzero()[0]  # the states of which some column is beyond a bound
    if not len(left):
        return change, along
    v, sums, low, high, damping = velocities[..., left], sums[:, left], low[:, left], high[:, left], damping[left]
    wanted, clipped = wanted[:, left], change[:, left]
    free = (wanted >= low) | (low < -_AT_BOUND)  # what stands at a bound already and leads beyond it is fixed at once
    free &= (wanted <= high) | (high > _AT_BOUND)
    for _ in range(PASSES - 1):
        excess = np.abs(wanted - clipped)
        free &= excess <= _WORST * excess.max(0)
        held = np.where(free, 0.0, clipped)
        fixed = v * ~free[:, None]
        rest = errors[:, left] - einsum("mif,mf->if", v, held)
        found = _point_along(sums - _column_sums(fixed, v), rest, damping, least)
        wanted = np.where(free, einsum("mif,if->mf", v, found), held)
        clipped = np.minimum(np.maximum(wanted, low), high)
        change[:, left], along[:, left] = clipped, found
        bad = (wanted != clipped).any(0).nonzero()[0]
        if not len(bad):
            break
        left, v, sums, low, high, damping = (
            left[bad],
            v[..., bad],
            sums[:, bad],
            low[:, bad],
            high[:, bad],
            damping[bad],
        )
        wanted, clipped, free = wanted[:, bad], clipped[:, bad], free[:, bad]
    return change, along

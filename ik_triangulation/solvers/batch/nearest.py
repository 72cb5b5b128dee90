# SPDX-License-Identifier: GPL-3.0-or-later
"""One bounded Newton step of many states of a chain towards the place nearest to a point that they cannot reach.

Gauss-Newton takes the chain for straight lines. Out of reach, where the error does not vanish, what the joints' arcs
bend away is all that is left: Gauss-Newton goes to and fro there, stops anywhere near the optimum, and differently in
every frame. With the second derivatives the step is exact, a few reach the optimum, and the decrease that the next one
would bring tells that they did. Source: Newton's method on bounds by Bertsekas 1982, "Projected Newton methods for
optimization problems with simple constraints".
"""

from __future__ import annotations

import numpy as np

from ...kinematics.arrays import Indices, Mask, Numbers
from ...kinematics.batch import Geometry
from ...kinematics.batch.algebra import cross
from ...kinematics.batch.curvature import curvature, nesting

_PASSES = 3  # of the active set; what is still beyond a bound is clipped
_WORST = 0.5  # share of the largest excess from which on a column is fixed
_AT_BOUND = 1e-9  # [rad] room that a column at a bound has left at most
_BEYOND = 1e-12  # rounding of a bound
_FLAT = 1e-12  # share of the trace that is added to every diagonal


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
    downhill = np.einsum("fki,if->fk", rows, errors)
    matrix = rows @ rows.swapaxes(1, 2)
    diagonal = np.einsum("fkk->fk", matrix)
    trace = diagonal.sum(1)
    matrix -= curvature(tree, states, axes, velocities, levers, errors, nesting(tree))
    diagonal += ((damping + _FLAT) * trace)[:, None]
    low, high = low.T, high.T
    free = ((high > _AT_BOUND) | (downhill <= 0.0)) & ((low < -_AT_BOUND) | (downhill >= 0.0))
    change, still = np.zeros_like(downhill), np.zeros(len(trace), bool)
    for number in range(_PASSES):
        reduced, right = matrix, downhill
        if not free.all():
            reduced = matrix * (free[:, :, None] & free[:, None])
            np.einsum("fkk->fk", reduced)[:] += np.where(free, 0.0, trace[:, None])
            if number:
                right = right - (matrix @ np.where(free, 0.0, change)[:, :, None])[:, :, 0]
            right = np.where(free, right, 0.0)
        step = np.linalg.solve(reduced, right[:, :, None])[:, :, 0]
        if not number:
            for i in np.flatnonzero(np.einsum("fk,fk->f", step, right) < least).tolist():
                still[i] = _is_convex(reduced[i])
                if not still[i]:
                    step[i] = _downhill(reduced[i], right[i])
        wanted = np.where(free, step, change)
        change = np.clip(wanted, low, high)
        excess = np.abs(wanted - change)
        most = excess.max(1)
        if not (most > _BEYOND).any():
            break
        free &= excess <= np.maximum(_WORST * most, _BEYOND)[:, None]
    return change.T, still


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

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

_PASSES = 2  # of the active set; what is still beyond a bound is clipped
_WORST = 0.5  # share of the largest excess from which on a column is fixed
_AT_BOUND = 1e-9  # [rad] room that a column at a bound has left at most
_BEYOND = 1e-12  # rounding of a bound
_FLAT = 1e-12  # share of the diagonal's size that is added to it, so that no matrix is singular


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
    diagonal += (damping * trace + _FLAT * (trace + np.abs(diagonal).sum(1)))[:, None]
    low, high = low.T, high.T
    free = ((high > _AT_BOUND) | (downhill <= 0.0)) & ((low < -_AT_BOUND) | (downhill >= 0.0))
    change = _solved(matrix, np.where(free, downhill, 0.0), free, trace)
    still = np.zeros(len(trace), bool)
    doubtful = np.flatnonzero(np.einsum("fk,fk->f", change, downhill) < least)
    for i in doubtful.tolist():
        own = _among(matrix[i], free[i], trace[i])
        still[i] = _is_convex(own)
        if not still[i]:
            change[i] = _downhill(own, np.where(free[i], downhill[i], 0.0))
    clipped = np.clip(change, low, high)
    excess = np.abs(change - clipped)
    excess[doubtful] = 0.0
    left = np.flatnonzero(excess.max(1) > _BEYOND)
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
    np.einsum("...kk->...k", reduced)[...] += np.where(free, 0.0, trace[..., None])
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

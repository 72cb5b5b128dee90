# SPDX-License-Identifier: GPL-3.0-or-later
"""The beginning and the end that chains posed at a single frame, in plain numbers, share with limits and without."""

from __future__ import annotations

from abc import ABC, abstractmethod
from math import inf, sqrt

from mathutils import Quaternion, Vector

from ...goals import Goal
from ...kinematics import Pose
from ..batch.descent import PLAIN, PRECISE
from .posture import DAMPING

_SINGLE = 1e-6  # of the reach: the most that single precision allows
_CLOSEST = 3e-6  # of the reach: what is not nearer by another step
_LEAST_DAMPING = 1e-12  # of the square of the reach: keeps a system solvable


class DraggedChain(ABC):
    """A chain on its way to the goal."""

    def __init__(self, pose: Pose, goal: Goal) -> None:
        self._chain, self._size = pose.chain, pose.chain.reach
        self._head, self._root = pose.head(0).copy(), pose.socket(0).copy()
        self._target = goal.target.closest(pose.tip)
        self._near = max(PRECISE * goal.tolerance, _SINGLE * self._size)
        self._error = Vector()  # from the tip to the target

    def is_made_exact(self) -> bool:
        """Bring the tip to the target: see batch.descent."""
        before = inf
        for _ in range(PLAIN.iterations):
            off = self._error.length
            if off <= self._near:
                return True
            if off >= before:
                return off <= _CLOSEST * self._size
            before = off
            self._approach()
        return False

    @abstractmethod
    def _approach(self) -> None:
        """Turn the joints by a step that brings the tip nearer to the target."""

    def _damping(self, trace: float) -> float:
        """Return the damping of a system with this trace."""
        share = DAMPING * min(1.0, self._error.length / self._size)
        return share * trace + _LEAST_DAMPING * self._size * self._size


def turned_further(rotation: Quaternion, local: Vector) -> Quaternion:
    """Return a rotation turned further by a rotation vector of its own frame, as algebra.stepped() does."""
    return (rotation @ Quaternion((1.0 - local.length_squared / 16.0, *(0.5 * local)))).normalized()


def solve_three(
    xx: float, xy: float, xz: float, yy: float, yz: float, zz: float, x: float, y: float, z: float
) -> tuple[float, float, float]:
    """Solve a symmetric, positive definite system of three by Cholesky's factors."""
    a = sqrt(xx)
    b, c = xy / a, xz / a
    d = sqrt(max(yy - b * b, 1e-300))
    e = (yz - b * c) / d
    f = sqrt(max(zz - c * c - e * e, 1e-300))
    x /= a
    y = (y - b * x) / d
    z = (z - c * x - e * y) / f / f
    y = (y - e * z) / d
    return (x - b * y - c * z) / a, y, z

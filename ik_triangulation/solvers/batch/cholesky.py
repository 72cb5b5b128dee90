# SPDX-License-Identifier: GPL-3.0-or-later
"""Small symmetric linear systems, one for each of F poses, written out over rows."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ...kinematics.arrays import Numbers


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

# SPDX-License-Identifier: GPL-3.0-or-later
"""Block tridiagonal systems: several unknowns in each frame, each frame coupled with the next one."""

from __future__ import annotations

import numpy as np

from ...kinematics.arrays import Numbers


def solve_blocks(diagonal: Numbers, side: Numbers, right: Numbers) -> Numbers:
    """Solve a symmetric block tridiagonal system for `right` (F, m) by odd-even (cyclic) reduction.

    `diagonal` (F, m, m) has positive definite blocks; `side` (F - 1, m) are the diagonals of the blocks that couple
    each frame with the next one. Source: Heller 1976, "Some aspects of the cyclic reduction algorithm for block
    tridiagonal linear systems".
    """
    return _solved(diagonal, side[:, :, None] * np.eye(side.shape[1]), right)


def _solved(diagonal: Numbers, side: Numbers, right: Numbers) -> Numbers:
    """The same for whole blocks `side` (F - 1, m, m), which couple the rows of a frame with the columns of the next."""
    count, size = right.shape
    if count == 1:
        single: Numbers = np.linalg.solve(diagonal, right[:, :, None])[:, :, 0]
        return single
    odd = slice(1, None, 2)
    number = count // 2
    # Each odd frame in terms of the even ones before and after it.
    into = np.zeros((number, size, 2 * size + 1))
    into[:, :, :size] = side[0::2].swapaxes(1, 2)
    after = side[1::2]
    into[: len(after), :, size : 2 * size] = after
    into[:, :, -1] = right[odd]
    into = np.linalg.solve(diagonal[odd], into)
    left, beyond, own = into[:, :, :size], into[:, :, size : 2 * size], into[:, :, -1]
    less, rest = diagonal[0::2].copy(), right[0::2].copy()
    ahead, back = side[0::2], after.swapaxes(1, 2)
    less[:number] -= ahead @ left
    rest[:number] -= (ahead @ own[:, :, None])[:, :, 0]
    less[1 : 1 + len(back)] -= back @ beyond[: len(back)]
    rest[1 : 1 + len(back)] -= (back @ own[: len(back), :, None])[:, :, 0]
    between = -(ahead[: len(back)] @ beyond[: len(back)])
    even = _solved(less, between, rest)
    result = np.empty_like(right)
    result[0::2] = even
    result[odd] = own - (left @ even[:number, :, None])[:, :, 0]
    result[odd][: len(back)] -= (beyond[: len(back)] @ even[1 : 1 + len(back), :, None])[:, :, 0]
    return result

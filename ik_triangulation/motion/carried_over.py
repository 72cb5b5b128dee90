# SPDX-License-Identifier: GPL-3.0-or-later
"""Poses that are shown, changed as two solves of the same frames differ: one before an edit and one after it.

So an edited shot stays what somebody made of it, and where it is what a bake has made, it becomes what a bake makes of
the edit. Source: none.
"""

from __future__ import annotations

import numpy as np

from ..kinematics.arrays import Numbers
from ..kinematics.batch.algebra import conjugated, exponential, product, rotation_vectors


def carried_over(shown: Numbers, before: Numbers, after: Numbers, fades: Numbers) -> Numbers:
    """Return rotations (n, 4, F) of joints that are `shown`, turned as from those `before` to those `after`.

    By `fades` (2, F), from 1 at the first and at the last frame down to 0, the differences there are taken away.
    """
    turns = rotation_vectors(product(conjugated(before), after))
    carried: Numbers = product(shown, exponential(without_ends(turns, fades)))
    return carried


def without_ends(ways: Numbers, fades: Numbers) -> Numbers:
    """Return ways (..., F) without those at the first and the last frame, faded out by `fades` (2, F)."""
    left: Numbers = ways - ways[..., :1] * fades[0] - ways[..., -1:] * fades[1]
    return left


def end_fades(frames: Numbers, at: float, begins: bool, ends: bool) -> Numbers:
    """Return weights (2, F) of frames: from 1 at the first and at the last one smoothly down to 0 `at` a frame.

    0 throughout on a side that is free to change.
    """
    fades = np.zeros((2, len(frames)))
    for row, (end, bound) in enumerate(((frames[0], begins), (frames[-1], ends))):
        if bound and end != at:
            share = np.clip((frames - at) / (end - at), 0.0, 1.0)
            fades[row] = share * share * (3.0 - 2.0 * share)
    return fades

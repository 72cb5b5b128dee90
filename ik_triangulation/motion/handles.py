# SPDX-License-Identifier: GPL-3.0-or-later
"""Auto Clamped handles of a reduced bake, wherever Blender then moves the tip no further than was allowed.

Such handles follow when an animator moves a key, while fitted ones stay. Blender places them by the keys around, so
they are tried: at first all of them, and where the motion leaves what is allowed, the channels that are farthest off
get their fitted handles back, until the rest holds.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from ..cooperative import Work
from ..kinematics.arrays import Array, Mask
from .frames import Curves
from .reduction import FullBake

_ROUNDS, _LAST_CHOICE = 12, 8  # of trials, and of those in which only the worst channels yield
_WORST = 0.5  # share of a segment's largest change from which on a channel yields


class Clamped(NamedTuple):
    """Curves through keys, which of their handles (keys x channels) are Auto Clamped, and the largest `deviation`."""

    curves: Curves
    which: Mask
    deviation: float


def clamp(
    full: FullBake, fitted: Curves, tolerance: float, placed: Callable[[Curves, Mask], tuple[Array, Array]]
) -> Work[Clamped]:
    """Return reduced curves with as many Auto Clamped handles as hold, and how far they deviate from the full bake.

    `placed` returns the slopes of the handles on both sides if those of a mask are Auto Clamped. The first and the last
    key, whose neighbours are not known, and corners have fitted handles.
    """
    times, values, left, right = fitted
    which = left == right
    which[[0, -1]] = False
    segments = np.clip(np.searchsorted(times, full.times, side="right"), 1, len(times) - 1) - 1
    near = fitted.at(full.times)
    before, deviation = yield from full.exceeding(fitted, tolerance)
    for number in range(_ROUNDS if which.any() else 0):
        tried = Curves(times, values, *placed(fitted, which))
        off, most = yield from full.exceeding(tried, tolerance)
        off &= ~before  # that is not the handles' doing
        if not off.any():
            return Clamped(tried, which, most)
        apart = np.abs(tried.at(full.times) - near)
        for segment in np.unique(segments[off]).tolist():
            change = apart[segments == segment].max(0)
            least = _WORST * change.max() if number < _LAST_CHOICE else 0.0
            which[segment : segment + 2, change >= least] = False
    return Clamped(fitted, np.zeros_like(which), deviation)

# SPDX-License-Identifier: GPL-3.0-or-later
"""Curves through keys as Blender draws them, for many channels at once.

A Bezier segment of an F-Curve runs through time as well as through values, and Blender finds the place on it by solving
a cubic for the time. With handles a third of the way to the neighbouring keys the time runs evenly, the value is a
plain cubic of it (the Hermite form, given by the slopes of the handles), and no root has to be found.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

Array = np.ndarray[Any, Any]


class Curves(NamedTuple):
    """Keys at `times` [frames] with `values` (keys x channels) and the slopes [per frame] of their handles.

    `left` and `right` (keys x channels) are the slopes of the handles before and after each key.
    """

    times: Array
    values: Array
    left: Array
    right: Array

    def at(self, times: Array) -> Array:
        """Values (times x channels) at `times` between the first and the last key."""
        after = np.clip(np.searchsorted(self.times, times, side="right"), 1, len(self.times) - 1)
        before = after - 1
        span = (self.times[after] - self.times[before])[:, None]
        x = (np.asarray(times)[:, None] - self.times[before][:, None]) / span
        rise = self.values[after] - self.values[before]
        start, end = span * self.right[before] - rise, span * self.left[after] - rise
        values: Array = self.values[before] + x * rise + x * (1.0 - x) * ((1.0 - x) * start - x * end)
        return values


def straight(times: Array, values: Array) -> Curves:
    """Straight lines from key to key."""
    slopes = np.diff(values, axis=0) / np.diff(times)[:, None]
    return Curves(times, values, np.concatenate((slopes[:1], slopes)), np.concatenate((slopes, slopes[-1:])))


def flowing(times: Array, values: Array) -> Curves:
    """Curves whose handles lie along the mean slope of the values around each key."""
    slopes = np.gradient(values, times, axis=0)
    return Curves(times, values, slopes, slopes)

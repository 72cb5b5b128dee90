# SPDX-License-Identifier: GPL-3.0-or-later
"""Evaluation of Bezier F-curves as Blender does it, for many channels at once.

A Bezier segment of an F-curve is parametric in time and value, and Blender solves a cubic for the time. With handles at
a third of the distance to the neighbouring keys the time is linear in the parameter and the value a plain cubic of it
(the Hermite form, given by the slopes of the handles), so no root has to be found.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..kinematics.arrays import Array, Mask


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
    """Return linear interpolation between the keys."""
    slopes = np.diff(values, axis=0) / np.diff(times)[:, None]
    return Curves(times, values, np.concatenate((slopes[:1], slopes)), np.concatenate((slopes, slopes[-1:])))


def flowing(times: Array, values: Array) -> Curves:
    """Return smooth curves: the handles have the mean slope of the values around each key."""
    slopes = np.gradient(values, times, axis=0)
    return Curves(times, values, slopes, slopes)


def through(curves: Curves, between: Array, which: Mask) -> Curves:
    """Return curves whose slopes are changed so that they pass as near as they can to values between the keys.

    `between` (keys - 1, n, channels) are those at n times evenly apart from each key to the next. A single one is met
    by the same change at both ends. Of the segments in `which` (keys - 1) the slopes are changed; the others stay.
    """
    times, count = curves.times, between.shape[1]
    span = np.diff(times)[:, None, None]
    x = np.arange(1, count + 1) / (count + 1)
    there = curves.at((times[:-1, None] + span[..., 0] * x).ravel()).reshape(between.shape)
    basis = np.column_stack((x * (1.0 - x) ** 2, -x * x * (1.0 - x)))  # of the slope after a key and before the next
    change = np.linalg.pinv(basis) @ ((between - there) / span) * which[:, None, None]
    left, right = curves.left.copy(), curves.right.copy()
    right[:-1] += change[:, 0]
    left[1:] += change[:, 1]
    return Curves(times, curves.values, left, right)

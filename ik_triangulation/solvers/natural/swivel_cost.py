# SPDX-License-Identifier: GPL-3.0-or-later
"""Cost of the posture of a limb of two bones, as a function of its swivel.

The weights were found on recorded arms and legs, and hold when each clip is left out. Frames are the last axis.
"""

from __future__ import annotations

import numpy as np

from ...kinematics import Free
from ...kinematics.arrays import Indices, Mask, Numbers
from ...kinematics.batch.limit_arrays import LimitArrays
from .two_bones import TwoBones

UPPER, END, SWING = 1.0, 0.5, 0.25  # turn of the upper bone and of the end off the reference, swing off rest
SWIVEL = 1.0  # of a limb whose end does not turn by itself
POLE = 100.0  # of the deviation from a pole
BEYOND = 1e3, 1e2  # squared angle beyond the limits of the root and of the end [rad^2]
FORBIDDEN = 20.0  # of a swivel beyond a limit, while another one is allowed
_INSIDE = 1e-7  # [rad] beyond a limit that is rounding
_FREE_CHOICES, _CHOICES = 24, 72  # swivels to choose from without and with limits, whose allowed spans may be narrow
_AROUND = np.radians([-48, -32, -21, -14, -9, -6, -4, -2, 0, 2, 4, 6, 9, 14, 21, 32, 48])  # where spans are looked for
_HALVINGS = 16  # of the distance between two of these


class SwivelCost:
    """The cost of swivels [rad^2]; `choices` is the number of them worth looking at."""

    def __init__(self, limb: TwoBones) -> None:
        self._angles = [(UPPER, limb.turn_of_upper())]
        if limb.end is not None:
            self._angles += [(END, limb.turn_of_end()), (SWING, limb.swing_of_end())]
        self._plain = 0.0 if limb.end is not None else SWIVEL
        self._pole = None if limb.pole is None else limb.swivel_to(limb.pole.location, limb.pole.angle)
        self._limits = [
            (LimitArrays(freedom), turns, weight)
            for (freedom, turns), weight in zip(limb.freedoms, BEYOND, strict=False)
            if not isinstance(freedom, Free)
        ]
        self.choices = _CHOICES if self._limits else _FREE_CHOICES

    @property
    def is_limited(self) -> bool:
        """Whether a joint that the swivel turns has limits."""
        return bool(self._limits)

    def __call__(self, swivels: Numbers, frames: Indices) -> Numbers:
        """The costs of swivels (k, n) at n frames, given by their indices."""
        cost = self.posture(swivels, frames)
        if self._limits:
            outside = np.zeros(swivels.shape, bool)
            for limits, turns, weight in self._limits:
                beyond = _beyond(limits, turns, swivels, frames)
                cost += weight * beyond * beyond
                outside |= beyond > _INSIDE
            if len(swivels) == self.choices:
                cost += FORBIDDEN * (outside & ~outside.all(0))
        return cost

    def posture(self, swivels: Numbers, frames: Indices) -> Numbers:
        """The same costs without those of the limits, which are 0 inside them."""
        cosine, sine = np.cos(swivels), np.sin(swivels)
        cost = 2.0 * self._plain * (1.0 - cosine)
        for weight, (a, b, c) in self._angles:
            angle = np.arccos(np.clip(a[frames] + b[frames] * cosine + c[frames] * sine, -1.0, 1.0))
            cost += weight * angle * angle
        if self._pole is not None:
            cost += 2.0 * POLE * (1.0 - np.cos(swivels - self._pole[frames]))
        return cost

    def spans(self, swivels: Numbers) -> tuple[Numbers, Numbers]:
        """Least and greatest swivel (F) allowed around the nearest one that is; none where no one near is."""
        low, high = np.full(len(swivels), -np.inf), np.full(len(swivels), np.inf)
        if not self._limits:
            return low, high
        every = np.arange(len(swivels))
        fits = self._allowed(swivels + _AROUND[:, None], every)
        middle = np.where(fits, np.abs(_AROUND)[:, None], np.inf).argmin(0)
        found = fits[middle, every]
        for bound, step in ((low, -1), (high, 1)):
            last = middle.copy()
            for _ in range(len(_AROUND)):
                beyond = np.clip(last + step, 0, len(_AROUND) - 1)
                last = np.where(fits[beyond, every], beyond, last)
            good = swivels + _AROUND[last]
            bound[found] = good[found]
            edge = np.flatnonzero(found & (last > 0) & (last < len(_AROUND) - 1))
            bound[edge] = self._end(
                good[edge], (swivels + _AROUND[np.clip(last + step, 0, len(_AROUND) - 1)])[edge], edge
            )
        return low, high

    def _end(self, good: Numbers, bad: Numbers, frames: Indices) -> Numbers:
        """The last swivels allowed between those that are and those that are not."""
        for _ in range(_HALVINGS if len(frames) else 0):
            middle = 0.5 * (good + bad)
            fits = self._allowed(middle[None], frames)[0]
            good, bad = np.where(fits, middle, good), np.where(fits, bad, middle)
        return good

    def _allowed(self, swivels: Numbers, frames: Indices) -> Mask:
        inside = np.ones(swivels.shape, bool)
        for limits, turns, _ in self._limits:
            inside &= _beyond(limits, turns, swivels, frames) <= _INSIDE
        return inside


def _beyond(limits: LimitArrays, turns: tuple[Numbers, Numbers], swivels: Numbers, frames: Indices) -> Numbers:
    """Angles beyond the limits (k, n) [rad] of the rotations A cos(swivel / 2) + B sin(swivel / 2)."""
    a, b = (each[:, None, frames] for each in turns)
    rotations = a * np.cos(0.5 * swivels) + b * np.sin(0.5 * swivels)
    return limits.excess(rotations.reshape(4, -1)).reshape(swivels.shape)

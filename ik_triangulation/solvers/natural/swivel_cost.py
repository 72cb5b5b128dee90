# SPDX-License-Identifier: GPL-3.0-or-later
"""Cost of the posture of a limb of two bones, as a function of its swivel.

The weights were found on recorded arms and legs, and hold when each clip is left out. Frames are the last axis.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from ...kinematics import Free
from ...kinematics.arrays import Indices, Mask, Numbers
from ...kinematics.batch.limit_arrays import LimitArrays
from .swivel import SwivelSpans
from .two_bones import TwoBones

UPPER, END, SWING = 1.0, 0.5, 0.25  # turn of the upper bone and of the end, and swing of the end, off the reference
SWIVEL = 1.0  # of a limb whose end does not turn by itself
POLE = 100.0  # of the deviation from a pole
ALONG = 0.5  # of the end's turn from frame to frame: the change of swivel that costs nothing
BEYOND = 1e3, 1e2  # squared angle beyond the limits of the root and of the end [rad^2]
FORBIDDEN = 20.0  # of a swivel beyond a limit, while another one is allowed
_INSIDE = 1e-7  # [rad] beyond a limit that is rounding
_FREE_CHOICES, _CHOICES = 24, 72  # swivels to choose from without and with limits, whose allowed spans may be narrow
_AROUND = np.radians([-48, -32, -21, -14, -9, -6, -4, -2, 0, 2, 4, 6, 9, 14, 21, 32, 48])  # where spans are looked for
_HALVINGS = 16  # of the distance between two of these


class SwivelCost:
    """The cost of swivels [rad^2]; `choices` is the number of them worth looking at.

    `firmness` multiplies the cost of limits; with less than all of it none forbids a swivel.
    """

    def __init__(self, limb: TwoBones, firmness: float = 1.0) -> None:
        self._angles = [(UPPER, limb.turn_of_upper())]
        if limb.end is not None:
            self._angles += [(END, limb.turn_of_end()), (SWING, limb.swing_of_end())]
        self._plain = 0.0 if limb.end is not None else SWIVEL
        self._pole = None if limb.pole is None else limb.swivel_to(limb.pole.location, limb.pole.angle)
        self._limits = [
            (LimitArrays(freedom), turns, firmness * weight)
            for (freedom, turns), weight in zip(limb.freedoms, BEYOND, strict=False)
            if not isinstance(freedom, Free)
        ]
        self._forbidden = FORBIDDEN if firmness == 1.0 else 0.0
        self.choices = _CHOICES if self._limits and self._forbidden else _FREE_CHOICES

    @property
    def is_limited(self) -> bool:
        """Whether a joint that the swivel turns has limits."""
        return bool(self._limits)

    def __call__(self, swivels: Numbers, frames: Indices) -> Numbers:
        """The costs (k, n) of swivels (k, n or 1) at n frames, given by their indices."""
        cost = self.posture(swivels, frames)
        if self._limits:
            outside = np.zeros(cost.shape, bool)
            for beyond, weight in self._beyond(swivels, frames):
                cost += weight * beyond * beyond
                outside |= beyond > _INSIDE
            if len(swivels) == self.choices:
                cost += self._forbidden * (outside & ~outside.all(0))
        return cost

    def posture(self, swivels: Numbers, frames: Indices) -> Numbers:
        """The same costs without those of the limits, which are 0 inside them."""
        cosine, sine = np.cos(swivels), np.sin(swivels)
        cost = np.zeros((len(swivels), len(frames)))
        cost += 2.0 * self._plain * (1.0 - cosine)
        for weight, (a, b, c) in self._angles:
            angle = np.arccos(np.clip(a[frames] + b[frames] * cosine + c[frames] * sine, -1.0, 1.0))
            cost += weight * angle * angle
        if self._pole is not None:
            cost += 2.0 * POLE * (1.0 - np.cos(swivels - self._pole[frames]))
        return cost

    def spans(self, swivels: Numbers) -> SwivelSpans:
        """Swivels allowed around the nearest ones to these (F) that are, among some around them."""
        every, last = np.arange(len(swivels)), len(_AROUND) - 1
        fits = self._allowed(swivels + _AROUND[:, None], every)
        middle = np.where(fits, np.abs(_AROUND)[:, None], np.inf).argmin(0)
        rows = np.arange(len(_AROUND))[:, None]
        below = np.where(~fits & (rows < middle), rows, -1).max(0)
        above = np.where(~fits & (rows > middle), rows, last + 1).min(0)
        ends = below + 1, above - 1, np.maximum(below, 0), np.minimum(above, last)
        found, outer = fits[middle, every], np.array([-np.inf, np.inf, -np.inf, np.inf])[:, None]
        return SwivelSpans(*np.where(found, swivels + _AROUND[np.stack(ends)], outer))

    def nearest_allowed(self, swivels: Numbers, frames: Indices) -> Numbers:
        """The nearest allowed swivels to these (n) at n frames, among some around them; infinite where none is."""
        tried = swivels + _AROUND[:, None]
        fits = self._allowed(tried, frames)
        row = np.where(fits, np.abs(_AROUND)[:, None], np.inf).argmin(0)
        column = np.arange(len(swivels))
        found = np.where(fits[row, column], tried[row, column], np.inf)
        moved = np.flatnonzero(np.isfinite(found) & (found != swivels))
        found[moved] = self.last_allowed(found[moved], swivels[moved], frames[moved])
        return found

    def outside(self, swivels: Numbers, frames: Indices) -> Numbers:
        """Largest angle (n) [rad] by which swivels (n) are beyond a limit at n frames."""
        found = np.zeros(len(swivels))
        for beyond, _ in self._beyond(swivels[None], frames):
            found = np.maximum(found, beyond[0])
        return found

    def last_allowed(self, good: Numbers, bad: Numbers, frames: Indices) -> Numbers:
        """The last swivels allowed between those (n) that are and those that are not, at these frames."""
        for _ in range(_HALVINGS if len(frames) else 0):
            middle = 0.5 * (good + bad)
            fits = self._allowed(middle[None], frames)[0]
            good, bad = np.where(fits, middle, good), np.where(fits, bad, middle)
        return good

    def _allowed(self, swivels: Numbers, frames: Indices) -> Mask:
        inside = np.ones((len(swivels), len(frames)), bool)
        for beyond, _ in self._beyond(swivels, frames):
            inside &= beyond <= _INSIDE
        return inside

    def _beyond(self, swivels: Numbers, frames: Indices) -> Iterator[tuple[Numbers, float]]:
        """Angles (k, n) [rad] beyond each of the limits, and their weight.

        Rotations are A cos(swivel / 2) + B sin(swivel / 2).
        """
        cosine, sine = np.cos(0.5 * swivels), np.sin(0.5 * swivels)
        for limits, turns, weight in self._limits:
            a, b = (each[:, None, frames] for each in turns)
            rotations = a * cosine + b * sine
            yield limits.excess(rotations.reshape(4, -1)).reshape(rotations.shape[1:]), weight

# SPDX-License-Identifier: GPL-3.0-or-later
"""Nearest rotations inside Euler limits, for many rotations at once.

The formulas are those of kinematics.euler and kinematics.euler_box, where the source is named; here every candidate is
computed and the best one chosen.
"""

from __future__ import annotations

from math import cos, isinf, sin

import numpy as np

from ...kinematics import EulerLimits
from ...kinematics.arrays import Numbers
from ...kinematics.batch.euler_arrays import (
    clamped_to_range,
    euler_angles,
    euler_quaternions,
    other_angles,
    to_half_turns,
)
from ...kinematics.euler import AXES, PARITY
from ...kinematics.euler_box import FACES
from ...kinematics.freedom import ANGLE_ROUNDING

_SAME = 1e-9  # [rad] difference up to which clamping left an angle unchanged


class EulerNearest:
    """The rotations that these limits allow."""

    def __init__(self, freedom: EulerLimits) -> None:
        self._order, self._axes, self._sign = freedom.order, AXES[freedom.order], PARITY[freedom.order]
        self._lower, self._upper, self._moving = freedom.lower, freedom.upper, list(freedom.axes)
        self._ranges = [sorted((self._sign * freedom.lower[a], self._sign * freedom.upper[a])) for a in self._axes]
        self._ends = [
            [(end, cos(end / 2.0), sin(end / 2.0)) for end in dict.fromkeys(ends) if not isinf(end)]
            for ends in self._ranges
        ]

    def nearest(self, rotations: Numbers) -> tuple[Numbers, Numbers]:
        """Return the nearest allowed rotations (4, F), and those of their angles [rad] that move (r, F)."""
        angles = self._angles(rotations)
        return euler_quaternions(angles, self._order), angles[self._moving]

    def _angles(self, rotations: Numbers) -> Numbers:
        """Euler angles (3, F) of the nearest allowed rotations."""
        triples = euler_angles(rotations, self._order)
        angles = np.empty_like(triples)
        left = np.ones(triples.shape[1], bool)
        for triple in (triples, other_angles(triples, self._order)):
            fitted = np.stack([clamped_to_range(triple[a], self._lower[a], self._upper[a]) for a in range(3)])
            change = np.abs(to_half_turns(fitted - triple))
            fits = left & (change < ANGLE_ROUNDING / 4.0).all(0)
            angles[:, fits] = fitted[:, fits]
            left &= ~fits
            if not left.any():
                return angles
        angles[:, left] = self._in_box(rotations[:, left])
        return angles

    def _in_box(self, rotations: Numbers) -> Numbers:
        """Angles of the nearest rotations for those outside."""
        sign, ranges, ends = self._sign, self._ranges, self._ends
        w, (a, b, c) = rotations[0], (sign * rotations[1 + axis] for axis in self._axes)
        agreement = (w, c, b, -a, a, b, -c, w)
        best, nearest = np.full(len(w), -1.0), np.zeros((3, len(w)))

        def offer(value: Numbers, at: dict[int, Numbers | float]) -> None:
            better = value > best
            best[better] = value[better]
            for axis, angle in at.items():
                nearest[axis, better] = angle[better] if isinstance(angle, np.ndarray) else angle

        for held, (second, third, pairs) in enumerate(FACES):
            for bound, cosine, sine in ends[held]:
                p, q, r, s = (cosine * agreement[i] + sine * agreement[j] for i, j in pairs)
                difference, total = np.arctan2(r - q, p + s), np.arctan2(q + r, p - s)
                y, z = total + difference, total - difference
                fitted_y, fitted_z = clamped_to_range(y, *ranges[second]), clamped_to_range(z, *ranges[third])
                kept = (np.abs(to_half_turns(fitted_y - y)) < _SAME) & (np.abs(to_half_turns(fitted_z - z)) < _SAME)
                greatest = (np.hypot(p + s, r - q) + np.hypot(p - s, q + r)) / 2.0
                offer(np.where(kept, greatest, -1.0), {held: bound, second: fitted_y, third: fitted_z})
                for (n, m), (xs, ys) in (
                    ((second, third), ((p, r), (q, s))),
                    ((third, second), ((p, q), (r, s))),
                ):
                    for end, even, odd in ends[n]:
                        x, y = even * xs[0] + odd * xs[1], even * ys[0] + odd * ys[1]
                        angle = clamped_to_range(2.0 * np.arctan2(y, x), *ranges[m])
                        value = np.abs(x * np.cos(angle / 2.0) + y * np.sin(angle / 2.0))
                        offer(value, {held: bound, n: end, m: angle})
        angles = np.empty_like(nearest)
        for axis, angle in zip(self._axes, nearest, strict=True):
            angles[axis] = np.clip(sign * angle, self._lower[axis], self._upper[axis])
        return angles

# SPDX-License-Identifier: GPL-3.0-or-later
"""Swings of joints to directions within their limits, for many poses at once.

Nearest rotations inside Euler limits, for many rotations at once. The formulas are those of kinematics.rotation and
kinematics.freedom, where the source is named; here every candidate is computed and the best one chosen.

Freedom.swung() for many rotations at once: a joint turns one direction towards another, as far as its limits allow. The
formulas are those of the scalar freedoms, where the source is named.
"""

from __future__ import annotations

from math import cos, isinf, sin

import numpy as np

from ...kinematics import Cone, EulerLimits, Free, Hinge, unframed
from ...kinematics.arrays import Numbers
from ...kinematics.batch.algebra import (
    at,
    clamped_to_range,
    cross,
    dot,
    euler_angles,
    euler_quaternions,
    lengths,
    normalized,
    other_angles,
    product,
    to_half_turns,
)
from ...kinematics.batch.coordinates import Frames
from ...kinematics.euler_box import FACES
from ...kinematics.freedom import ANGLE_ROUNDING, Freedom
from ...kinematics.rotation import AXES, PARITY

_SAME = 1e-9  # [rad] difference up to which clamping left an angle unchanged

_ALONG = 1e-6  # sine of an angle to a hinge below which a direction lies along it
_OPPOSITE = 1e-14  # one plus the cosine of directions that have no smallest rotation between them

Swung = tuple[Numbers, Numbers]  # unit quaternions (4, F), and the coordinates of the joint (r, F) as in a Tree


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


class Swing:
    """A joint with this freedom."""

    def __init__(self, freedom: Freedom) -> None:
        self._frame = Frames.of([freedom])
        self._freedom = freedom = unframed(freedom)
        self._euler = EulerNearest(freedom) if isinstance(freedom, EulerLimits) else None

    def swung(self, rotations: Numbers, start: Numbers, end: Numbers) -> Swung:
        """Rotate on from `rotations` (4, F) until the directions `start` (3, F) are as near to `end` as allowed."""
        freedom = self._freedom
        if isinstance(freedom, Hinge):
            return _hinge(freedom, rotations, start, end)
        return self.nearest(normalized(product(smallest_rotations(start, end), rotations)))

    def nearest(self, rotations: Numbers) -> Swung:
        """Project rotations (4, F) onto the allowed ones."""
        if self._frame is None:
            return self._nearest(rotations)
        turned, values = self._nearest(self._frame.into(rotations[None])[0])
        return self._frame.out_of(turned[None])[0], values

    def _nearest(self, rotations: Numbers) -> Swung:
        """The same in the axes of the limits."""
        freedom = self._freedom
        if isinstance(freedom, Hinge):
            return _hinge(freedom, rotations, *np.zeros((2, 3, 1)))
        if isinstance(freedom, Free):
            return rotations, rotations[:0]
        if isinstance(freedom, Cone):
            return _cone(freedom, rotations)
        assert self._euler is not None
        return self._euler.nearest(rotations)


def smallest_rotations(start: Numbers, end: Numbers) -> Numbers:
    """Smallest rotations (4, F) from directions to others (3, F); the identity where either has no length."""
    sizes = lengths(start), lengths(end)
    empty = np.minimum(*sizes) <= 0.0
    a, b = (v / np.where(size > 0.0, size, 1.0) for v, size in zip((start, end), sizes, strict=True))
    w = 1.0 + dot(a, b)
    opposite = (w < _OPPOSITE) & ~empty
    q = np.concatenate((np.where(empty, 1.0, w)[None], np.where(empty, 0.0, cross(a, b))))
    if opposite.any():
        q[0, opposite], q[1:, opposite] = 0.0, orthogonal_to(at(a, opposite))
    return normalized(q)


def orthogonal_to(v: Numbers) -> Numbers:
    """A vector (3, F) orthogonal to each, as mathutils chooses it."""
    x, y, z = v
    choices = np.stack(([-y - z, x, x], [y, -x - z, y], [z, z, -x - y]))
    axis = np.abs(v).argmax(0)
    chosen: Numbers = choices[axis, :, np.arange(v.shape[1])].T
    return chosen


def _hinge(freedom: Hinge, rotations: Numbers, start: Numbers, end: Numbers) -> Swung:
    axis = np.array(freedom.axis)[:, None]
    across, onto = start - axis * dot(start, axis), end - axis * dot(end, axis)
    parallel = (lengths(across) <= _ALONG * lengths(start)) | (lengths(onto) <= _ALONG * lengths(end))
    angle = np.where(parallel, 0.0, np.arctan2(dot(cross(across, onto), axis), dot(across, onto)))
    sign = np.where(rotations[0] < 0.0, -1.0, 1.0)
    twist = 2.0 * np.arctan2(sign * dot(rotations[1:], axis), sign * rotations[0])
    value = clamped_to_range(twist + angle, freedom.lower, freedom.upper)
    return np.concatenate((np.cos(value / 2.0)[None], axis * np.sin(value / 2.0))), value[None]


def _cone(freedom: Cone, rotations: Numbers) -> Swung:
    w, x, y, z = rotations
    twist = 2.0 * np.arctan2(y, w)
    fitted = clamped_to_range(twist, freedom.twist_lower, freedom.twist_upper)
    likeness = np.cos((fitted - twist) / 2.0)
    sign = np.where(likeness >= 0.0, 1.0, -1.0)
    half = np.minimum(np.arctan2(np.hypot(x, z), np.abs(likeness) * np.hypot(w, y)), freedom.swing / 2.0)
    phase = np.arctan2(sign * z, sign * x)
    c, s = np.cos(half), np.sin(half)
    turned = np.stack((c * np.cos(fitted / 2.0), s * np.cos(phase), c * np.sin(fitted / 2.0), s * np.sin(phase)))
    direction = phase - fitted / 2.0
    fitted = np.clip(fitted, freedom.twist_lower, freedom.twist_upper)
    return turned, np.stack((2.0 * half * np.cos(direction), 2.0 * half * np.sin(direction), fitted))

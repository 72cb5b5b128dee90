# SPDX-License-Identifier: GPL-3.0-or-later
"""Freedom.swung() for many rotations at once: a joint turns one direction towards another, as far as its limits allow.

The formulas are those of the scalar freedoms, where the source is named.
"""

from __future__ import annotations

import numpy as np

from ...kinematics import Cone, EulerLimits, Free, Hinge, unframed
from ...kinematics.arrays import Numbers
from ...kinematics.batch.algebra import cross, dot, lengths, normalized, product
from ...kinematics.batch.coordinates import Frames
from ...kinematics.batch.euler_arrays import clamped_to_range
from ...kinematics.freedom import Freedom
from .euler_nearest import EulerNearest

_ALONG = 1e-6  # sine of an angle to a hinge below which a direction lies along it
_OPPOSITE = 1e-14  # one plus the cosine of directions that have no smallest rotation between them

Swung = tuple[Numbers, Numbers]  # unit quaternions (4, F), and the coordinates of the joint (r, F) as in a Tree


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
        q[0, opposite], q[1:, opposite] = 0.0, orthogonal_to(a[:, opposite])
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

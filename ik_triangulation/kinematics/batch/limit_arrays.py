# SPDX-License-Identifier: GPL-3.0-or-later
"""Limits of a joint for many rotations at once. The last axis of every array runs over the rotations."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, Protocol

import numpy as np
from mathutils import Quaternion

from ..arrays import Array
from ..cone import Cone
from ..framed import Framed, unframed
from ..freedom import ON_LIMIT, EulerLimits, Free, Freedom, Hinge, Locked
from ..rotation import rotation_angle
from .algebra import clamped_to_range, conjugated, euler_angles, normalized, other_angles, product, to_half_turns

Freedoms = Freedom | Sequence[Freedom]  # one for all frames, or one for each
_INSIDE = 1e-9  # [rad] a sum of angles that is rounding of double precision


class _Part(Protocol):
    """Limits of one kind: `rows` are the indices of those of each of the `rotations` (4 x n), or all of them."""

    def excess(self, rotations: Array, rows: Any) -> Array:
        """Angles outside the limits (n) [rad]."""

    def ends(self, rotations: Array, rows: Any) -> Array:
        """The ends of ranges that are met, as bits of a number (n)."""


class LimitArrays:
    """The limits of a joint over all frames: one freedom for all of them, or one for each."""

    def __init__(self, freedoms: Freedoms) -> None:
        self._each = each = each_freedom(freedoms)
        groups: dict[tuple[type, type, str], list[int]] = {}
        for frame, freedom in enumerate(each):
            own = unframed(freedom)
            groups.setdefault((type(freedom), type(own), getattr(own, "order", "")), []).append(frame)
        self._parts: list[_Part] = []
        self._part_of, self._row_of = np.empty(len(each), np.intp), np.empty(len(each), np.intp)
        for number, ((kind, _, _), frames) in enumerate(groups.items()):
            self._parts.append(_KINDS.get(kind, _Any)([each[frame] for frame in frames]))
            self._part_of[frames], self._row_of[frames] = number, np.arange(len(frames))
        self.free = all(kind in (Free, Locked) for kind, _, _ in groups)
        self._exact = all(own is not EulerLimits for _, own, _ in groups)

    def freedom(self, frame: int) -> Freedom:
        """Return the freedom at a frame, given as an index."""
        return self._each[frame if len(self._each) > 1 else 0]

    def excess(self, rotations: Array, frames: Array | None = None) -> Array:
        """Return how far unit quaternions (4, n) are outside their limits (n) [rad]; for Euler limits an upper bound.

        `frames` (n) are the indices of their frames; by default there is one for each frame.
        """
        if len(self._each) == 1:
            return self._parts[0].excess(rotations, slice(None))
        frames = np.arange(rotations.shape[1]) if frames is None else frames
        found: Array = np.empty(rotations.shape[1])
        for number, part in enumerate(self._parts):
            here = (self._part_of[frames] == number).nonzero()[0]
            found[here] = part.excess(rotations[:, here], self._row_of[frames[here]])
        return found

    def ends(self, rotations: Array) -> Array:
        """Return the ends of ranges that allowed rotations (4, F) of all frames are at, as bits of a number (F)."""
        if len(self._each) == 1:
            return self._parts[0].ends(rotations, slice(None))
        found: Array = np.zeros(rotations.shape[1], np.int64)
        for number, part in enumerate(self._parts):
            here = (self._part_of == number).nonzero()[0]
            found[here] = part.ends(rotations[:, here], self._row_of[here])
        return found

    def exact_excess(self, rotations: Array, frames: Array, least: Array | float) -> Array:
        """Return what excess() does, but without an overestimate wherever that is more than `least` (n) [rad]."""
        found = self.excess(rotations, frames)
        for i in () if self._exact else (found > least).nonzero()[0].tolist():
            rotation = Quaternion(rotations[:, i].tolist())
            found[i] = rotation_angle(self.freedom(frames[i]).nearest(rotation), rotation)
        return found


def each_freedom(freedoms: Freedoms) -> Sequence[Freedom]:
    """Return a freedom for each frame, or a single one if all frames have the same."""
    if isinstance(freedoms, Freedom):
        return (freedoms,)
    first = freedoms[0]
    return freedoms[:1] if all(freedom is first or freedom == first for freedom in freedoms) else freedoms


class _Any:
    """A kind of limit that has no arrays: one rotation after the other."""

    def __init__(self, freedoms: Sequence[Freedom]) -> None:
        self._freedoms = freedoms

    def excess(self, rotations: Array, rows: Any) -> Array:
        pairs = self._pairs(rotations, rows)
        return np.array([rotation_angle(freedom.nearest(rotation), rotation) for freedom, rotation in pairs])

    def ends(self, rotations: Array, rows: Any) -> Array:
        met = [freedom.on_limits(freedom.nearest(rotation)) for freedom, rotation in self._pairs(rotations, rows)]
        names = {name: 1 << bit for bit, name in enumerate(sorted(set().union(*met)))}
        return np.array([sum(names[name] for name in ends) for ends in met], np.int64)

    def _pairs(self, rotations: Array, rows: Any) -> Iterator[tuple[Freedom, Quaternion]]:
        chosen = np.broadcast_to(np.arange(len(self._freedoms))[rows], rotations.shape[1]).tolist()
        return zip((self._freedoms[row] for row in chosen), map(Quaternion, rotations.T), strict=True)


class _Free(_Any):
    """No limits, or no motion at all."""

    def excess(self, rotations: Array, rows: Any) -> Array:
        return np.zeros(rotations.shape[1])

    def ends(self, rotations: Array, rows: Any) -> Array:
        return np.zeros(rotations.shape[1], np.int64)


class _Hinges:
    """Hinges."""

    def __init__(self, hinges: Sequence[Hinge]) -> None:
        self._axes = np.array([hinge.axis for hinge in hinges], np.float64).T
        self._lower, self._upper = _numbers(hinges, "lower", "upper")

    def excess(self, rotations: Array, rows: Any) -> Array:
        along, angle = self._turned(rotations, rows)
        across = rotations[1:] - along * self._axes[:, rows]
        beyond = (clamped_to_range(angle, self._lower[rows], self._upper[rows]) - angle) / 2.0
        length = np.hypot(rotations[0], along)
        sine = np.sqrt((length * np.sin(beyond)) ** 2 + (across * across).sum(0))
        return np.asarray(2.0 * np.arctan2(sine, length * np.abs(np.cos(beyond))))

    def ends(self, rotations: Array, rows: Any) -> Array:
        _, angle = self._turned(rotations, rows)
        lower, upper = self._lower[rows], self._upper[rows]
        return _bits(clamped_to_range(angle, lower, upper), lower, upper)

    def _turned(self, rotations: Array, rows: Any) -> tuple[Array, Array]:
        """Return the part of the quaternion along the axis, and the angle about it."""
        w, x, y, z = rotations
        axis = self._axes[:, rows]
        along = axis[0] * x + axis[1] * y + axis[2] * z
        return along, to_half_turns(2.0 * np.arctan2(along, w))


class _Cones:
    """Cones; the formulas are those of Cone.nearest()."""

    def __init__(self, cones: Sequence[Cone]) -> None:
        self._swing, self._lower, self._upper = _numbers(cones, "swing", "twist_lower", "twist_upper")

    def excess(self, rotations: Array, rows: Any) -> Array:
        w, x, y, z = rotations
        twist = 2.0 * np.arctan2(y, w)
        beyond = (clamped_to_range(twist, self._lower[rows], self._upper[rows]) - twist) / 2.0
        straight = np.hypot(w, y)
        likeness, bent = straight * np.abs(np.cos(beyond)), np.hypot(x, z)
        half = np.arctan2(bent, likeness)
        over, length = half - np.minimum(half, self._swing[rows] / 2.0), np.hypot(likeness, bent)
        sine = np.hypot(length * np.sin(over), straight * np.sin(beyond))
        return np.asarray(2.0 * np.arctan2(sine, length * np.cos(over)))

    def ends(self, rotations: Array, rows: Any) -> Array:
        w, x, y, z = rotations
        swing, lower, upper = self._swing[rows], self._lower[rows], self._upper[rows]
        swung = 2.0 * np.arctan2(np.hypot(x, z), np.hypot(w, y))
        twist = clamped_to_range(2.0 * np.arctan2(y, w), lower, upper)
        return np.asarray(_bits(swung, -np.inf, swing) + 4 * _bits(twist, lower, upper))


class _Eulers:
    """Euler limits of one order."""

    def __init__(self, limits: Sequence[EulerLimits]) -> None:
        self._order = limits[0].order
        self._lower, self._upper = (ends.T for ends in _numbers(limits, "lower", "upper"))

    def excess(self, rotations: Array, rows: Any) -> Array:
        _, found = self._fitted(rotations, rows)
        return found

    def ends(self, rotations: Array, rows: Any) -> Array:
        lower, upper = self._lower[:, rows], self._upper[:, rows]
        moving = np.where(lower < upper, np.array([[1], [4], [16]]), 0)
        return np.asarray((moving * _bits(self._fitted(rotations, rows)[0], lower, upper)).sum(0))

    def _fitted(self, rotations: Array, rows: Any) -> tuple[Array, Array]:
        """Return angles (3 x n) inside the limits, and the sum of their distances from those of the rotation."""
        low, high = self._lower[:, rows], self._upper[:, rows]
        angles = euler_angles(rotations, self._order)
        fitted = np.minimum(np.maximum(angles, low), high)
        found: Array = np.abs(fitted - angles).sum(0)
        out = (found > _INSIDE).nonzero()[0]
        if len(out):
            mine = angles[:, out]
            low, high = (np.broadcast_to(end, angles.shape)[:, out] for end in (low, high))
            for triple in (mine, other_angles(mine, self._order)):
                moved = clamped_to_range(triple, low, high)
                beyond = np.abs(to_half_turns(moved - triple)).sum(0)
                better = beyond < found[out]
                found[out[better]], fitted[:, out[better]] = beyond[better], moved[:, better]
        return fitted, found


class _Framed:
    """Limits in axes of their own, all of one kind."""

    def __init__(self, freedoms: Sequence[Framed]) -> None:
        turns = normalized(np.array([freedom.frame[:] for freedom in freedoms], np.float64).T)
        self._turns, self._back = turns, conjugated(turns)
        inner = [freedom.inner for freedom in freedoms]
        self._inner = _KINDS.get(type(inner[0]), _Any)(inner)

    def excess(self, rotations: Array, rows: Any) -> Array:
        return self._inner.excess(self._into(rotations, rows), rows)

    def ends(self, rotations: Array, rows: Any) -> Array:
        return self._inner.ends(self._into(rotations, rows), rows)

    def _into(self, rotations: Array, rows: Any) -> Array:
        return product(product(self._back[:, rows], rotations), self._turns[:, rows])


def _numbers(freedoms: Sequence[Freedom], *names: str) -> list[Array]:
    return [np.array([getattr(freedom, name) for freedom in freedoms], np.float64) for name in names]


def _bits(angles: Array, lower: Array | float, upper: Array | float) -> Array:
    """Return 1 for each angle at the lower end of its range and 2 at the upper, or 3 for both."""
    return (angles - lower < ON_LIMIT) + 2 * (upper - angles < ON_LIMIT)


_KINDS: dict[type, Callable[[Any], _Part]] = {
    Free: _Free,
    Locked: _Free,
    Hinge: _Hinges,
    Cone: _Cones,
    EulerLimits: _Eulers,
    Framed: _Framed,
}

# SPDX-License-Identifier: GPL-3.0-or-later
"""Limits of a joint for many rotations at once. The last axis of every array runs over the rotations."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from mathutils import Quaternion

from ..kinematics import Cone, EulerLimits, Free, Freedom, Hinge, Locked
from ..kinematics.rotation import rotation_angle
from .arrays import Array
from .euler_arrays import clamped_to_range, euler_angles, other_angles, wrapped

Freedoms = Freedom | Sequence[Freedom]  # one for all frames, or one for each
_Excess = Callable[[Array, Any], Array]  # of rotations (4, n) whose limits are in these rows (n indices, or all)
_INSIDE = 1e-9  # [rad] a sum of angles that is rounding of double precision


class LimitArrays:
    """The limits of a joint over all frames: one freedom for all of them, or one for each."""

    def __init__(self, freedoms: Freedoms) -> None:
        self._each = each = each_freedom(freedoms)
        groups: dict[tuple[type, str], list[int]] = {}
        for frame, freedom in enumerate(each):
            groups.setdefault((type(freedom), getattr(freedom, "order", "")), []).append(frame)
        self._parts: list[_Excess] = []
        self._part_of, self._row_of = np.empty(len(each), np.intp), np.empty(len(each), np.intp)
        for number, ((kind, _), frames) in enumerate(groups.items()):
            self._parts.append(_KINDS.get(kind, _any)([each[frame] for frame in frames]))
            self._part_of[frames], self._row_of[frames] = number, np.arange(len(frames))
        self.free = all(kind in (Free, Locked) for kind, _ in groups)

    def freedom(self, frame: int) -> Freedom:
        """Return the freedom at a frame, given as an index."""
        return self._each[frame if len(self._each) > 1 else 0]

    def excess(self, rotations: Array, frames: Array | None = None) -> Array:
        """Return how far unit quaternions (4, n) are outside their limits (n) [rad]; for Euler limits an upper bound.

        `frames` (n) are the indices of their frames; by default there is one for each frame.
        """
        if len(self._each) == 1:
            return self._parts[0](rotations, slice(None))
        frames = np.arange(rotations.shape[1]) if frames is None else frames
        found: Array = np.empty(rotations.shape[1])
        for number, part in enumerate(self._parts):
            here = np.flatnonzero(self._part_of[frames] == number)
            found[here] = part(rotations[:, here], self._row_of[frames[here]])
        return found

    def exact_excess(self, rotations: Array, frames: Array, least: Array | float) -> Array:
        """Return what excess() does, but without an overestimate wherever that is more than `least` (n) [rad]."""
        found = self.excess(rotations, frames)
        for i in np.flatnonzero(found > least).tolist():
            rotation = Quaternion(rotations[:, i])
            found[i] = rotation_angle(self.freedom(frames[i]).nearest(rotation), rotation)
        return found


def each_freedom(freedoms: Freedoms) -> Sequence[Freedom]:
    """Return a freedom for each frame, or a single one if all frames have the same."""
    if isinstance(freedoms, Freedom):
        return (freedoms,)
    return freedoms[:1] if all(freedom is freedoms[0] for freedom in freedoms) else freedoms


def _free(_: Sequence[Freedom]) -> _Excess:
    return lambda rotations, _: np.zeros(rotations.shape[1])


def _any(freedoms: Sequence[Freedom]) -> _Excess:
    """Measure a kind of limit that has no arrays: one rotation after the other."""

    def excess(rotations: Array, rows: Any) -> Array:
        chosen = np.broadcast_to(np.arange(len(freedoms))[rows], rotations.shape[1]).tolist()
        pairs = zip((freedoms[row] for row in chosen), map(Quaternion, rotations.T), strict=True)
        return np.array([rotation_angle(freedom.nearest(rotation), rotation) for freedom, rotation in pairs])

    return excess


def _hinge(hinges: Sequence[Hinge]) -> _Excess:
    axes = np.array([hinge.axis for hinge in hinges], np.float64).T
    lower, upper = (np.array([getattr(hinge, end) for hinge in hinges]) for end in ("lower", "upper"))

    def excess(rotations: Array, rows: Any) -> Array:
        w, turned, axis = rotations[0], rotations[1:], axes[:, rows]
        along = axis[0] * turned[0] + axis[1] * turned[1] + axis[2] * turned[2]
        across = turned - along * axis
        angle = wrapped(2.0 * np.arctan2(along, w))
        beyond = (clamped_to_range(angle, lower[rows], upper[rows]) - angle) / 2.0
        length = np.hypot(w, along)
        sine = np.sqrt((length * np.sin(beyond)) ** 2 + (across * across).sum(0))
        return np.asarray(2.0 * np.arctan2(sine, length * np.abs(np.cos(beyond))))

    return excess


def _cone(cones: Sequence[Cone]) -> _Excess:
    swing, lower, upper = (
        np.array([getattr(cone, name) for cone in cones]) for name in ("swing", "twist_lower", "twist_upper")
    )

    def excess(rotations: Array, rows: Any) -> Array:
        w, x, y, z = rotations
        twist = 2.0 * np.arctan2(y, w)
        beyond = (clamped_to_range(twist, lower[rows], upper[rows]) - twist) / 2.0
        straight = np.hypot(w, y)
        likeness, bent = straight * np.abs(np.cos(beyond)), np.hypot(x, z)
        half = np.arctan2(bent, likeness)
        over, length = half - np.minimum(half, swing[rows] / 2.0), np.hypot(likeness, bent)
        sine = np.hypot(length * np.sin(over), straight * np.sin(beyond))
        return np.asarray(2.0 * np.arctan2(sine, length * np.cos(over)))

    return excess


def _euler(limits: Sequence[EulerLimits]) -> _Excess:
    order = limits[0].order
    lower, upper = (np.array([getattr(each, end) for each in limits]).T for end in ("lower", "upper"))

    def excess(rotations: Array, rows: Any) -> Array:
        low, high = lower[:, rows], upper[:, rows]
        angles = euler_angles(rotations, order)
        found: Array = np.abs(np.clip(angles, low, high) - angles).sum(0)
        out = np.flatnonzero(found > _INSIDE)
        if len(out):
            mine = angles[:, out]
            low, high = (np.broadcast_to(end, angles.shape)[:, out] for end in (low, high))
            for triple in (mine, other_angles(mine, order)):
                beyond = np.abs(wrapped(clamped_to_range(triple, low, high) - triple)).sum(0)
                found[out] = np.minimum(found[out], beyond)
        return found

    return excess


_KINDS: dict[type, Callable[[Any], _Excess]] = {
    Free: _free,
    Locked: _free,
    Hinge: _hinge,
    Cone: _cone,
    EulerLimits: _euler,
}

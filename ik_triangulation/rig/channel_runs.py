# SPDX-License-Identifier: GPL-3.0-or-later
"""Channel values of a bone over many frames, as arrays: of all equivalent ones those that run on without a jump."""

from __future__ import annotations

from collections.abc import Sequence
from math import tau

import numpy as np
from mathutils import Quaternion

from ..kinematics import EulerLimits, Freedom
from ..kinematics.arrays import Array
from ..kinematics.batch.euler_arrays import clamped_to_range, euler_angles, other_angles, to_half_turns
from ..kinematics.batch.limit_arrays import Freedoms, each_freedom
from ..kinematics.freedom import ANGLE_ROUNDING

_FEW = 16  # frames that are tried at once after a value that was not foreseen
_NO_AXIS = 1e-6  # [rad] an angle so small that single precision does not tell its axis
_UP = (0.0, 1.0, 0.0)  # axis of a rotation of none


def run_of(rotations: Array, mode: str, freedoms: Freedoms, previous: Sequence[float]) -> Array:
    """Return continuous channel values (F x channels) of unit quaternions (F x 4) in rotation `mode`.

    Of all equivalent values, those are taken that continue the row before, and first `previous`, without a jump: the
    sign of a quaternion, the sign and whole turns of an axis and angle, the Euler triple and its whole turns. Euler
    angles with limits in the order of the mode stay inside them. `freedoms` is one for all frames, or one for each.
    """
    rows = np.asarray(rotations, np.float64)
    before = np.array(previous, np.float64)
    if mode == "QUATERNION":
        return _quaternions(rows, before)
    if mode == "AXIS_ANGLE":
        return _axes_and_angles(rows, before)
    return _EulerRun(rows, mode, each_freedom(freedoms)).values(before)


def euler_limits(freedoms: Sequence[Freedom], order: str) -> tuple[list[EulerLimits | None], Array, Array]:
    """Return the limits of freedoms in an Euler `order`, with their lower and upper ends (3, n): infinite for none."""
    known: dict[int, EulerLimits | None] = {id(freedom): freedom.in_euler(order) for freedom in freedoms}
    limits = [known[id(freedom)] for freedom in freedoms]
    lower = np.array([each.lower if each else (-np.inf,) * 3 for each in limits])
    upper = np.array([each.upper if each else (np.inf,) * 3 for each in limits])
    return limits, lower.T, upper.T


def _quaternions(rows: Array, before: Array) -> Array:
    agreement = np.einsum("ij,ij->i", rows, np.vstack((before, rows[:-1])))
    if agreement.min() >= 0.0:
        return rows
    return np.asarray(rows * np.where(_parity(agreement < 0.0), -1.0, 1.0)[:, None])


def _axes_and_angles(rows: Array, before: Array) -> Array:
    """Return an angle and a unit axis for each row; a rotation of none keeps the axis of the row before."""
    rows = np.where(rows[:, :1] < 0.0, -rows, rows)
    sines = np.sqrt(np.einsum("ij,ij->i", rows[:, 1:], rows[:, 1:]))
    angles = 2.0 * np.arctan2(sines, rows[:, 0])
    has_axis = angles >= _NO_AXIS
    length = np.sqrt(before[1:] @ before[1:])
    first = before[1:] / length if length else np.array(_UP if not has_axis[0] else (0.0, 0.0, 0.0))
    known = np.vstack((first, rows[has_axis, 1:] / sines[has_axis, None]))
    agreement = np.einsum("ij,ij->i", known[1:], known[:-1])
    opposite = _parity(agreement < 0.0, agreement == 0.0, np.zeros(len(agreement), bool))
    signs = np.append(1.0, np.where(opposite, -1.0, 1.0))
    which = np.cumsum(has_axis)
    angles = np.where(has_axis, angles * signs[which], angles)
    turns = np.cumsum(np.rint(np.diff(-angles, prepend=-before[0]) / tau))
    return np.column_stack((angles + tau * turns, (known * signs[:, None])[which]))


def _parity(changes: Array, resets: Array | None = None, to: Array | None = None) -> Array:
    """Return a boolean that begins as False and changes at each of `changes`; at `resets` it becomes that of `to`."""
    parity = np.logical_xor.accumulate(changes)
    if resets is None or to is None or not resets.any():
        return np.asarray(parity)
    last = np.maximum.accumulate(np.where(resets, np.arange(len(resets)), -1))
    since = np.where(last >= 0, parity[last] ^ to[last], False)
    return np.asarray(parity ^ since)


class _EulerRun:
    """Euler angles that run on, within limits in their order if there are any.

    The choice of each row depends on the row before. Rows are foreseen for all frames at once, and then computed from
    the foreseen row before: up to the first that comes out different all are right.
    """

    def __init__(self, rotations: Array, order: str, freedoms: Sequence[Freedom]) -> None:
        limits, self._lower, self._upper = euler_limits(freedoms, order)
        columns = np.ascontiguousarray(rotations.T)
        self._one = euler_angles(columns, order)
        if any(limits):
            self._fit(columns, order, limits)
        self._other = other_angles(self._one, order)

    def values(self, before: Array) -> Array:
        """Return the angles (F x 3) after the row `before`."""
        count = self._one.shape[1]
        found: Array = np.empty((3, count))
        begin, span = 0, count
        while begin < count:
            end = min(begin + span, count)
            rows, right = self._part(slice(begin, end), before)
            found[:, begin : begin + right] = rows[:, :right]
            span = 2 * span if begin + right == end else _FEW
            begin += right
            before = found[:, begin - 1]
        return np.ascontiguousarray(found.T)

    def _part(self, part: slice, before: Array) -> tuple[Array, int]:
        """Return rows of angles and how many of them, from the first on, are right."""
        one = self._one[:, part]
        foreseen = self._foreseen(part, one, before)
        rows, to_other = self._next(part, foreseen, before)
        if to_other.any():
            other = self._within(part, self._other[:, part])
            _, stays = self._next(part, self._foreseen(part, other, before), before)
            resets = to_other == stays
            resets[0] = True
            chosen = _parity(to_other & ~resets, resets, to_other)
            foreseen = self._foreseen(part, np.where(chosen, other, one), before)
            rows, _ = self._next(part, foreseen, before)
        wrong = np.flatnonzero((rows != foreseen).any(0))
        return rows, int(wrong[0]) + 1 if len(wrong) else rows.shape[1]

    def _foreseen(self, part: slice, angles: Array, before: Array) -> Array:
        """Return the angles with the whole turns that continue the row before where the limits are no narrower."""
        wide = self._at(self._upper, part) - self._at(self._lower, part) > tau
        if not wide.any():
            return angles
        turns = np.cumsum(np.rint(np.diff(-angles, prepend=-before[:, None]) / tau), axis=1)
        return np.where(wide, angles + tau * turns, angles)

    def _next(self, part: slice, rows: Array, before: Array) -> tuple[Array, Array]:
        """Return the row that follows each row, and whether it is of the second triples."""
        lower, upper = self._at(self._lower, part), self._at(self._upper, part)
        last = np.column_stack((before, rows[:, :-1]))
        one, _ = _whole_turns(self._one[:, part], last, lower, upper)
        other, inside = _whole_turns(self._other[:, part], last, lower, upper)
        chosen = inside.all(0)
        if chosen.any():
            chosen &= _distance(other, last) < _distance(one, last)
        return np.where(chosen, other, one) if chosen.any() else one, chosen

    def _within(self, part: slice, angles: Array) -> Array:
        """Return angles moved into their limits by whole turns where they are below or above."""
        lower, upper = self._at(self._lower, part), self._at(self._upper, part)
        with np.errstate(invalid="ignore"):
            turns = np.where(angles < lower, np.ceil((lower - angles) / tau), 0.0)
            turns = np.where(angles > upper, np.floor((upper - angles) / tau), turns)
        return np.asarray(angles + tau * turns)

    def _fit(self, columns: Array, order: str, limits: Sequence[EulerLimits | None]) -> None:
        """Replace angles outside the limits by those of the allowed rotation nearest to theirs."""
        fitted = np.clip(self._one, self._lower, self._upper)
        out = np.flatnonzero(np.abs(fitted - self._one).sum(0) >= ANGLE_ROUNDING / 4.0)
        if len(out):
            lower, upper = (np.broadcast_to(end, fitted.shape)[:, out] for end in (self._lower, self._upper))
            left = np.ones(len(out), bool)
            for triple in (self._one[:, out], other_angles(self._one[:, out], order)):
                moved = clamped_to_range(triple, lower, upper)
                good = left & (np.abs(to_half_turns(moved - triple)) < ANGLE_ROUNDING / 4.0).all(0)
                fitted[:, out[good]] = moved[:, good]
                left &= ~good
            for i in out[left].tolist():
                limit = limits[i if len(limits) > 1 else 0]
                if limit:
                    fitted[:, i] = limit.angles(Quaternion(columns[:, i]))
        self._one = fitted

    @staticmethod
    def _at(ends: Array, part: slice) -> Array:
        return ends if ends.shape[1] == 1 else ends[:, part]


def _whole_turns(angles: Array, last: Array, lower: Array, upper: Array) -> tuple[Array, Array]:
    """Return angles with the whole turns that bring them nearest to `last`, unless that is outside; and what is in."""
    shifted = angles + tau * np.rint((last - angles) / tau)
    inside = (lower <= shifted) & (shifted <= upper)
    if inside.all():
        return shifted, inside
    return np.where(inside, shifted, angles), inside | ((lower <= angles) & (angles <= upper))


def _distance(angles: Array, last: Array) -> Array:
    x, y, z = angles - last
    return np.asarray(x * x + y * y + z * z)

# SPDX-License-Identifier: GPL-3.0-or-later
"""Rotation of a bone in its rotation mode: reading, writing, channels over many frames, and the check of limits."""

from __future__ import annotations

from collections.abc import Sequence
from math import atan2, dist, hypot, inf, tau
from typing import Any

import numpy as np
from bpy.types import Object, PoseBone
from mathutils import Quaternion, Vector

from ..errors import RigError
from ..kinematics import EulerLimits, Freedom
from ..kinematics.arrays import Array
from ..kinematics.batch.algebra import clamped_to_range, euler_angles, other_angles, to_half_turns
from ..kinematics.batch.limit_arrays import Freedoms, LimitArrays, each_freedom
from ..kinematics.freedom import ANGLE_ROUNDING
from ..kinematics.rotation import from_euler, other_euler, rotation_angle, to_euler
from ..motion.frames import quaternions_of

# The property and the number of its channels; every Euler order has the default.
_CHANNELS = {"QUATERNION": ("rotation_quaternion", 4), "AXIS_ANGLE": ("rotation_axis_angle", 4)}
_EULER = ("rotation_euler", 3)
_NO_LOWER, _NO_UPPER = (-inf,) * 3, (inf,) * 3
PROPERTIES = ("rotation_quaternion", "rotation_axis_angle", "rotation_euler")

NO_AXIS = 1e-8  # length of an axis that says no direction
TWIST_FIRST = "YXZ"  # Euler order of limits on bones that have none: about the bone first, as in Blender's IK

_FEW = 16  # frames that are tried at once after a value that was not foreseen
_NO_AXIS = 1e-6  # [rad] an angle so small that single precision does not tell its axis
_UP = (0.0, 1.0, 0.0)  # axis of a rotation of none

LEAST = 2e-6  # [rad] rounding of a limit in single precision, for angles of few turns
_SURE = 0.5 * LEAST  # [rad] what the gate, which measures in single precision, certainly lets through


def channel(bone: PoseBone) -> tuple[str, int]:
    """Return the name of the rotation property of the bone's mode, and its number of channels."""
    return _CHANNELS.get(bone.rotation_mode, _EULER)


def limit_order(bone: PoseBone) -> str:
    """Return the Euler order of the bone's limits and locked axes: its own, if it is in an Euler mode."""
    return TWIST_FIRST if bone.rotation_mode in _CHANNELS else bone.rotation_mode


def rotation_of(bone: PoseBone) -> Quaternion:
    """Return the rotation of the bone's matrix_basis, a unit quaternion; degenerate values are read as in Blender."""
    return rotation_from(getattr(bone, channel(bone)[0]), bone.rotation_mode)


def rotation_from(values: Sequence[float], mode: str) -> Quaternion:
    """Return the rotation of channel values in rotation `mode`, a unit quaternion."""
    if mode == "QUATERNION":
        rotation = Quaternion(values)
        rotation.normalize()
        return rotation
    if mode == "AXIS_ANGLE":
        angle, *axis = values
        axis = Vector(axis)
        return Quaternion(axis.normalized(), angle) if axis.length > NO_AXIS else Quaternion()
    return from_euler(values, mode)


def values_for(rotation: Quaternion, mode: str, freedom: Freedom, previous: Sequence[float]) -> Sequence[float]:
    """Return the channel values of a rotation; of all equivalent ones, those nearest to `previous`.

    Euler angles with limits in the order of the mode stay inside them.
    """
    if mode == "QUATERNION":
        return rotation if rotation.dot(Quaternion(previous)) >= 0.0 else -rotation
    if mode == "AXIS_ANGLE":
        return _axis_angle(rotation, previous)
    return _euler(rotation, mode, freedom, previous)


def turn_between(values: Sequence[float], others: Sequence[float], mode: str, steps: int) -> float:
    """Return the angle through which a bone turns as its channels go from some values to others in equal steps [rad].

    It is more than the angle between the two rotations where the channels lead the long way round.
    """
    shares = np.linspace(np.array(values), np.array(others), steps + 1).tolist()
    way = [rotation_from(each, mode) for each in shares]
    return sum(map(rotation_angle, way, way[1:]))


def set_rotation(bone: PoseBone, values: Sequence[float]) -> None:
    """Write channel values of the bone's own mode."""
    setattr(bone, channel(bone)[0], values)


def _euler(rotation: Quaternion, order: str, freedom: Freedom, previous: Sequence[float]) -> tuple[float, ...]:
    limits = freedom.in_euler(order)
    triple = limits.angles(rotation) if limits else to_euler(rotation, order)
    lower, upper = (limits.lower, limits.upper) if limits else (_NO_LOWER, _NO_UPPER)
    first, other = (
        tuple(map(_whole_turns, angles, previous, lower, upper)) for angles in (triple, other_euler(triple, order))
    )
    if not all(low <= angle <= high for low, angle, high in zip(lower, other, upper, strict=True)):
        return first
    return min(first, other, key=lambda angles: dist(angles, previous))


def _axis_angle(rotation: Quaternion, previous: Sequence[float]) -> tuple[float, ...]:
    w, x, y, z = rotation if rotation.w >= 0.0 else -rotation
    sine = hypot(x, y, z)
    angle = 2.0 * atan2(sine, w)  # mathutils takes the arc cosine, which is off by up to 1e-3 rad near rest
    before = Vector(previous[1:])
    if angle >= 1e-6:
        axis = Vector((x / sine, y / sine, z / sine))
    else:  # no axis: keep the previous one if it exists
        axis = before.normalized() if before.length else Vector((0.0, 1.0, 0.0))
    if axis.dot(before) < 0.0:
        axis, angle = -axis, -angle
    return angle + tau * round((previous[0] - angle) / tau), *axis


def _whole_turns(angle: float, before: float, lower: float, upper: float) -> float:
    """Return `angle` plus the whole turns that bring it nearest to `before`, unless that is outside the limits."""
    shifted = angle + tau * round((before - angle) / tau)
    return shifted if lower <= shifted <= upper else angle


def delta_rotation(ob: Object) -> Quaternion:
    """Return the delta rotation of an object, from the property of its rotation mode; axis and angle have none."""
    if ob.rotation_mode == "AXIS_ANGLE":
        return Quaternion()
    if ob.rotation_mode == "QUATERNION":
        return ob.delta_rotation_quaternion.normalized()
    return ob.delta_rotation_euler.to_quaternion()


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
    """Return an angle and a unit axis for each row; a rotation of none keeps the axis of the row before.

    The first rows of none have the axis of what follows: another one would turn with the bone as it begins to move.
    """
    rows = np.where(rows[:, :1] < 0.0, -rows, rows)
    sines = np.sqrt(np.einsum("ij,ij->i", rows[:, 1:], rows[:, 1:]))
    angles = 2.0 * np.arctan2(sines, rows[:, 0])
    has_axis = angles >= _NO_AXIS
    length = np.sqrt(before[1:] @ before[1:])
    first = before[1:] / length if length else np.array(_UP if not has_axis[0] else (0.0, 0.0, 0.0))
    if abs(before[0]) < _NO_AXIS and not has_axis[0] and has_axis.any():
        begins = int(has_axis.argmax())
        first = rows[begins, 1:] / sines[begins]
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
        one, _ = _whole_turns_along(self._one[:, part], last, lower, upper)
        other, inside = _whole_turns_along(self._other[:, part], last, lower, upper)
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


def _whole_turns_along(angles: Array, last: Array, lower: Array, upper: Array) -> tuple[Array, Array]:
    """Return angles with the whole turns that bring them nearest to `last`, unless that is outside; and what is in."""
    shifted = angles + tau * np.rint((last - angles) / tau)
    inside = (lower <= shifted) & (shifted <= upper)
    if inside.all():
        return shifted, inside
    return np.where(inside, shifted, angles), inside | ((lower <= angles) & (angles <= upper))


def _distance(angles: Array, last: Array) -> Array:
    x, y, z = angles - last
    return np.asarray(x * x + y * y + z * z)


def within_limits(bone: str, values: Array, mode: str, freedoms: Freedoms) -> Array:
    """Return a bone's channel values (a row for each frame) in single precision, clamped to its limits.

    A rotation is at most 2e-6 rad outside, or as much as the rounding of angles of many turns; Euler angles with limits
    in the order of the `mode` are inside. `freedoms` is one for all frames, or one for each. Raises RigError if single
    precision has no such value.
    """
    stored = values.astype(np.float32)
    limits = LimitArrays(freedoms)
    if limits.free:
        return stored
    unsure = np.arange(len(stored))
    if stored.shape[1] == 3:
        unsure = np.flatnonzero(~_clamped(stored, mode, each_freedom(freedoms)))
    if len(unsure):
        some = stored if len(unsure) == len(stored) else stored[unsure]
        excess = limits.excess(quaternions_of(np.array(some.T, np.float64), mode), unsure)
        for row in unsure[excess > _SURE].tolist():
            _gate(bone, stored[row], mode, limits.freedom(row))
    return stored


def _clamped(stored: Array, mode: str, freedoms: Sequence[Freedom]) -> Array:
    """Clamp stored Euler angles to limits in their order; tell for each row whether that is enough."""
    limits, lower, upper = euler_limits(freedoms, mode)
    if not any(limits):
        return np.zeros(len(stored), bool)
    ends = _inward(lower.T, np.inf), _inward(upper.T, -np.inf)
    inside = np.clip(stored, *ends)
    far = np.abs(inside - stored).max(1) > _rounding(stored)
    near = ~far
    stored[near] = inside[near]
    for row in np.flatnonzero(far).tolist():
        limit = limits[row if len(limits) > 1 else 0]
        if limit:
            _turn_inside(stored[row], mode, limit)
    whole = np.array([limit is freedom for limit, freedom in zip(limits, freedoms, strict=True)])
    return np.asarray(near & whole)


def _gate(bone: str, row: Array, mode: str, freedom: Freedom) -> None:
    """Turn a row to the nearest allowed rotation if it is outside. Raises RigError if that does not help."""
    allowed = _allowed(row, mode, freedom)
    if allowed is not None:
        row[:] = values_for(allowed, mode, freedom, row.tolist())
        if _allowed(row, mode, freedom) is not None:
            raise RigError(f"'{bone}' cannot be kept inside its limits in single precision. Widen them a little.")


def _turn_inside(row: Array, mode: str, limits: EulerLimits) -> None:
    """Replace stored Euler angles by those of the nearest rotation inside the limits."""
    ends = _inward(np.array(limits.lower), np.inf), _inward(np.array(limits.upper), -np.inf)
    nearest = limits.nearest(rotation_from(row.tolist(), mode))
    row[:] = np.clip(np.float32(values_for(nearest, mode, limits, row.tolist())), *ends)


def _allowed(row: Array, mode: str, freedom: Freedom) -> Quaternion | None:
    """Return the nearest allowed rotation if the stored one is not allowed, otherwise None."""
    rotation = rotation_from(row.tolist(), mode)
    nearest = freedom.nearest(rotation)
    return nearest if rotation_angle(nearest, rotation) > _rounding(row) else None


def _rounding(rows: Array) -> Any:
    """Return the rounding of a limit in single precision [rad], which grows with the angle: one for each row."""
    return np.maximum(LEAST, 2.0 * np.spacing(np.abs(rows).max(-1)))


def _inward(exact: Array, inside: float) -> Array:
    """Return limits in single precision, rounded towards `inside` where they are not exact."""
    stored = exact.astype(np.float32)
    outside = stored < exact if inside > 0.0 else stored > exact
    return np.where(outside, np.nextafter(stored, np.float32(inside)), stored)

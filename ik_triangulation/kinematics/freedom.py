# SPDX-License-Identifier: GPL-3.0-or-later
"""What a joint may do: one small class a kind, all with the same interface.

Rotations are those of a pose bone's matrix_basis: the identity is the rest pose, and hinge axes and limits are given in
the joint's rest frame. A new kind is one class here.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import atan2, cos, inf, isfinite, isnan, pi, tau
from random import Random
from typing import NamedTuple

from mathutils import Quaternion, Vector

from ..errors import FreedomError
from .rotation import (
    EULER_ORDERS,
    about,
    euler_axes,
    from_euler,
    nearest_euler,
    other_euler,
    rotation_angle,
    rotation_between,
    to_euler,
    twist,
    wrap,
)

_AXES = tuple(Vector([float(i == j) for j in range(3)]).freeze() for i in range(3))
_ALONG = 1e-6  # sine of an angle to a hinge below which a direction lies along it
_BESIDE_POLE = 0.3  # cosine of the middle Euler angle below which rounding of the outer two exceeds _ROUNDING
_ROUNDING = 1e-6  # [rad] a rotation kept in single precision may stand this far outside its limits without being moved


class Coordinate(NamedTuple):
    """One way in which a joint can turn: by an angle from `lower` to `upper` [rad], now at `value`.

    `axis` is the unit axis in the joint's rest frame about which a small change of the angle turns it.
    """

    axis: Vector
    value: float
    lower: float
    upper: float


class Freedom:
    """The interface of every kind of joint, and what a ball joint without limits does."""

    @property
    def moves(self) -> bool:
        """Whether the joint can turn at all."""
        return True

    @property
    def bend_axis(self) -> Vector:
        """Axis in the rest frame about which the joint bends by preference: a hinge's own, else a bone's X axis."""
        return _AXES[0]

    def nearest(self, rotation: Quaternion) -> Quaternion:
        """The allowed rotation nearest to `rotation`; one that is allowed comes back as it is, bit by bit."""
        return rotation

    def in_euler(self, order: str) -> "EulerLimits | None":
        """The same limits said of Euler angles in Blender's `order`; None where they cannot be, or there are none."""
        return None

    def coordinates(self, rotation: Quaternion) -> list[Coordinate]:
        """The angles that say where the joint is at an allowed `rotation`, with their axes and bounds there.

        Those of a joint without limits are the components of a turn on from `rotation`, and so 0.
        """
        return [Coordinate(axis, 0.0, -inf, inf) for axis in _AXES]

    def at(self, rotation: Quaternion, values: Sequence[float]) -> Quaternion:
        """The rotation that coordinates(`rotation`) have with other `values` [rad], each held to its bounds."""
        turn = Vector(values)
        turned = about(turn.normalized(), turn.length) @ rotation
        turned.normalize()
        return turned

    def random(self, random: Random) -> Quaternion:
        """Some allowed rotation, drawn with `random`."""
        return self.nearest(Quaternion([random.gauss(0.0, 1.0) for _ in range(4)]).normalized())

    def swing(self, rotation: Quaternion, start: Vector, end: Vector) -> Quaternion:
        """Turn on from `rotation` until the direction `start` stands as near to `end` as allowed; a unit quaternion.

        `start` and `end` are directions in the joint's rest frame, of any length.
        """
        turned = rotation_between(start, end) @ rotation
        turned.normalize()
        return self.nearest(turned)


@dataclass(frozen=True)
class Free(Freedom):
    """A ball joint without limits."""

    def swing(self, rotation: Quaternion, start: Vector, end: Vector) -> Quaternion:
        turned: Quaternion = rotation_between(start, end) @ rotation
        turned.normalize()
        return turned


@dataclass(frozen=True)
class Locked(Freedom):
    """A joint that keeps the rotation it has, whatever that is."""

    @property
    def moves(self) -> bool:
        return False

    def coordinates(self, rotation: Quaternion) -> list[Coordinate]:
        return []

    def at(self, rotation: Quaternion, values: Sequence[float]) -> Quaternion:
        return rotation

    def swing(self, rotation: Quaternion, start: Vector, end: Vector) -> Quaternion:
        return rotation


@dataclass(frozen=True)
class Hinge(Freedom):
    """A joint that turns about one axis, from `lower` to `upper` [rad] measured from rest.

    `axis` is a direction in the rest frame, made unit length. The range may leave out 0, cross +-pi and exceed a full
    turn (which is no limit). Raises FreedomError for an axis without length, an inverted range or a number that is
    none.
    """

    axis: Vector
    lower: float = -inf
    upper: float = inf

    def __post_init__(self) -> None:
        axis = Vector(self.axis)
        length = axis.length
        if not isfinite(length) or length < 1e-12:
            raise FreedomError(f"Hinge axis {tuple(axis)} has no direction. Give it a length other than zero.")
        object.__setattr__(self, "axis", (axis / length).freeze())
        _check_range("Hinge", self.lower, self.upper)

    @property
    def moves(self) -> bool:
        return self.upper > self.lower

    @property
    def bend_axis(self) -> Vector:
        return self.axis

    def in_euler(self, order: str) -> "EulerLimits | None":
        along = next((i for i in range(3) if abs(self.axis[i]) > 1.0 - _ALONG), None)
        if along is None:
            return None
        ends = (self.lower, self.upper) if self.axis[along] > 0.0 else (-self.upper, -self.lower)
        low, high = (tuple(end if i == along else 0.0 for i in range(3)) for end in ends)
        return EulerLimits(order, low, high)

    def coordinates(self, rotation: Quaternion) -> list[Coordinate]:
        return [Coordinate(self.axis, fit(twist(rotation, self.axis), self.lower, self.upper), self.lower, self.upper)]

    def at(self, rotation: Quaternion, values: Sequence[float]) -> Quaternion:
        return about(self.axis, min(max(values[0], self.lower), self.upper))

    def random(self, random: Random) -> Quaternion:
        return about(self.axis, random.uniform(*_finite(self.lower, self.upper)))

    def nearest(self, rotation: Quaternion) -> Quaternion:
        angle = twist(rotation, self.axis)
        fitted = fit(angle, self.lower, self.upper)
        if abs(wrap(fitted - angle)) < _ROUNDING and rotation_angle(about(self.axis, angle), rotation) < _ROUNDING:
            return rotation
        return about(self.axis, fitted)

    def swing(self, rotation: Quaternion, start: Vector, end: Vector) -> Quaternion:
        # The best turn about a hinge is that of both directions' parts orthogonal to it.
        axis = self.axis
        across, onto = start - axis * start.dot(axis), end - axis * end.dot(axis)
        if across.length <= _ALONG * start.length or onto.length <= _ALONG * end.length:
            return rotation  # one of them lies along the hinge: no turn changes anything
        angle = atan2(across.cross(onto).dot(axis), across.dot(onto))
        return about(axis, fit(twist(rotation, axis) + angle, self.lower, self.upper))


@dataclass(frozen=True)
class EulerLimits(Freedom):
    """A joint whose Euler angles in Blender's `order` stay from `lower` to `upper` [rad], each a triple (x, y, z).

    An axis with equal limits is frozen there. Of the two Euler triples of a rotation the one is taken that the limits
    change less, so the middle axis of the order may go beyond +-90 degrees. Raises FreedomError for an unknown order,
    an inverted range or a number that is none.
    """

    order: str
    lower: tuple[float, float, float]
    upper: tuple[float, float, float]

    def __post_init__(self) -> None:
        if self.order not in EULER_ORDERS:
            raise FreedomError(f"Euler order '{self.order}' is unknown. Choose one of {', '.join(EULER_ORDERS)}.")
        object.__setattr__(self, "lower", tuple(float(angle) for angle in self.lower))
        object.__setattr__(self, "upper", tuple(float(angle) for angle in self.upper))
        for letter, lower, upper in zip("XYZ", self.lower, self.upper, strict=True):
            _check_range(f"Euler limit {letter}", lower, upper)

    @property
    def moves(self) -> bool:
        return any(upper > lower for lower, upper in zip(self.lower, self.upper, strict=True))

    def in_euler(self, order: str) -> "EulerLimits | None":
        return self if order == self.order else None

    def coordinates(self, rotation: Quaternion) -> list[Coordinate]:
        angles = self.angles(rotation)
        axes = euler_axes(angles, self.order)
        return [Coordinate(*parts) for parts in zip(axes, angles, self.lower, self.upper, strict=True)]

    def at(self, rotation: Quaternion, values: Sequence[float]) -> Quaternion:
        return from_euler(tuple(map(min, map(max, values, self.lower), self.upper)), self.order)

    def random(self, random: Random) -> Quaternion:
        ranges = map(_finite, self.lower, self.upper)
        return from_euler([random.uniform(*ends) for ends in ranges], self.order)

    def nearest(self, rotation: Quaternion) -> Quaternion:
        angles = self.angles(rotation)
        result = from_euler(angles, self.order)
        return rotation if rotation_angle(result, rotation) < _ROUNDING else result

    def angles(self, rotation: Quaternion) -> tuple[float, ...]:
        """Euler angles [rad] (x, y, z) inside the limits for the allowed rotation nearest to `rotation`."""
        candidates = []
        triple = to_euler(rotation, self.order)
        for angles in (triple, other_euler(triple, self.order)):
            fitted = tuple(map(fit, angles, self.lower, self.upper))
            # Almost every rotation is allowed as it is: then the first triple does.
            if all(abs(wrap(b - a)) < _ROUNDING / 4.0 for a, b in zip(angles, fitted, strict=True)):
                return fitted
            candidates.append(self._settled(angles, fitted, rotation))
        return min(candidates, key=lambda fitted: rotation_angle(from_euler(fitted, self.order), rotation))

    def _settled(self, angles: tuple[float, ...], fitted: tuple[float, ...], rotation: Quaternion) -> tuple[float, ...]:
        """Beside the poles of the middle axis, `fitted` with the outer two angles turned on until it is nearest.

        Only their sum is known there; how it is shared out is rounding, so they cannot be fitted one by one.
        """
        if abs(cos(angles["XYZ".index(self.order[1])])) > _BESIDE_POLE:
            return fitted
        settled = list(fitted)
        for n in ("XYZ".index(letter) for letter in self.order):
            settled[n] = fit(nearest_euler(settled, n, rotation, self.order), self.lower[n], self.upper[n])
        return tuple(settled)


def fit(angle: float, lower: float, upper: float) -> float:
    """`angle` [rad] and whole turns, so that it lies in the range; else the end of the range nearest on the circle."""
    if lower <= angle <= upper:
        return angle
    if lower == -inf or upper == inf:
        # One-sided: whole turns always lead inside.
        return lower + (angle - lower) % tau if upper == inf else upper - (upper - angle) % tau
    above = lower + (angle - lower) % tau
    if above <= upper:
        return above
    return upper if above - upper <= lower - (above - tau) else lower


def _finite(lower: float, upper: float) -> tuple[float, float]:
    """A range of at most a full turn with the same directions in it."""
    if lower == -inf:
        return (-pi, pi) if upper == inf else (upper - tau, upper)
    return lower, min(upper, lower + tau)


def _check_range(name: str, lower: float, upper: float) -> None:
    if isnan(lower) or isnan(upper):
        raise FreedomError(f"{name} is not a number. Give it angles.")
    if lower > upper:
        raise FreedomError(f"{name} is inverted ({lower:.4g} to {upper:.4g} rad). Swap lower and upper.")

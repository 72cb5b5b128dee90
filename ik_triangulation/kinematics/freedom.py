# SPDX-License-Identifier: GPL-3.0-or-later
"""Degrees of freedom and limits of a joint, a class for each kind with one interface: free, locked, hinge, Euler.

Rotations are those of a pose bone's matrix_basis: the identity is the rest pose, and hinge axes and limits are given in
the joint's rest frame.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from math import atan2, cos, inf, isfinite, isnan, pi, sin, sqrt, tau
from random import Random
from typing import NamedTuple

from mathutils import Quaternion, Vector

from ..errors import FreedomError
from ..items import EULER_ORDERS
from .euler_box import CERTAIN, OFF_POLES, EulerBox
from .rotation import (
    AXES,
    Triple,
    about,
    clamp_to_range,
    euler_axes,
    from_euler,
    other_euler,
    rotation_angle,
    rotation_between,
    to_euler,
    twist,
    wrap,
)

_AXES = tuple(Vector([float(i == j) for j in range(3)]).freeze() for i in range(3))
ON_LIMIT = 1e-4  # [rad] distance from an end of a range up to which an angle is at that limit
ANGLE_ROUNDING = 1e-6  # [rad] a rotation in single precision may exceed its limits by this and still be allowed

_WIDE, _ONE_WAY = 1.0, 0.3  # [rad] of a hinge's flexion at least; share of it that it extends at most


def finite(lower: float, upper: float) -> tuple[float, float]:
    """A range of at most a full turn that contains the same directions."""
    if lower == -inf:
        return (-pi, pi) if upper == inf else (upper - tau, upper)
    return lower, min(upper, lower + tau)


def check_limits(name: str, lower: float, upper: float) -> None:
    """Raise FreedomError for a range that is inverted or has NaN as an end."""
    if isnan(lower) or isnan(upper):
        raise FreedomError(f"{name} is not a number. Give it angles.")
    if lower > upper:
        raise FreedomError(f"{name} is inverted ({lower:.4g} to {upper:.4g} rad). Swap lower and upper.")


class Coordinate(NamedTuple):
    """A degree of freedom: an angle from `lower` to `upper` [rad], now at `value`.

    `axis` is the unit axis in the joint's rest frame about which a small change of the angle rotates the joint.
    """

    axis: Vector
    value: float
    lower: float
    upper: float


class Freedom:
    """The interface of every kind of joint, implemented for a ball joint without limits."""

    @property
    def moves(self) -> bool:
        """Whether the joint has any degree of freedom."""
        return True

    @property
    def bend_axis(self) -> Vector:
        """Preferred axis of bending in the rest frame: that of a hinge, else the X axis of the bone."""
        return _AXES[0]

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the degrees of freedom, in the order of coordinates()."""
        return "X", "Y", "Z"

    def on_limits(self, rotation: Quaternion) -> list[str]:
        """Names of the limits that an allowed `rotation` is at, such as "X maximum"."""
        ends = []
        for name, coordinate in zip(self.names, self.coordinates(rotation), strict=True):
            _, value, lower, upper = coordinate
            ends += [f"{name} minimum"] if value - lower < ON_LIMIT else []
            ends += [f"{name} maximum"] if upper - value < ON_LIMIT else []
        return ends

    def nearest(self, rotation: Quaternion) -> Quaternion:
        """Project `rotation` onto the allowed ones; an allowed one is returned unchanged, as the same object."""
        return rotation

    def allows(self, rotation: Quaternion) -> bool:
        """Whether `rotation` is inside the limits."""
        return self.nearest(rotation) is rotation

    def in_euler(self, order: str) -> EulerLimits | None:
        """The same limits as Euler angles in Blender's `order`; None if that is impossible or there are none."""
        return None

    def coordinates(self, rotation: Quaternion) -> list[Coordinate]:
        """The degrees of freedom at an allowed `rotation`, with their values, axes and bounds.

        Angles that cannot change are omitted. For a joint without limits they are the components of a rotation vector
        relative to `rotation`, and so have the value 0.
        """
        return [Coordinate(axis, 0.0, -inf, inf) for axis in _AXES]

    def at(self, rotation: Quaternion, values: Sequence[float]) -> Quaternion:
        """The rotation for other `values` [rad] of coordinates(`rotation`), each clamped to its bounds."""
        x, y, z = values
        half = sqrt(x * x + y * y + z * z) / 2.0
        share = sin(half) / half / 2.0 if half else 0.5
        turned = Quaternion((cos(half), x * share, y * share, z * share)) @ rotation
        turned.normalize()
        return turned

    def random(self, random: Random) -> Quaternion:
        """Draw an allowed rotation."""
        return self.nearest(Quaternion([random.gauss(0.0, 1.0) for _ in range(4)]).normalized())

    def swung(self, rotation: Quaternion, start: Vector, end: Vector) -> Quaternion:
        """Rotate on from `rotation` until the direction `start` is as near to `end` as allowed; a unit quaternion.

        `start` and `end` are directions in the joint's rest frame, of any length. Returns `rotation` itself, the same
        object, if no rotation of the joint brings them nearer.
        """
        turned = rotation_between(start, end) @ rotation
        turned.normalize()
        return self.nearest(turned)


@dataclass(frozen=True)
class Free(Freedom):
    """A ball joint without limits."""

    def swung(self, rotation: Quaternion, start: Vector, end: Vector) -> Quaternion:
        turned: Quaternion = rotation_between(start, end) @ rotation
        turned.normalize()
        return turned


@dataclass(frozen=True)
class Locked(Freedom):
    """A joint without degrees of freedom: it keeps its rotation."""

    @property
    def moves(self) -> bool:
        return False

    @property
    def names(self) -> tuple[str, ...]:
        return ()

    def coordinates(self, rotation: Quaternion) -> list[Coordinate]:
        return []

    def at(self, rotation: Quaternion, values: Sequence[float]) -> Quaternion:
        return rotation

    def swung(self, rotation: Quaternion, start: Vector, end: Vector) -> Quaternion:
        return rotation


@dataclass(frozen=True)
class EulerLimits(Freedom):
    """A joint whose Euler angles in Blender's `order` stay from `lower` to `upper` [rad], each a triple (x, y, z).

    An axis with equal limits is frozen there. A rotation is allowed if either of its two Euler triples is, so the
    middle axis of the order may go beyond +-90 degrees. Raises FreedomError for an unknown order, an inverted range or
    an angle that is NaN.
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
            check_limits(f"Euler limit {letter}", lower, upper)

    @cached_property
    def axes(self) -> tuple[int, ...]:
        """The axes (0 to 2) that are not frozen."""
        return tuple(axis for axis in range(3) if self.lower[axis] < self.upper[axis])

    @cached_property
    def hinge(self) -> Vector | None:
        """Axis about which the joint bends one way, signed as it does; None unless it is the only one.

        Its range is wide to one side of rest and hardly goes to the other.
        """
        found = [
            _AXES[axis] if upper > -lower else -_AXES[axis]
            for axis, (lower, upper) in enumerate(zip(self.lower, self.upper, strict=True))
            if max(-lower, upper) > _WIDE and min(-lower, upper) < _ONE_WAY * max(-lower, upper)
        ]
        return found[0] if len(found) == 1 else None

    @property
    def bend_axis(self) -> Vector:
        return self.hinge or _AXES[0]

    @cached_property
    def _turns_help(self) -> bool:
        """Whether whole turns may lead an angle of at most half a turn into its range."""
        ends = zip(self.lower, self.upper, strict=True)
        return not all(-pi < lower <= upper < pi or (lower <= -pi and upper >= pi) for lower, upper in ends)

    @cached_property
    def _bends_over(self) -> bool:
        """Whether the middle axis may go beyond +-90 degrees, where the second triple of a rotation is."""
        middle = AXES[self.order][1]
        return max(-self.lower[middle], self.upper[middle]) > pi / 2.0 - ANGLE_ROUNDING

    @cached_property
    def _inner(self) -> tuple[Triple, Triple]:
        """The ends of narrower ranges, away from the poles, inside of which angles in single precision are enough."""
        middle = AXES[self.order][1]
        poles = [OFF_POLES if axis == middle else inf for axis in range(3)]
        a, b, c = (max(lower + CERTAIN, -most) for lower, most in zip(self.lower, poles, strict=True))
        d, e, f = (min(upper - CERTAIN, most) for upper, most in zip(self.upper, poles, strict=True))
        return (a, b, c), (d, e, f)

    @cached_property
    def _is_plain(self) -> bool:
        """Whether a rotation has at most one triple inside the ranges, without whole turns."""
        return not (self._turns_help or self._bends_over)

    @cached_property
    def _box(self) -> EulerBox:
        return EulerBox(self.order, self.lower, self.upper)

    @cached_property
    def moves(self) -> bool:
        return bool(self.axes)

    @property
    def names(self) -> tuple[str, ...]:
        return tuple("XYZ"[axis] for axis in self.axes)

    def in_euler(self, order: str) -> EulerLimits | None:
        return self if order == self.order else None

    def coordinates(self, rotation: Quaternion) -> list[Coordinate]:
        angles = self.angles(rotation)
        turned = euler_axes(angles, self.order)
        lower, upper = self.lower, self.upper
        return [Coordinate(turned[axis], angles[axis], lower[axis], upper[axis]) for axis in self.axes]

    def at(self, rotation: Quaternion, values: Sequence[float]) -> Quaternion:
        angles = list(self.lower)
        for axis, value in zip(self.axes, values, strict=True):
            angles[axis] = min(max(value, angles[axis]), self.upper[axis])
        return from_euler(angles, self.order)

    def random(self, random: Random) -> Quaternion:
        ranges = map(finite, self.lower, self.upper)
        return from_euler([random.uniform(*ends) for ends in ranges], self.order)

    def nearest(self, rotation: Quaternion) -> Quaternion:
        if len(self.axes) == 3:  # else hardly any rotation is inside, and two angles are at bounds of every other
            quick = x, y, z = rotation.to_euler(self.order)[:]  # fast, but not exact
            (a, b, c), (d, e, f) = self._inner
            if a < x < d and b < y < e and c < z < f:
                return rotation
            found = self._box.through_one_bound(rotation, quick) if self._is_plain else None
            if found:
                return from_euler(found, self.order)
        triple = x, y, z = to_euler(rotation, self.order)
        (a, b, c), (d, e, f) = self.lower, self.upper
        if a <= x <= d and b <= y <= e and c <= z <= f:
            return rotation
        result = from_euler(self._fitted(rotation, triple), self.order)
        return rotation if rotation_angle(result, rotation) < ANGLE_ROUNDING else result

    def angles(self, rotation: Quaternion) -> Triple:
        """Euler angles [rad] (x, y, z) inside the limits for the allowed rotation nearest to `rotation`."""
        return self._fitted(rotation, to_euler(rotation, self.order))

    def _fitted(self, rotation: Quaternion, triple: Triple) -> Triple:
        """The same, of a rotation with these angles."""
        found = self._inside(triple)
        if found is None and self._bends_over:
            found = self._inside(other_euler(triple, self.order))
        return found or self._box.nearest(rotation)

    def _inside(self, triple: Triple) -> Triple | None:
        """The angles moved by whole turns and rounding into their ranges; None if that takes more."""
        (x, y, z), (a, b, c), (d, e, f) = triple, self.lower, self.upper
        if self._turns_help:
            u, v, w = clamp_to_range(x, a, d), clamp_to_range(y, b, e), clamp_to_range(z, c, f)
            off = max(abs(wrap(u - x)), abs(wrap(v - y)), abs(wrap(w - z)))
        else:
            u, v, w = min(max(x, a), d), min(max(y, b), e), min(max(z, c), f)
            off = max(abs(u - x), abs(v - y), abs(w - z))
        return (u, v, w) if off < ANGLE_ROUNDING / 4.0 else None


_ALONG = 1e-6  # sine of an angle to a hinge below which a direction lies along it


@dataclass(frozen=True)
class Hinge(Freedom):
    """A joint that rotates about one axis, from `lower` to `upper` [rad] measured from rest.

    `axis` is a direction in the rest frame, made unit length. The range may leave out 0, cross +-pi and exceed a full
    turn (which is no limit). Raises FreedomError for an axis without length, an inverted range or an angle that is
    NaN.
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
        check_limits("Hinge", self.lower, self.upper)

    @property
    def names(self) -> tuple[str, ...]:
        return ("bend",) if self.moves else ()

    @property
    def moves(self) -> bool:
        return self.upper > self.lower

    @property
    def bend_axis(self) -> Vector:
        return self.axis

    def in_euler(self, order: str) -> EulerLimits | None:
        along = next((i for i in range(3) if abs(self.axis[i]) > 1.0 - _ALONG), None)
        if along is None:
            return None
        ends = (self.lower, self.upper) if self.axis[along] > 0.0 else (-self.upper, -self.lower)
        low, high = (tuple(end if i == along else 0.0 for i in range(3)) for end in ends)
        return EulerLimits(order, low, high)

    def coordinates(self, rotation: Quaternion) -> list[Coordinate]:
        if not self.moves:
            return []
        return [
            Coordinate(
                self.axis, clamp_to_range(twist(rotation, self.axis), self.lower, self.upper), self.lower, self.upper
            )
        ]

    def at(self, rotation: Quaternion, values: Sequence[float]) -> Quaternion:
        return about(self.axis, min(max(values[0], self.lower), self.upper) if self.moves else self.lower)

    def random(self, random: Random) -> Quaternion:
        return about(self.axis, random.uniform(*finite(self.lower, self.upper)))

    def nearest(self, rotation: Quaternion) -> Quaternion:
        angle = twist(rotation, self.axis)
        clamped = clamp_to_range(angle, self.lower, self.upper)
        if (
            abs(wrap(clamped - angle)) < ANGLE_ROUNDING
            and rotation_angle(about(self.axis, angle), rotation) < ANGLE_ROUNDING
        ):
            return rotation
        return about(self.axis, clamped)

    def swung(self, rotation: Quaternion, start: Vector, end: Vector) -> Quaternion:
        # The optimal rotation about a hinge is that between the parts of both directions orthogonal to it.
        axis = self.axis
        across, onto = start - axis * start.dot(axis), end - axis * end.dot(axis)
        if across.length <= _ALONG * start.length or onto.length <= _ALONG * end.length:
            return rotation  # one of them is parallel to the hinge: no rotation changes it
        angle = atan2(across.cross(onto).dot(axis), across.dot(onto))
        return about(axis, clamp_to_range(twist(rotation, axis) + angle, self.lower, self.upper))

# SPDX-License-Identifier: GPL-3.0-or-later
"""A joint with a range for each of its three Euler angles."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from random import Random

from mathutils import Quaternion

from ..errors import FreedomError
from .euler import EULER_ORDERS, euler_axes, from_euler, other_euler, to_euler
from .euler_box import EulerBox
from .freedom import ANGLE_ROUNDING, Coordinate, Freedom
from .ranges import check_limits, clamp_to_range, finite
from .rotation import rotation_angle, wrap


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
    def _box(self) -> EulerBox:
        return EulerBox(self.order, self.lower, self.upper)

    @property
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
        angles = self.angles(rotation)
        result = from_euler(angles, self.order)
        return rotation if rotation_angle(result, rotation) < ANGLE_ROUNDING else result

    def angles(self, rotation: Quaternion) -> tuple[float, ...]:
        """Euler angles [rad] (x, y, z) inside the limits for the allowed rotation nearest to `rotation`."""
        triple = x, y, z = to_euler(rotation, self.order)
        (a, b, c), (d, e, f) = self.lower, self.upper
        # Fast path: almost every rotation is allowed and has its angles in the first half turn.
        fx, fy, fz = min(max(x, a), d), min(max(y, b), e), min(max(z, c), f)
        if abs(fx - x) + abs(fy - y) + abs(fz - z) < ANGLE_ROUNDING / 4.0:
            return fx, fy, fz
        for angles in (triple, other_euler(triple, self.order)):
            fitted = tuple(map(clamp_to_range, angles, self.lower, self.upper))
            if all(abs(wrap(b - a)) < ANGLE_ROUNDING / 4.0 for a, b in zip(angles, fitted, strict=True)):
                return fitted
        return self._box.nearest(rotation)

# SPDX-License-Identifier: GPL-3.0-or-later
"""A joint with a range about each of three axes."""

from collections.abc import Sequence
from dataclasses import dataclass
from random import Random

from mathutils import Quaternion

from ..errors import FreedomError
from .euler import EULER_ORDERS, euler_axes, from_euler, nearest_in_box, other_euler, to_euler
from .freedom import ROUNDING, Coordinate, Freedom
from .ranges import check_range, finite, fit
from .rotation import rotation_angle, wrap


@dataclass(frozen=True)
class EulerLimits(Freedom):
    """A joint whose Euler angles in Blender's `order` stay from `lower` to `upper` [rad], each a triple (x, y, z).

    An axis with equal limits is frozen there. A rotation is allowed if either of its two Euler triples is, so the
    middle axis of the order may go beyond +-90 degrees. Raises FreedomError for an unknown order, an inverted range or
    a number that is none.
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
            check_range(f"Euler limit {letter}", lower, upper)

    @property
    def names(self) -> tuple[str, ...]:
        return "X", "Y", "Z"

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
        ranges = map(finite, self.lower, self.upper)
        return from_euler([random.uniform(*ends) for ends in ranges], self.order)

    def nearest(self, rotation: Quaternion) -> Quaternion:
        angles = self.angles(rotation)
        result = from_euler(angles, self.order)
        return rotation if rotation_angle(result, rotation) < ROUNDING else result

    def angles(self, rotation: Quaternion) -> tuple[float, ...]:
        """Euler angles [rad] (x, y, z) inside the limits for the allowed rotation nearest to `rotation`."""
        triple = to_euler(rotation, self.order)
        for angles in (triple, other_euler(triple, self.order)):
            fitted = tuple(map(fit, angles, self.lower, self.upper))
            if all(abs(wrap(b - a)) < ROUNDING / 4.0 for a, b in zip(angles, fitted, strict=True)):
                return fitted
        return nearest_in_box(rotation, self.order, self.lower, self.upper)

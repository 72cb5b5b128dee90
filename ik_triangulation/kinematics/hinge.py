# SPDX-License-Identifier: GPL-3.0-or-later
"""A joint with one axis and a range of angles."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import atan2, inf, isfinite
from random import Random

from mathutils import Quaternion, Vector

from ..errors import FreedomError
from .freedom import ANGLE_ROUNDING, Coordinate, EulerLimits, Freedom, check_limits, clamp_to_range, finite
from .rotation import about, rotation_angle, twist, wrap

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

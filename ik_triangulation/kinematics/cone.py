# SPDX-License-Identifier: GPL-3.0-or-later
"""A ball joint whose bone stays inside a cone and twists within a range.

Swing-twist decomposition: a rotation is a twist about the bone, its Y axis, followed by a swing about an orthogonal
axis. As a quaternion (w, x, y, z) it is the complex pair w + iy = cos(s/2) e^(it/2), with swing angle s and twist angle
t, and x + iz of magnitude sin(s/2), whose phase gives the direction of the swing.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import atan2, cos, hypot, inf, isfinite, pi, sin, sqrt
from random import Random

from mathutils import Quaternion, Vector

from ..errors import FreedomError
from .freedom import ANGLE_ROUNDING, Coordinate, Freedom, check_limits, finite
from .rotation import about, clamp_to_range, rotation_angle

_BONE = Vector((0.0, 1.0, 0.0)).freeze()


@dataclass(frozen=True)
class Cone(Freedom):
    """A joint whose bone swings up to `swing` [rad] from rest and twists from `twist_lower` to `twist_upper` [rad].

    Raises FreedomError for a negative swing, an inverted range or a number that is not finite.
    """

    swing: float
    twist_lower: float = -inf
    twist_upper: float = inf

    def __post_init__(self) -> None:
        if not (isfinite(self.swing) and self.swing >= 0.0):
            raise FreedomError(f"Cone swing {self.swing:.4g} is no opening. Give it an angle from 0 to 180 degrees.")
        check_limits("Cone twist", self.twist_lower, self.twist_upper)

    @property
    def moves(self) -> bool:
        return self.swing > 0.0 or self._twists_freely

    @property
    def names(self) -> tuple[str, ...]:
        swing = ("swing", "direction") if self.swing > 0.0 else ()
        return (*swing, "twist") if self._twists_freely else swing

    def nearest(self, rotation: Quaternion) -> Quaternion:
        w, x, y, z = rotation
        twist = 2.0 * atan2(y, w)
        fitted = clamp_to_range(twist, *self._twists)
        # With swing s and twist t allowed, the cosine of half the angle to them is, at the best phase of x + iz,
        # |w + iy| cos((t - twist)/2) cos(s/2) + |x + iz| sin(s/2): the twist can be clamped first, the swing has one
        # maximum. Half a turn of twist changes the sign, which is arbitrary in a quaternion.
        likeness = cos((fitted - twist) / 2.0)
        sign = 1.0 if likeness >= 0.0 else -1.0
        half = min(atan2(hypot(x, z), abs(likeness) * hypot(w, y)), self.swing / 2.0)
        phase = atan2(sign * z, sign * x)
        c, s = cos(half), sin(half)
        result = Quaternion((c * cos(fitted / 2.0), s * cos(phase), c * sin(fitted / 2.0), s * sin(phase)))
        return rotation if rotation_angle(result, rotation) < ANGLE_ROUNDING else result

    def coordinates(self, rotation: Quaternion) -> list[Coordinate]:
        """The swing, an angle orthogonal to it that leads around the cone, and the twist."""
        swing, direction, twist = self.parts(rotation)
        found = []
        if self.swing > 0.0:
            around = _across(direction) * cos(swing / 2.0) - _BONE * sin(swing / 2.0)
            across = 2.0 * self.swing  # at() clamps to the edge of the cone, which is nowhere farther away than this
            found += [Coordinate(direction, swing, -self.swing, self.swing), Coordinate(around, 0.0, -across, across)]
        if self._twists_freely:
            found.append(Coordinate(about(direction, swing) @ _BONE, twist, self.twist_lower, self.twist_upper))
        return found

    def at(self, rotation: Quaternion, values: Sequence[float]) -> Quaternion:
        *swings, twist = values if self._twists_freely else (*values, self.twist_lower)
        twist = min(max(twist, self.twist_lower), self.twist_upper)
        if not swings:
            return about(_BONE, twist)
        swing, direction, _ = self.parts(rotation)
        # The swing vector for an angle around the cone; it grows with the opening of the cone.
        around = swings[1] * (swing / 2.0) / sin(swing / 2.0) if swing > ANGLE_ROUNDING else swings[1]
        axis = direction * swings[0] + _across(direction) * around
        return _rotation(axis, min(axis.length, self.swing), twist)

    def random(self, random: Random) -> Quaternion:
        direction = random.uniform(-pi, pi)
        swing = self.swing * sqrt(random.random())  # uniform density over the cone
        return _rotation(Vector((cos(direction), 0.0, sin(direction))), swing, random.uniform(*finite(*self._twists)))

    @property
    def _twists_freely(self) -> bool:
        return self.twist_upper > self.twist_lower

    @property
    def _twists(self) -> tuple[float, float]:
        return self.twist_lower, self.twist_upper

    def parts(self, rotation: Quaternion) -> tuple[float, Vector, float]:
        """Swing angle, its unit axis (square to the bone) and twist of an allowed rotation."""
        w, x, y, z = rotation
        half_twist = atan2(y, w)
        direction = atan2(z, x) - half_twist
        swing = 2.0 * atan2(hypot(x, z), hypot(w, y))
        return (
            min(swing, self.swing),
            Vector((cos(direction), 0.0, sin(direction))),
            clamp_to_range(2.0 * half_twist, *self._twists),
        )


def _across(direction: Vector) -> Vector:
    return Vector((-direction.z, 0.0, direction.x))


def _rotation(axis: Vector, swing: float, twist: float) -> Quaternion:
    rotation = about(axis.normalized(), swing) @ about(_BONE, twist)
    rotation.normalize()
    return rotation

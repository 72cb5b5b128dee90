# SPDX-License-Identifier: GPL-3.0-or-later
"""What a joint may do: one small class a kind, all with the same interface.

Rotations are those of a pose bone's matrix_basis: the identity is the rest pose, and hinge axes and limits are given in
the joint's rest frame. A new kind is one class here.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import cos, inf, sin, sqrt
from random import Random
from typing import TYPE_CHECKING, NamedTuple

from mathutils import Quaternion, Vector

from .rotation import rotation_between

if TYPE_CHECKING:
    from .euler_limits import EulerLimits

_AXES = tuple(Vector([float(i == j) for j in range(3)]).freeze() for i in range(3))
_ON_LIMIT = 1e-4  # [rad] an angle this near to an end of its range stands on it
ROUNDING = 1e-6  # [rad] a rotation kept in single precision may stand this far outside its limits without being moved


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

    @property
    def names(self) -> tuple[str, ...]:
        """What the coordinates are called, in the order of coordinates()."""
        return "X", "Y", "Z"

    def on_limits(self, rotation: Quaternion) -> list[str]:
        """The ends of ranges at which an allowed `rotation` stands, such as "X maximum"."""
        ends = []
        for name, coordinate in zip(self.names, self.coordinates(rotation), strict=True):
            _, value, lower, upper = coordinate
            ends += [f"{name} minimum"] if value - lower < _ON_LIMIT else []
            ends += [f"{name} maximum"] if upper - value < _ON_LIMIT else []
        return ends

    def nearest(self, rotation: Quaternion) -> Quaternion:
        """The allowed rotation nearest to `rotation`; one that is allowed comes back as it is, bit by bit."""
        return rotation

    def in_euler(self, order: str) -> EulerLimits | None:
        """The same limits said of Euler angles in Blender's `order`; None where they cannot be, or there are none."""
        return None

    def coordinates(self, rotation: Quaternion) -> list[Coordinate]:
        """The angles that say where the joint is at an allowed `rotation`, with their axes and bounds there.

        Those that cannot change are left out.
        Those of a joint without limits are the components of a turn on from `rotation`, and so 0.
        """
        return [Coordinate(axis, 0.0, -inf, inf) for axis in _AXES]

    def at(self, rotation: Quaternion, values: Sequence[float]) -> Quaternion:
        """The rotation that coordinates(`rotation`) have with other `values` [rad], each held to its bounds."""
        x, y, z = values
        half = sqrt(x * x + y * y + z * z) / 2.0
        share = sin(half) / half / 2.0 if half else 0.5
        turned = Quaternion((cos(half), x * share, y * share, z * share)) @ rotation
        turned.normalize()
        return turned

    def random(self, random: Random) -> Quaternion:
        """Some allowed rotation, drawn with `random`."""
        return self.nearest(Quaternion([random.gauss(0.0, 1.0) for _ in range(4)]).normalized())

    def swung(self, rotation: Quaternion, start: Vector, end: Vector) -> Quaternion:
        """Turn on from `rotation` until the direction `start` stands as near to `end` as allowed; a unit quaternion.

        `start` and `end` are directions in the joint's rest frame, of any length.
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
    """A joint that keeps the rotation it has, whatever that is."""

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

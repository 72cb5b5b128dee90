# SPDX-License-Identifier: GPL-3.0-or-later
"""Degrees of freedom and limits of a joint: one small class for each kind, all with the same interface.

Rotations are those of a pose bone's matrix_basis: the identity is the rest pose, and hinge axes and limits are given in
the joint's rest frame.
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
ON_LIMIT = 1e-4  # [rad] distance from an end of a range up to which an angle is at that limit
ANGLE_ROUNDING = 1e-6  # [rad] a rotation in single precision may exceed its limits by this and still be allowed


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

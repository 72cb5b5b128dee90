# SPDX-License-Identifier: GPL-3.0-or-later
"""Limits of a joint in axes of their own, such as those of its limb, whatever roll and direction its bone has."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from random import Random

from mathutils import Quaternion, Vector

from .cone import Cone
from .euler_limits import EulerLimits
from .freedom import Coordinate, Freedom
from .hinge import Hinge


@dataclass(frozen=True)
class Framed(Freedom):
    """Another freedom, `inner`, whose axes are turned from the joint's own by `frame`, a unit quaternion.

    A rotation r of the joint is the rotation frame⁻¹ r frame of the inner freedom. Made by framed().
    """

    inner: Freedom
    frame: Quaternion

    def __post_init__(self) -> None:
        object.__setattr__(self, "frame", Quaternion(self.frame).normalized().freeze())

    def __hash__(self) -> int:
        return hash((self.inner, tuple(self.frame)))

    @property
    def moves(self) -> bool:
        return self.inner.moves

    @property
    def bend_axis(self) -> Vector:
        return self.frame @ self.inner.bend_axis

    @property
    def names(self) -> tuple[str, ...]:
        return self.inner.names

    def into(self, rotation: Quaternion) -> Quaternion:
        """Return a rotation of the joint in the axes of the inner freedom."""
        return self.frame.conjugated() @ rotation @ self.frame

    def out_of(self, rotation: Quaternion) -> Quaternion:
        """Return a rotation in the axes of the inner freedom in those of the joint."""
        turned: Quaternion = self.frame @ rotation @ self.frame.conjugated()
        turned.normalize()
        return turned

    def nearest(self, rotation: Quaternion) -> Quaternion:
        own = self.into(rotation)
        found = self.inner.nearest(own)
        return rotation if found is own else self.out_of(found)

    def coordinates(self, rotation: Quaternion) -> list[Coordinate]:
        return [each._replace(axis=self.frame @ each.axis) for each in self.inner.coordinates(self.into(rotation))]

    def at(self, rotation: Quaternion, values: Sequence[float]) -> Quaternion:
        return self.out_of(self.inner.at(self.into(rotation), values))

    def on_limits(self, rotation: Quaternion) -> list[str]:
        return self.inner.on_limits(self.into(rotation))

    def random(self, random: Random) -> Quaternion:
        return self.out_of(self.inner.random(random))

    def swung(self, rotation: Quaternion, start: Vector, end: Vector) -> Quaternion:
        own, back = self.into(rotation), self.frame.conjugated()
        found = self.inner.swung(own, back @ start, back @ end)
        return rotation if found is own else self.out_of(found)


def framed(freedom: Freedom, frame: Quaternion) -> Freedom:
    """Return a freedom with its axes turned by `frame`, in its simplest form: a hinge has only another axis."""
    if isinstance(freedom, Framed):
        return framed(freedom.inner, frame @ freedom.frame)
    if isinstance(freedom, Hinge):
        return Hinge(frame @ freedom.axis, freedom.lower, freedom.upper)
    if not isinstance(freedom, (Cone, EulerLimits)) or frame.to_axis_angle()[1] == 0.0:
        return freedom
    return Framed(freedom, frame)


def unframed(freedom: Freedom) -> Freedom:
    """Return the inner freedom of one that is framed, and any other as it is."""
    return freedom.inner if isinstance(freedom, Framed) else freedom

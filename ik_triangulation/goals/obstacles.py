# SPDX-License-Identifier: GPL-3.0-or-later
"""A soft constraint that keeps the chain out of obstacles: balls and boxes.

Source: obstacles that push away, Khatib 1986, as a soft constraint of "Inverse Kinematics - Improved Methods" (seed
document gradient-methods). Of each link the point that is deepest inside is pushed out.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import isfinite
from typing import Protocol

from mathutils import Matrix, Vector

from ..errors import SettingError
from ..kinematics import Pose
from .soft import Row, Turn, check_finite, check_weight

HALVINGS = 12  # of a link, to find where it is deepest


class Obstacle(Protocol):
    """Something to stay out of; convex, so that along a line the depth rises and falls but once."""

    def depth(self, point: Vector) -> tuple[float, Vector]:
        """How deep a point is inside (armature space; negative outside), and the unit vector that leads out."""


@dataclass(frozen=True)
class Ball:
    """Everything within `radius` of `centre`. Raises SettingError for a place or radius that is none."""

    centre: Vector
    radius: float

    def __post_init__(self) -> None:
        check_finite("Obstacle", self.centre)
        if not (isfinite(self.radius) and self.radius > 0.0):
            raise SettingError(f"Obstacle radius {self.radius} is not a distance. Give it a length above zero.")

    def depth(self, point: Vector) -> tuple[float, Vector]:
        offset = point - self.centre
        distance = offset.length
        return self.radius - distance, offset / distance if distance else Vector((0.0, 0.0, 1.0))


@dataclass(frozen=True)
class Block:
    """A box: `frame` (4x4) takes the cube from -1 to 1 on each axis to it, `margin` [Blender units] is put around.

    Its axes should be at right angles. Raises SettingError for a box that is flat or nowhere, and a negative margin.
    """

    frame: Matrix
    margin: float = 0.0

    def __post_init__(self) -> None:
        check_finite("Obstacle", [number for row in self.frame for number in row])
        if not (isfinite(self.margin) and self.margin >= 0.0):
            raise SettingError(f"Obstacle margin {self.margin} is not a distance. Give it a length from 0 up.")
        if not min(column.length for column in self.frame.to_3x3().col) > 0.0:
            raise SettingError("Obstacle is a box without volume. Give it a size on every axis.")

    def depth(self, point: Vector) -> tuple[float, Vector]:
        offset = point - self.frame.to_translation()
        axes = [column.normalized() for column in self.frame.to_3x3().col]
        sizes = [column.length for column in self.frame.to_3x3().col]
        along = [offset.dot(axis) for axis in axes]
        beyond = [abs(place) - size for place, size in zip(along, sizes, strict=True)]
        out = [axis if place >= 0.0 else -axis for axis, place in zip(axes, along, strict=True)]
        nearest = max(range(3), key=beyond.__getitem__)
        if beyond[nearest] <= 0.0:  # inside: out by the nearest side
            return self.margin - beyond[nearest], out[nearest]
        away = sum((axis * max(0.0, most) for axis, most in zip(out, beyond, strict=True)), Vector())
        return self.margin - away.length, away.normalized()


@dataclass(frozen=True)
class Avoid:
    """The links shall stay out of the `obstacles` (armature space)."""

    obstacles: Sequence[Obstacle]
    weight: float = 1.0
    can_be_met = True

    def __post_init__(self) -> None:
        check_weight("Avoid", self.weight)

    def rows(self, pose: Pose, turns: Sequence[Turn]) -> Iterator[Row]:
        scale = self.weight / pose.chain.reach
        for i in range(len(pose)):
            head, link = pose.head(i), pose.end(i) - pose.head(i)
            for obstacle in self.obstacles:
                point = deepest(obstacle, head, link)
                depth, out = obstacle.depth(point)
                if depth > 0.0:
                    row = [-scale * turn.moves(point).dot(out) if turn.joint <= i else 0.0 for turn in turns]
                    yield scale * depth, row


def deepest(obstacle: Obstacle, head: Vector, link: Vector) -> Vector:
    """The point of a link that is deepest in an obstacle; of one that is far away, just its middle."""
    least, most, middle = 0.0, 1.0, 0.5
    depth, out = obstacle.depth(head + link * middle)
    if depth <= -link.length / 2.0:
        return head + link * middle
    for _ in range(HALVINGS):
        if out.dot(link) < 0.0:
            least = middle
        else:
            most = middle
        middle = (least + most) / 2.0
        depth, out = obstacle.depth(head + link * middle)
    return head + link * middle

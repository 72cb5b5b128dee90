# SPDX-License-Identifier: GPL-3.0-or-later
"""Soft goal that keeps the links out of obstacles: balls and boxes.

Source: repulsive obstacles, Khatib 1986, "Real-time obstacle avoidance for manipulators and mobile robots", as a soft
constraint of "Inverse Kinematics - Improved Methods" (seed document gradient-methods). The residual of a link is the
penetration depth of its deepest point.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import isfinite
from typing import Protocol

from mathutils import Matrix, Vector

from ..errors import SettingError
from ..kinematics import Pose
from .checks import check_finite, check_weight
from .soft import JointAxis, Residual

BISECTIONS = 12  # of a link, to find its deepest point


class Obstacle(Protocol):
    """A convex volume to stay out of: along a line its depth has a single maximum."""

    def depth(self, point: Vector) -> tuple[float, Vector]:
        """Penetration depth of a point (armature space; negative outside), and the unit vector that leads out."""


@dataclass(frozen=True)
class Ball:
    """All points within `radius` of `centre`. Raises SettingError for a centre or radius that is not valid."""

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
    """A box: `frame` (4x4) maps the cube from -1 to 1 on each axis to it; `margin` [Blender units] is added around it.

    Its axes should be orthogonal. Raises SettingError for a flat or non-finite box and for a negative margin.
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
    """Keep the links out of the `obstacles` (armature space)."""

    obstacles: Sequence[Obstacle]
    weight: float = 1.0
    can_be_met = True

    def __post_init__(self) -> None:
        check_weight("Avoid", self.weight)

    def residuals(self, pose: Pose, dofs: Sequence[JointAxis]) -> Iterator[Residual]:
        scale = self.weight / pose.chain.reach
        for i in range(len(pose)):
            head, link = pose.head(i), pose.end(i) - pose.head(i)
            for obstacle in self.obstacles:
                point = deepest(obstacle, head, link)
                depth, out = obstacle.depth(point)
                if depth > 0.0:
                    row = [-scale * dof.velocity(point).dot(out) if dof.joint <= i else 0.0 for dof in dofs]
                    yield scale * depth, row


def deepest(obstacle: Obstacle, head: Vector, link: Vector) -> Vector:
    """The point of a link deepest in an obstacle, by bisection; the middle of a link too far away to touch it."""
    least, most, middle = 0.0, 1.0, 0.5
    depth, out = obstacle.depth(head + link * middle)
    if depth <= -link.length / 2.0:
        return head + link * middle
    for _ in range(BISECTIONS):
        if out.dot(link) < 0.0:
            least = middle
        else:
            most = middle
        middle = (least + most) / 2.0
        depth, out = obstacle.depth(head + link * middle)
    return head + link * middle

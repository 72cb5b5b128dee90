# SPDX-License-Identifier: GPL-3.0-or-later
"""The interface of every target: the point of it that is nearest to the end effector."""

from __future__ import annotations

from math import dist, inf
from typing import Protocol

from mathutils import Vector


class Target(Protocol):
    """A set of points to reach, armature space. Solvers move the tip to the nearest one.

    The same point always has the same nearest point, also where several are equally near.
    """

    def closest(self, point: Vector) -> Vector:
        """The point of the target nearest to `point`."""

    def least_distance(self, point: Vector) -> float:
        """Lower bound of the distance from `point` to the target [Blender units]; 0 where none is known."""
        return dist(self.closest(point), point)

    def greatest_distance(self, point: Vector) -> float:
        """Upper bound of the distance from `point` to the farthest point of the target; inf for an endless one."""
        return inf


class Anywhere(Target):
    """All of space: the target of an end effector whose place does not count."""

    def closest(self, point: Vector) -> Vector:
        return point.copy()

# SPDX-License-Identifier: GPL-3.0-or-later
"""Where the end effector shall go."""

from dataclasses import dataclass
from math import isfinite
from typing import Protocol

from mathutils import Vector

from .errors import TargetError


class Target(Protocol):
    """Anything with a nearest point; solvers aim at that."""

    def closest(self, point: Vector) -> Vector:
        """The point of the target nearest to `point`, armature space."""


@dataclass(frozen=True)
class Point:
    """One place, armature space. Raises TargetError if a coordinate is no finite number."""

    location: Vector

    def __post_init__(self) -> None:
        location = Vector(self.location).freeze()
        object.__setattr__(self, "location", location)
        x, y, z = location
        if not isfinite(x + y + z):
            raise TargetError(f"Target location {tuple(self.location)} is not finite. Give it three numbers.")

    def closest(self, point: Vector) -> Vector:
        return self.location

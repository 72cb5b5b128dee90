# SPDX-License-Identifier: GPL-3.0-or-later
"""Goals of a solve: the shapes a target can have, and soft goals for the freedom that reaching leaves.

Needs mathutils, nothing else of Blender. Everything is in armature space.
"""

from .comfort import Effort, Near, Pole
from .flow import Flow
from .goal import Goal, SoftGoal
from .obstacles import Avoid, Ball, Block
from .orientation import Direction, LookAt, Orientation
from .shapes import (
    Anywhere,
    Box,
    Cylinder,
    Field,
    Line,
    Plane,
    Point,
    Ray,
    Ring,
    Segment,
    SolidCylinder,
    SolidSphere,
    Sphere,
    Target,
)
from .target_shapes import Transformed

__all__ = [
    "Anywhere",
    "Avoid",
    "Ball",
    "Block",
    "Box",
    "Cylinder",
    "Direction",
    "Effort",
    "Field",
    "Flow",
    "Goal",
    "Line",
    "LookAt",
    "Near",
    "Orientation",
    "Plane",
    "Point",
    "Pole",
    "Ray",
    "Ring",
    "Segment",
    "SoftGoal",
    "SolidCylinder",
    "SolidSphere",
    "Sphere",
    "Target",
    "Transformed",
]

# SPDX-License-Identifier: GPL-3.0-or-later
"""Goals of a solve: the shapes a target can have, and soft goals for the freedom that reaching leaves.

Needs mathutils, nothing else of Blender. Everything is in armature space.
"""

from .comfort import Effort, Near
from .goal import Goal
from .look_at import LookAt
from .obstacles import Avoid, Ball, Block
from .orientation import Direction, Orientation
from .pole import Pole
from .shapes import Box, Cylinder, Field, Line, Plane, Point, Ray, Ring, Segment, Sphere
from .soft import SoftGoal
from .target import Anywhere, Target
from .transformed import Transformed

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
    "Sphere",
    "Target",
    "Transformed",
]

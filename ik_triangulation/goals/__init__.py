# SPDX-License-Identifier: GPL-3.0-or-later
"""Goals of a solve: the shapes a target can have, and soft goals for the freedom that reaching leaves.

Needs mathutils, nothing else of Blender. Everything is in armature space.
"""

from .comfort import Effort, Near
from .obstacles import Avoid, Ball, Block
from .shapes import Box, Cylinder, Field, Line, Plane, Point, Ray, Ring, Segment, Sphere, Target, Transformed
from .soft import Direction, Orientation, Pole

__all__ = [
    "Avoid",
    "Ball",
    "Block",
    "Box",
    "Cylinder",
    "Direction",
    "Effort",
    "Field",
    "Line",
    "Near",
    "Orientation",
    "Plane",
    "Point",
    "Pole",
    "Ray",
    "Ring",
    "Segment",
    "Sphere",
    "Target",
    "Transformed",
]

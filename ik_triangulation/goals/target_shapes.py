# SPDX-License-Identifier: GPL-3.0-or-later
"""The table of target shapes: a row for each shape that a target can be given, in the target's own space.

The enumeration of the setting `shape`, its check and the choice by an empty's display type are derived from it. A new
shape takes a class of targets, a row here, its strokes in the overlay, and a mention under "What is reached" in the
manual's page on goals.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from mathutils import Matrix, Vector

from .shapes import Box, Cylinder, Line, Plane, Point, Ray, Ring, Segment, Sphere
from .target import Target

_ORIGIN, _Y, _Z = Vector(), Vector((0.0, 1.0, 0.0)), Vector((0.0, 0.0, 1.0))


class TargetShape(NamedTuple):
    """A shape of targets.

    `number` is the one that saved files hold. `build(size, along)` returns the target for a size [units of the target's
    space] and the unit direction in which lines run. `display` is the display type of the empties that have this shape
    unless another one is chosen.
    """

    label: str
    description: str
    number: int
    build: Callable[[float, Vector], Target]
    display: str = ""


# Planes are perpendicular to Z. Rings and cylinders go round Y, as Blender draws circles and cones.
TARGET_SHAPES = {
    "POINT": TargetShape(
        "Point", "The target's origin, or the head of the bone", 1, lambda size, along: Point(_ORIGIN)
    ),
    "PLANE": TargetShape(
        "Plane",
        "The infinite plane perpendicular to the target's Z axis",
        2,
        lambda size, along: Plane(_ORIGIN, _Z),
        display="IMAGE",
    ),
    "LINE": TargetShape(
        "Line",
        "The infinite line along the target's Z axis, or along the bone",
        3,
        lambda size, along: Line(_ORIGIN, along),
    ),
    "RAY": TargetShape(
        "Ray", "The same line, from the origin onwards only", 4, lambda size, along: Ray(_ORIGIN, along)
    ),
    "SEGMENT": TargetShape(
        "Segment",
        "The same line, as long as the empty or the bone",
        5,
        lambda size, along: Segment(_ORIGIN, along * size),
    ),
    "SPHERE": TargetShape(
        "Sphere",
        "The surface of a sphere as large as the empty",
        6,
        lambda size, along: Sphere(_ORIGIN, size),
        display="SPHERE",
    ),
    "CYLINDER": TargetShape(
        "Cylinder",
        "An infinite cylinder along the target's Y axis, as wide as the empty",
        7,
        lambda size, along: Cylinder(_ORIGIN, _Y, size),
        display="CONE",
    ),
    "RING": TargetShape(
        "Ring",
        "A circle around the target's Y axis, as large as the empty",
        8,
        lambda size, along: Ring(_ORIGIN, _Y, size),
        display="CIRCLE",
    ),
    "BOX": TargetShape(
        "Box",
        "A box as large as the empty; any point inside counts as reached",
        9,
        lambda size, along: Box(Matrix.Scale(size, 4)),
        display="CUBE",
    ),
}

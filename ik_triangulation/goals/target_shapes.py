# SPDX-License-Identifier: GPL-3.0-or-later
"""Targets as they are given: their table, each in the target's own space, in another's, and at many frames at once.

The table has a row for each shape that a target can be given, in the target's own space. The enumeration of the setting
`shape`, its check and the choice by an empty's display type are derived from it. A new shape takes a class of targets,
a row here, its strokes in the overlay, and a mention under "What is reached" in the manual's page on goals.

A target may be given in the space of another object, for example a scaled empty. Source: projected gradient descent,
Goldstein 1964, "Convex programming in Hilbert space". For many end effectors at once, the nearest points are those of
goals.shapes, where the source is named; what is said there of ties holds here as well.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from math import isfinite, sqrt
from typing import NamedTuple

import numpy as np
from mathutils import Matrix, Vector

from ..errors import TargetError
from ..items import SHAPE_ROWS
from ..kinematics.arrays import Columns, Numbers
from ..kinematics.batch.algebra import at, rotate, rotate_back
from .shapes import (
    NEAREST,
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
    set_fields,
)

_UNEQUAL = 1e-4  # relative difference between the scales of two axes beyond which it is no rounding
DESCENT_STEPS = 32  # of projected gradient descent

_ORIGIN, _Y, _Z = Vector(), Vector((0.0, 1.0, 0.0)), Vector((0.0, 0.0, 1.0))


@dataclass(frozen=True)
class Transformed(Target):
    """A target given in another space; `into` (4x4) maps that space to armature space.

    With a uniform scale the nearest point is the same in both spaces. Otherwise projected gradient descent moves the
    nearest point of the other space along the target to where it is nearest in armature space. The result lies on the
    target; its distance is the minimum within 1 % for scales that differ by up to a factor of 3, and a local minimum on
    round targets. A Field gives a vector and not a nearest point, so that vector is only transformed. Raises
    TargetError if `into` is singular.
    """

    target: Target
    into: Matrix
    out: Matrix = field(init=False, repr=False, compare=False)  # from armature space to the target's
    steps: int = field(init=False, repr=False, compare=False)  # of descent

    def __post_init__(self) -> None:
        into = Matrix(self.into)
        try:
            out = into.inverted()
        except ValueError:
            out = None
        if out is None or not all(isfinite(sum(row)) for row in out):
            raise TargetError("Target's space cannot be inverted. Give its object scale values other than zero.")
        alike = _stretch(into) * _stretch(out) < 1.0 + _UNEQUAL
        set_fields(
            self,
            into=into.freeze(),
            out=out.freeze(),
            steps=0 if alike or isinstance(self.target, Field) else DESCENT_STEPS,
        )

    def closest(self, point: Vector) -> Vector:
        goal = self.out @ point
        place = self.target.closest(goal)
        if self.steps:
            linear = self.into.to_3x3()
            # Down the gradient of the squared distance, with a step size of one over its Lipschitz constant.
            step = linear.transposed() @ linear * (1.0 / _stretch(linear) ** 2)
            for _ in range(self.steps):
                place = self.target.closest(place + step @ (goal - place))
        return self.into @ place

    def least_distance(self, point: Vector) -> float:
        return self.target.least_distance(self.out @ point) / _stretch(self.out)

    def greatest_distance(self, point: Vector) -> float:
        return self.target.greatest_distance(self.out @ point) * _stretch(self.into)


def _stretch(matrix: Matrix) -> float:
    """Upper bound of the largest singular value of `matrix`; exact for a uniform scale.

    Its square is the largest eigenvalue of M^T M, which is at most the largest sum of magnitudes in a row of M^T M.
    """
    linear = matrix.to_3x3()
    return sqrt(max(sum(map(abs, row)) for row in linear.transposed() @ linear))


class BatchTarget(NamedTuple):
    """A shape in a space of its own, which is moved, turned and scaled for each pose.

    `shape` is None for the origin. `turn` (3, 3, F or 1) are rotations and `place` (3, F or 1) locations of that space
    in armature space, `scale` (F or 1) its scale. Where a space is `stretched`, scaled unevenly or sheared, `turn` are
    the whole linear maps instead.
    """

    shape: Target | None
    turn: Numbers
    place: Numbers
    scale: Numbers
    stretched: bool = False

    def closest(self, points: Numbers) -> Numbers:
        """Points of the target (3, F) nearest to `points` (3, F), armature space."""
        if self.shape is None:
            return self.place
        nearest = NEAREST[type(self.shape)]
        if self.stretched:
            return self._closest_stretched(self.shape, nearest, points)
        local = rotate_back(self.turn, points - self.place) / self.scale
        return rotate(self.turn, nearest(self.shape, local)) * self.scale + self.place

    def _closest_stretched(self, shape: Target, nearest: Callable[..., Numbers], points: Numbers) -> Numbers:
        """By projected gradient descent, as goals.target_shapes does it for a single target."""
        out = np.moveaxis(np.linalg.inv(np.moveaxis(self.turn, -1, 0)), 0, -1)
        local = rotate(out, points - self.place)
        square = np.einsum("jif,jkf->ikf", self.turn, self.turn)
        step = square / np.abs(square).sum(1).max(0)
        found = nearest(shape, local)
        for _ in range(DESCENT_STEPS):
            found = nearest(shape, found + rotate(step, local - found))
        return rotate(self.turn, found) + self.place

    def take(self, columns: Columns) -> BatchTarget:
        """The target of those poses."""
        turn, place, scale = (at(each, columns) for each in (self.turn, self.place, self.scale))
        return self._replace(turn=turn, place=place, scale=scale)


class TargetShape(NamedTuple):
    """A shape of targets.

    `number` is the one that saved files hold. `build(size, along)` returns the target for a size [units of the target's
    space] and the unit direction in which lines run. `display` is the display type of the empties that have this shape
    unless another one is chosen.
    """

    number: int
    label: str
    description: str
    build: Callable[[float, Vector], Target]
    display: str = ""


# Planes are perpendicular to Z. Rings and cylinders go round Y, as Blender draws circles and cones.
TARGET_SHAPES = {
    "POINT": TargetShape(*SHAPE_ROWS["POINT"], lambda size, along: Point(_ORIGIN)),
    "PLANE": TargetShape(
        *SHAPE_ROWS["PLANE"],
        lambda size, along: Plane(_ORIGIN, _Z),
        display="IMAGE",
    ),
    "LINE": TargetShape(
        *SHAPE_ROWS["LINE"],
        lambda size, along: Line(_ORIGIN, along),
    ),
    "RAY": TargetShape(*SHAPE_ROWS["RAY"], lambda size, along: Ray(_ORIGIN, along)),
    "SEGMENT": TargetShape(
        *SHAPE_ROWS["SEGMENT"],
        lambda size, along: Segment(_ORIGIN, along * size),
    ),
    "SPHERE": TargetShape(
        *SHAPE_ROWS["SPHERE"],
        lambda size, along: Sphere(_ORIGIN, size),
        display="SPHERE",
    ),
    "CYLINDER": TargetShape(
        *SHAPE_ROWS["CYLINDER"],
        lambda size, along: Cylinder(_ORIGIN, _Y, size),
        display="CONE",
    ),
    "RING": TargetShape(
        *SHAPE_ROWS["RING"],
        lambda size, along: Ring(_ORIGIN, _Y, size),
        display="CIRCLE",
    ),
    "BOX": TargetShape(
        *SHAPE_ROWS["BOX"],
        lambda size, along: Box(Matrix.Scale(size, 4)),
        display="CUBE",
    ),
    "SOLID_SPHERE": TargetShape(*SHAPE_ROWS["SOLID_SPHERE"], lambda size, along: SolidSphere(_ORIGIN, size)),
    "SOLID_CYLINDER": TargetShape(*SHAPE_ROWS["SOLID_CYLINDER"], lambda size, along: SolidCylinder(_ORIGIN, _Y, size)),
}

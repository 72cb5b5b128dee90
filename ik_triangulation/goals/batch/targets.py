# SPDX-License-Identifier: GPL-3.0-or-later
"""Target shapes for many end effectors at once: the point of the target nearest to each of F places.

The formulas are those of goals.shapes, where the source is named; what is said there of ties holds here as well.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from mathutils import Vector

from ...kinematics.arrays import Columns, Numbers
from ...kinematics.batch.algebra import at, dot, lengths, rotate, rotate_back
from ..shapes import Box, Cylinder, Line, Plane, Point, Ray, Ring, Segment, Sphere
from ..target import Target
from ..transformed import DESCENT_STEPS

_PARALLEL = 1e-12  # of an offset: the part of it across an axis that is rounding


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
        nearest = _NEAREST[type(self.shape)]
        if self.stretched:
            return self._closest_stretched(self.shape, nearest, points)
        local = rotate_back(self.turn, points - self.place) / self.scale
        return rotate(self.turn, nearest(self.shape, local)) * self.scale + self.place

    def _closest_stretched(self, shape: Target, nearest: Callable[..., Numbers], points: Numbers) -> Numbers:
        """By projected gradient descent, as goals.transformed does it for a single target."""
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


def shape_is_batched(shape: Target) -> bool:
    """Tell whether a shape has a formula here."""
    return type(shape) in _NEAREST


def _column(vector: Vector) -> Numbers:
    return np.array(vector, float)[:, None]


def _point(shape: Point, points: Numbers) -> Numbers:
    return np.broadcast_to(_column(shape.location), points.shape)


def _plane(shape: Plane, points: Numbers) -> Numbers:
    normal = _column(shape.normal)
    nearest: Numbers = points + normal * dot(_column(shape.location) - points, normal)
    return nearest


def _along(start: Vector, direction: Vector, points: Numbers, least: float, most: float) -> Numbers:
    way = _column(direction)
    nearest: Numbers = _column(start) + way * np.clip(dot(points - _column(start), way), least, most)
    return nearest


def _line(shape: Line, points: Numbers) -> Numbers:
    return _along(shape.location, shape.direction, points, -np.inf, np.inf)


def _ray(shape: Ray, points: Numbers) -> Numbers:
    return _along(shape.location, shape.direction, points, 0.0, np.inf)


def _segment(shape: Segment, points: Numbers) -> Numbers:
    way = shape.end - shape.start
    return _along(shape.start, way.normalized(), points, 0.0, way.length)


def _sphere(shape: Sphere, points: Numbers) -> Numbers:
    centre = _column(shape.centre)
    return centre + shape.radius * _directions(points - centre, Vector((0.0, 0.0, 1.0)), 0.0)


def _cylinder(shape: Cylinder, points: Numbers) -> Numbers:
    axis = _column(shape.axis)
    offset = points - _column(shape.location)
    along = axis * dot(offset, axis)
    outward = _directions(offset - along, shape.axis.orthogonal().normalized(), _PARALLEL * lengths(offset))
    return _column(shape.location) + along + outward * shape.radius


def _ring(shape: Ring, points: Numbers) -> Numbers:
    axis = _column(shape.normal)
    offset = points - _column(shape.centre)
    across = offset - axis * dot(offset, axis)
    outward = _directions(across, shape.normal.orthogonal().normalized(), _PARALLEL * lengths(offset))
    return _column(shape.centre) + outward * shape.radius


def _box(shape: Box, points: Numbers) -> Numbers:
    frame = np.array(shape.frame.copy(), float)  # Blender 4.5 does not give the rows of a frozen matrix
    offset = points - frame[:3, 3:]
    result = points.copy()
    for axis in frame[:3, :3].T:
        size = float(np.sqrt(axis @ axis))
        way = (axis / size)[:, None]
        along = dot(offset, way)
        result -= way * (along - np.clip(along, -size, size))
    return result


def _directions(offsets: Numbers, otherwise: Vector, rounding: Numbers | float) -> Numbers:
    """Unit vectors of offsets; a given one for those whose length is at most the `rounding`."""
    size = lengths(offsets)
    nowhere = size <= rounding
    return np.where(nowhere, _column(otherwise), offsets / np.where(nowhere, 1.0, size))


_NEAREST: dict[type, Callable[..., Numbers]] = {
    Point: _point,
    Plane: _plane,
    Line: _line,
    Ray: _ray,
    Segment: _segment,
    Sphere: _sphere,
    Cylinder: _cylinder,
    Ring: _ring,
    Box: _box,
}

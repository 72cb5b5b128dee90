# SPDX-License-Identifier: GPL-3.0-or-later
"""Target shapes: the point of each that is nearest to an end effector, for one place and for many places at once.

Source: Elias 2004, "Inverse Kinematics - Improved Methods", section Targets (seed document gradient-methods): plane,
cylinder, ring, volume and vector field, each as the vector from the tip to the nearest point. Deviation: the printed
vector to the cylinder omits the position of the tip; here it is measured from the tip.

Everything is in armature space, the space in which solvers work; Transformed brings a target there from another space.
Radii are in Blender units. Directions may have any length and are normalised. Every shape raises TargetError for a
location, direction or radius that is not valid.


Each check of a number that a goal is made of raises an error whose message names the number and the remedy.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from math import dist, hypot, inf, isfinite
from typing import Protocol

import numpy as np
from mathutils import Matrix, Vector

from ..errors import SettingError, TargetError
from ..kinematics.arrays import Numbers
from ..kinematics.batch.algebra import dot, lengths
from ..kinematics.rotation import orthogonal

MOST_WEIGHT = 1e6
_LARGEST = 1e18  # coordinates and radii whose squares single precision still holds

_SHEARED = 1e-5  # cosine between two axes of a frame beyond which it is no rounding

_PARALLEL = 1e-12  # of an offset: the part of it across an axis that is rounding


def set_fields(record: object, **values: object) -> None:
    """Give fields of a frozen dataclass their checked values."""
    for name, value in values.items():
        object.__setattr__(record, name, value)


def checked_location(name: str, location: Sequence[float]) -> Vector:
    """Return `location` as a frozen vector. Raises TargetError for a coordinate that is not finite or beyond 1e18."""
    checked = Vector(location).freeze()
    if not all(abs(x) <= _LARGEST for x in checked):
        raise TargetError(f"{name} {tuple(checked)} is not finite or beyond {_LARGEST:g}. Give it three usual numbers.")
    return checked


def checked_direction(name: str, direction: Sequence[float]) -> Vector:
    """Return `direction` as a frozen unit vector. Raises TargetError for one without length."""
    unit = unit_vector(checked_location(name, direction))
    if unit is None:
        raise TargetError(f"{name} {tuple(direction)} has no direction. Give it a length other than zero.")
    return unit.freeze()


def checked_radius(name: str, radius: float) -> float:
    """Return `radius` [Blender units]. Raises TargetError unless it is finite and positive."""
    if not 0.0 < radius <= _LARGEST:
        raise TargetError(f"{name} {radius} is not a distance. Give it a finite length above zero.")
    return float(radius)


def unit_vector(vector: Vector) -> Vector | None:
    """Unit vector along `vector`, however short that is; None if it has no length."""
    length = hypot(*vector)
    return Vector([x / length for x in vector]) if length else None


def check_finite(name: str, numbers: Iterable[float]) -> None:
    """Raise SettingError unless all numbers are finite."""
    if not all(map(isfinite, numbers)):
        raise SettingError(f"{name} is not finite. Check the object it comes from.")


def check_weight(name: str, weight: float) -> None:
    """Raise SettingError for a weight below 0, or so large that no other residual counts in double precision."""
    if not 0.0 <= weight <= MOST_WEIGHT:
        raise SettingError(f"{name} weight {weight} is not valid. Give it a number from 0 to {MOST_WEIGHT:g}.")


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


@dataclass(frozen=True)
class Point(Target):
    """A single point. Raises TargetError unless its coordinates are finite."""

    location: Vector

    def __post_init__(self) -> None:
        location = Vector(self.location).freeze()
        object.__setattr__(self, "location", location)
        x, y, z = location[:]
        if not isfinite(x + y + z):
            raise TargetError(f"Target location {tuple(self.location)} is not finite. Give it three numbers.")

    def closest(self, point: Vector) -> Vector:
        return self.location

    def greatest_distance(self, point: Vector) -> float:
        return dist(self.location, point)


@dataclass(frozen=True)
class Plane(Target):
    """The infinite plane through `location`, orthogonal to `normal`: a table top, a wall."""

    location: Vector
    normal: Vector

    def __post_init__(self) -> None:
        set_fields(
            self,
            location=checked_location("Plane location", self.location),
            normal=checked_direction("Plane normal", self.normal),
        )

    def closest(self, point: Vector) -> Vector:
        return point + self.normal * (self.location - point).dot(self.normal)


@dataclass(frozen=True)
class Line(Target):
    """The line through `location` along `direction`, infinite in both directions."""

    location: Vector
    direction: Vector

    def __post_init__(self) -> None:
        set_fields(self, location=checked_location("Line location", self.location))
        set_fields(self, direction=checked_direction("Line direction", self.direction))

    def closest(self, point: Vector) -> Vector:
        return self.location + self.direction * (point - self.location).dot(self.direction)


@dataclass(frozen=True)
class Ray(Target):
    """The half of a line that starts at `location` and runs along `direction`: an arrow."""

    location: Vector
    direction: Vector

    def __post_init__(self) -> None:
        set_fields(self, location=checked_location("Ray location", self.location))
        set_fields(self, direction=checked_direction("Ray direction", self.direction))

    def closest(self, point: Vector) -> Vector:
        return self.location + self.direction * max(0.0, (point - self.location).dot(self.direction))


@dataclass(frozen=True)
class Segment(Target):
    """The line segment from `start` to `end`, both included: a hand rail."""

    start: Vector
    end: Vector

    def __post_init__(self) -> None:
        set_fields(
            self, start=checked_location("Segment start", self.start), end=checked_location("Segment end", self.end)
        )
        if self.start == self.end:
            raise TargetError(f"Segment starts and ends at {tuple(self.start)}. Move its ends apart or aim at a Point.")

    def closest(self, point: Vector) -> Vector:
        direction = unit_vector(self.end - self.start)
        along = (point - self.start).dot(direction)
        if along >= dist(self.start, self.end):
            return self.end
        return self.start + direction * max(0.0, along)

    def greatest_distance(self, point: Vector) -> float:
        return max(dist(self.start, point), dist(self.end, point))


@dataclass(frozen=True)
class Sphere(Target):
    """The surface of a ball. From its centre the nearest point is the top, at +Z.

    As with the source's cylinder it is the surface and not the volume, so that a tip inside is brought to the surface
    as well; SolidSphere is the volume.
    """

    centre: Vector
    radius: float

    def __post_init__(self) -> None:
        set_fields(
            self,
            centre=checked_location("Sphere centre", self.centre),
            radius=checked_radius("Sphere radius", self.radius),
        )

    def closest(self, point: Vector) -> Vector:
        return self.centre + (unit_vector(point - self.centre) or Vector((0.0, 0.0, 1.0))) * self.radius

    def greatest_distance(self, point: Vector) -> float:
        return dist(self.centre, point) + self.radius


@dataclass(frozen=True)
class SolidSphere(Sphere):
    """A ball with all that is inside: a tip there has reached it."""

    def closest(self, point: Vector) -> Vector:
        return point.copy() if dist(self.centre, point) <= self.radius else super().closest(point)


@dataclass(frozen=True)
class Cylinder(Target):
    """The surface of an infinite cylinder about the line through `location` along `axis`.

    From a point on the axis the nearest point is in a fixed direction orthogonal to it.
    """

    location: Vector
    axis: Vector
    radius: float

    def __post_init__(self) -> None:
        set_fields(
            self,
            location=checked_location("Cylinder location", self.location),
            axis=checked_direction("Cylinder axis", self.axis),
        )
        set_fields(self, radius=checked_radius("Cylinder radius", self.radius))

    def closest(self, point: Vector) -> Vector:
        offset = point - self.location
        return self.location + self.axis * offset.dot(self.axis) + _outward(offset, self.axis) * self.radius


@dataclass(frozen=True)
class SolidCylinder(Cylinder):
    """An infinite cylinder with all that is inside: a tip there has reached it."""

    def closest(self, point: Vector) -> Vector:
        offset = point - self.location
        inside = (offset - self.axis * offset.dot(self.axis)).length <= self.radius
        return point.copy() if inside else super().closest(point)


@dataclass(frozen=True)
class Ring(Target):
    """The circle about `centre` in the plane orthogonal to `normal`: the rim of a cup for fingers to close round.

    From a point on its axis the nearest point is in a fixed direction.
    """

    centre: Vector
    normal: Vector
    radius: float

    def __post_init__(self) -> None:
        set_fields(
            self,
            centre=checked_location("Ring centre", self.centre),
            normal=checked_direction("Ring normal", self.normal),
        )
        set_fields(self, radius=checked_radius("Ring radius", self.radius))

    def closest(self, point: Vector) -> Vector:
        return self.centre + _outward(point - self.centre, self.normal) * self.radius

    def greatest_distance(self, point: Vector) -> float:
        return dist(self.centre - _outward(point - self.centre, self.normal) * self.radius, point)


@dataclass(frozen=True)
class Box(Target):
    """A solid box: a tip inside it has reached it.

    `frame` (4x4) maps the cube from -1 to 1 on each axis to the box. Its axes may have any lengths except zero and must
    be orthogonal, because the nearest point of a sheared box cannot be found axis by axis.
    """

    frame: Matrix

    def __post_init__(self) -> None:
        set_fields(self, frame=Matrix(self.frame).freeze())
        checked_location("Box location", self.frame.to_translation())
        axes = [checked_direction(f"Box axis {name}", axis) for name, axis in zip("XYZ", self._axes(), strict=True)]
        for i, j in ((0, 1), (0, 2), (1, 2)):
            if abs(axes[i].dot(axes[j])) > _SHEARED:
                raise TargetError(
                    f"Box axes {'XYZ'[i]} and {'XYZ'[j]} are not at right angles. "
                    "Apply the scale of what it is parented to, or undo the shear."
                )

    def closest(self, point: Vector) -> Vector:
        offset = point - self.frame.to_translation()
        for axis, size in self._half_sides():
            along = offset.dot(axis)
            point = point - axis * (along - min(max(along, -size), size))
        return point

    def greatest_distance(self, point: Vector) -> float:
        offset = point - self.frame.to_translation()
        return hypot(*(abs(offset.dot(axis)) + size for axis, size in self._half_sides()))

    def _half_sides(self) -> list[tuple[Vector, float]]:
        """Unit vector and half side of each axis [Blender units]."""
        return [(unit_vector(axis), hypot(*axis)) for axis in self._axes()]

    def _axes(self) -> list[Vector]:
        # Blender 4.5 does not give the columns of a frozen matrix.
        return [axis.copy() for axis in self.frame.to_3x3().col]


@dataclass(frozen=True)
class Field(Target):
    """A vector field: `towards` returns the vector from a point (armature space) to the goal.

    The solver takes the length of that vector as the remaining distance; where it is zero the goal is reached. A field
    whose vectors all have the same length has no goal, and no pose is better than another. Raises TargetError where a
    vector is not finite.
    """

    towards: Callable[[Vector], Sequence[float]]

    def closest(self, point: Vector) -> Vector:
        goal = point + Vector(self.towards(point.copy()))
        if not isfinite(sum(goal)):
            raise TargetError(f"Field gives no finite vector at {tuple(point)}. Make it give three numbers there.")
        return goal

    def least_distance(self, point: Vector) -> float:
        return 0.0  # the length of one vector of a field bounds no distance


def _outward(offset: Vector, axis: Vector) -> Vector:
    """Unit vector orthogonal to the unit vector `axis` towards `offset`; a fixed one for an offset along the axis."""
    return orthogonal(offset, axis) or axis.orthogonal().normalized()


def shape_is_batched(shape: Target) -> bool:
    """Tell whether a shape has a formula here."""
    return type(shape) in NEAREST


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


def _solid_sphere(shape: SolidSphere, points: Numbers) -> Numbers:
    inside = lengths(points - _column(shape.centre)) <= shape.radius
    return np.where(inside, points, _sphere(shape, points))


def _cylinder(shape: Cylinder, points: Numbers) -> Numbers:
    axis = _column(shape.axis)
    offset = points - _column(shape.location)
    along = axis * dot(offset, axis)
    outward = _directions(offset - along, shape.axis.orthogonal().normalized(), _PARALLEL * lengths(offset))
    return _column(shape.location) + along + outward * shape.radius


def _solid_cylinder(shape: SolidCylinder, points: Numbers) -> Numbers:
    axis, offset = _column(shape.axis), points - _column(shape.location)
    inside = lengths(offset - axis * dot(offset, axis)) <= shape.radius
    return np.where(inside, points, _cylinder(shape, points))


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


NEAREST: dict[type, Callable[..., Numbers]] = {
    Point: _point,
    Plane: _plane,
    Line: _line,
    Ray: _ray,
    Segment: _segment,
    Sphere: _sphere,
    SolidSphere: _solid_sphere,
    Cylinder: _cylinder,
    SolidCylinder: _solid_cylinder,
    Ring: _ring,
    Box: _box,
}

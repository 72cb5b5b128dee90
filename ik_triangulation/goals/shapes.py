# SPDX-License-Identifier: GPL-3.0-or-later
"""Where the end effector shall go: each kind of target says which of its places is nearest to the end effector.

Source: Elias 2004, "Inverse Kinematics - Improved Methods", section Targets (seed document gradient-methods): plane,
cylinder, ring, volume and vector field, each as the vector from the tip to the nearest point. Deviation: the printed
vector to the cylinder leaves out the tip and is measured here from there.

All is in the space the solver works in, armature space; Transformed takes a target there from another space. Radii are
in Blender units. Directions may have any length and are made unit vectors. What is no place, direction or radius raises
TargetError. Every target gives the same place for the same point, also where several are equally near.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from math import dist, hypot, inf, isfinite, sqrt
from typing import Protocol

from mathutils import Matrix, Vector

from ..errors import TargetError
from ..kinematics.rotation import orthogonal

_LARGEST = 1e18  # coordinates and radii whose squares single precision still holds
_SHEARED = 1e-5  # cosine between two axes of a frame beyond which it is no rounding
_UNEQUAL = 1e-4  # share by which one direction is scaled more than another beyond which it is no rounding
_STEPS = 32  # of descent to the nearest place through an unequal scale


class Target(Protocol):
    """Anything with a nearest point; solvers aim at that."""

    def closest(self, point: Vector) -> Vector:
        """The point of the target nearest to `point`, armature space."""

    def least_distance(self, point: Vector) -> float:
        """What `point` is away from the target at least [Blender units]; 0 where that is not known."""
        return dist(self.closest(point), point)

    def greatest_distance(self, point: Vector) -> float:
        """What `point` is away from the farthest place of the target at most; inf if that has no end."""
        return inf


@dataclass(frozen=True)
class Point(Target):
    """One place, armature space. Raises TargetError if a coordinate is no finite number."""

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
    """The endless plane through `location`, orthogonal to `normal`: a table top, a wall."""

    location: Vector
    normal: Vector

    def __post_init__(self) -> None:
        _set(self, location=_place("Plane location", self.location), normal=_direction("Plane normal", self.normal))

    def closest(self, point: Vector) -> Vector:
        return point + self.normal * (self.location - point).dot(self.normal)


@dataclass(frozen=True)
class Line(Target):
    """The line through `location` along `direction`, endless both ways."""

    location: Vector
    direction: Vector

    def __post_init__(self) -> None:
        _set(self, location=_place("Line location", self.location))
        _set(self, direction=_direction("Line direction", self.direction))

    def closest(self, point: Vector) -> Vector:
        return self.location + self.direction * (point - self.location).dot(self.direction)


@dataclass(frozen=True)
class Ray(Target):
    """The half of a line that starts at `location` and runs along `direction`: an arrow."""

    location: Vector
    direction: Vector

    def __post_init__(self) -> None:
        _set(self, location=_place("Ray location", self.location))
        _set(self, direction=_direction("Ray direction", self.direction))

    def closest(self, point: Vector) -> Vector:
        return self.location + self.direction * max(0.0, (point - self.location).dot(self.direction))


@dataclass(frozen=True)
class Segment(Target):
    """The straight line from `start` to `end`, both included: a hand rail."""

    start: Vector
    end: Vector

    def __post_init__(self) -> None:
        _set(self, start=_place("Segment start", self.start), end=_place("Segment end", self.end))
        if self.start == self.end:
            raise TargetError(f"Segment starts and ends at {tuple(self.start)}. Move its ends apart or aim at a Point.")

    def closest(self, point: Vector) -> Vector:
        direction = _unit(self.end - self.start)
        along = (point - self.start).dot(direction)
        if along >= dist(self.start, self.end):
            return self.end
        return self.start + direction * max(0.0, along)

    def greatest_distance(self, point: Vector) -> float:
        return max(dist(self.start, point), dist(self.end, point))


@dataclass(frozen=True)
class Sphere(Target):
    """The surface of a ball. From its centre the top is nearest, at +Z.

    It is the surface and not the ball, as the source's cylinder is: what is to be touched is to be touched from inside
    as well. Box is the volume to be in.
    """

    centre: Vector
    radius: float

    def __post_init__(self) -> None:
        _set(self, centre=_place("Sphere centre", self.centre), radius=_radius("Sphere radius", self.radius))

    def closest(self, point: Vector) -> Vector:
        return self.centre + (_unit(point - self.centre) or Vector((0.0, 0.0, 1.0))) * self.radius

    def greatest_distance(self, point: Vector) -> float:
        return dist(self.centre, point) + self.radius


@dataclass(frozen=True)
class Cylinder(Target):
    """The surface of an endless round pole about the line through `location` along `axis`.

    From the axis a place in some fixed direction orthogonal to it is nearest.
    """

    location: Vector
    axis: Vector
    radius: float

    def __post_init__(self) -> None:
        _set(self, location=_place("Cylinder location", self.location), axis=_direction("Cylinder axis", self.axis))
        _set(self, radius=_radius("Cylinder radius", self.radius))

    def closest(self, point: Vector) -> Vector:
        offset = point - self.location
        return self.location + self.axis * offset.dot(self.axis) + _outward(offset, self.axis) * self.radius


@dataclass(frozen=True)
class Ring(Target):
    """The circle about `centre` in the plane orthogonal to `normal`: where fingers close round a cup.

    From the line through the centre along the normal a place in some fixed direction is nearest.
    """

    centre: Vector
    normal: Vector
    radius: float

    def __post_init__(self) -> None:
        _set(self, centre=_place("Ring centre", self.centre), normal=_direction("Ring normal", self.normal))
        _set(self, radius=_radius("Ring radius", self.radius))

    def closest(self, point: Vector) -> Vector:
        return self.centre + _outward(point - self.centre, self.normal) * self.radius

    def greatest_distance(self, point: Vector) -> float:
        return dist(self.centre - _outward(point - self.centre, self.normal) * self.radius, point)


@dataclass(frozen=True)
class Box(Target):
    """A solid box: what is inside is there already.

    `frame` (4x4) takes the cube from -1 to 1 on each axis to the box. Its axes may have any lengths, but not none, and
    must be orthogonal: what is nearest in a sheared box is not found axis by axis.
    """

    frame: Matrix

    def __post_init__(self) -> None:
        _set(self, frame=Matrix(self.frame).freeze())
        _place("Box location", self.frame.to_translation())
        axes = [_direction(f"Box axis {name}", axis) for name, axis in zip("XYZ", self._axes(), strict=True)]
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
        """Unit vector along each axis, and how far the box extends along it either way."""
        return [(_unit(axis), hypot(*axis)) for axis in self._axes()]

    def _axes(self) -> list[Vector]:
        # Blender 4.5 does not give the columns of a frozen matrix.
        return [axis.copy() for axis in self.frame.to_3x3().col]


@dataclass(frozen=True)
class Field(Target):
    """Wherever `towards` leads: a function of a point (armature space) that gives the vector from there to the goal.

    The solver takes that vector's length for the distance that is left; where it is zero the goal is reached. Where
    all vectors are equally long there is no goal, and no pose better than another. Raises TargetError where a vector is
    not finite.
    """

    towards: Callable[[Vector], Sequence[float]]

    def closest(self, point: Vector) -> Vector:
        goal = point + Vector(self.towards(point.copy()))
        if not isfinite(sum(goal)):
            raise TargetError(f"Field gives no finite vector at {tuple(point)}. Make it give three numbers there.")
        return goal

    def least_distance(self, point: Vector) -> float:
        return 0.0  # what holds along the way need not hold from afar


@dataclass(frozen=True)
class Transformed(Target):
    """A target that stands in another space; `into` (4x4) takes that into armature space.

    Where `into` scales alike in all directions, what is nearest in one space is so in the other. Otherwise the place
    nearest there is moved along the target to where it is nearer here, by projected gradient descent (Goldstein 1964).
    It stays on the target; its distance is the least within 1 % for axes up to 3 times as long as others, or what no
    place beside it betters where the target is round. A Field says where to go and not what is near, so its vector is
    only transformed. Raises TargetError if `into` cannot be inverted.
    """

    target: Target
    into: Matrix
    out: Matrix = field(init=False, repr=False, compare=False)  # from armature space to that of the target
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
        _set(self, into=into.freeze(), out=out.freeze(), steps=0 if alike or isinstance(self.target, Field) else _STEPS)

    def closest(self, point: Vector) -> Vector:
        goal = self.out @ point
        place = self.target.closest(goal)
        if self.steps:
            linear = self.into.to_3x3()
            # Against the gradient of the squared distance in armature space, as far as surely leads no farther away.
            step = linear.transposed() @ linear * (1.0 / _stretch(linear) ** 2)
            for _ in range(self.steps):
                place = self.target.closest(place + step @ (goal - place))
        return self.into @ place

    def least_distance(self, point: Vector) -> float:
        return self.target.least_distance(self.out @ point) / _stretch(self.out)

    def greatest_distance(self, point: Vector) -> float:
        return self.target.greatest_distance(self.out @ point) * _stretch(self.into)


def _set(target: Target, **values: object) -> None:
    """Give fields of a frozen dataclass their checked values."""
    for name, value in values.items():
        object.__setattr__(target, name, value)


def _place(name: str, location: Sequence[float]) -> Vector:
    place = Vector(location).freeze()
    if not all(abs(x) <= _LARGEST for x in place):
        raise TargetError(f"{name} {tuple(place)} is not finite or beyond {_LARGEST:g}. Give it three usual numbers.")
    return place


def _direction(name: str, direction: Sequence[float]) -> Vector:
    """`direction` as a unit vector."""
    unit = _unit(_place(name, direction))
    if unit is None:
        raise TargetError(f"{name} {tuple(direction)} has no direction. Give it a length other than zero.")
    return unit.freeze()


def _radius(name: str, radius: float) -> float:
    if not 0.0 < radius <= _LARGEST:
        raise TargetError(f"{name} {radius} is not a distance. Give it a finite length above zero.")
    return float(radius)


def _unit(vector: Vector) -> Vector | None:
    """Unit vector along `vector`, however short that is; None if it has no length."""
    length = hypot(*vector)
    return Vector([x / length for x in vector]) if length else None


def _outward(offset: Vector, axis: Vector) -> Vector:
    """Unit vector that leads away from the unit vector `axis` towards `offset`; always the same one on the axis."""
    return orthogonal(offset, axis) or axis.orthogonal().normalized()


def _stretch(matrix: Matrix) -> float:
    """How many times longer `matrix` makes a vector at most: exact for a uniform scale, otherwise a bound above.

    The square is the largest eigenvalue of M^T M, which is at most its largest sum of magnitudes in a row.
    """
    linear = matrix.to_3x3()
    return sqrt(max(sum(map(abs, row)) for row in linear.transposed() @ linear))

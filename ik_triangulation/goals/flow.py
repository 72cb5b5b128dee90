# SPDX-License-Identifier: GPL-3.0-or-later
"""Vector fields that the tip follows: one bounded step a frame, along the field where the tip is.

Source: Elias 2004, "Inverse Kinematics - Improved Methods" (seed document gradient-methods), section Vector Fields: go
round an object, a vortex, downwards, keep away, a corridor. Such a target is no place, so there is nothing to come
nearer to: the path of the tip is an integral of the field.

The fields are those of Blender's force fields, as functions of the place alone; the formulas are the ones that its
effectors are published with (blenkernel, effect.cc), written as unit directions times falloff and strength.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from math import acos, degrees, inf, isfinite

import mathutils
import numpy as np
from mathutils import Matrix, Vector

from ..errors import TargetError
from ..kinematics.arrays import Numbers
from .shapes import Target, checked_radius, set_fields, unit_vector

FOLLOWED = ("FORCE", "WIND", "VORTEX", "HARMONIC", "TURBULENCE", "GUIDE")  # kinds of force field, as Blender names them

_HALVINGS = 8  # of a step within which a field turns back
_OCTAVES = 3  # of turbulence
_CORRIDOR = 0.05  # of a guide's length: how far from it a tip is led back gradually, at the least
_NOWHERE = 1e-9  # [Blender units] an offset as short as that has no direction

_NO_VECTOR = Vector((0.0, 0.0, 0.0)).freeze()


@dataclass(frozen=True)
class Flow(Target):
    """A vector field to follow: each solve moves the tip along it by at most `step` [Blender units], and that is all.

    `towards` returns the vector at a place (armature space). Where its length is 1 or more the tip goes a whole step,
    where it is shorter that share of one, and where it is zero the tip rests. The step is integrated by the classical
    method of Runge and Kutta, so that a circular field leads round a circle; a step within which the field turns back,
    as at a point that attracts, is halved. Raises TargetError for a step that is no length, and where a vector is not
    finite.
    """

    towards: Callable[[Vector], Sequence[float]]
    step: float

    def __post_init__(self) -> None:
        set_fields(self, step=checked_radius("Flow step", self.step))

    def after(self, point: Vector) -> Vector:
        """Place one step along the field from a point."""
        step, begin = self.step, self._velocity(point)
        for _ in range(_HALVINGS):
            second = self._velocity(point + begin * (0.5 * step))
            third = self._velocity(point + second * (0.5 * step))
            last = self._velocity(point + third * step)
            if begin.dot(last) >= 0.0:
                break
            step *= 0.5
        return point + (begin + 2.0 * (second + third) + last) * (step / 6.0)

    def closest(self, point: Vector) -> Vector:
        return self.after(point)

    def least_distance(self, point: Vector) -> float:
        return 0.0  # a field has no place

    def _velocity(self, point: Vector) -> Vector:
        """The vector at a point, no longer than 1."""
        vector = Vector(self.towards(point.copy()))
        length = vector.length
        if not isfinite(length):
            raise TargetError(f"Flow has no finite vector at {tuple(point)}. Make it give three numbers there.")
        return vector / max(length, 1.0)


@dataclass(frozen=True, kw_only=True)
class FieldFalloff:
    """Decrease of a force field with distance: (1 + d - `least`) to the power of -`power`, and 1 nearer than `least`.

    d is the distance for the kind SPHERE. For TUBE it is the height along Z, and the same is done with the distance
    from the axis, for CONE with the angle to it [degrees]; these have the settings `radial_...`. Beyond `most` there is
    no field; with a `side` of 1 or -1 there is one only along Z, or only against it.
    """

    kind: str = "SPHERE"
    power: float = 0.0
    least: float = 0.0
    most: float = inf
    radial_power: float = 0.0
    radial_least: float = 0.0
    radial_most: float = inf
    side: int = 0

    def at(self, distance: float, offset: Vector, axis: Vector) -> float:
        """Strength at this distance and offset from the origin, of a field with this unit axis."""
        height = offset.dot(axis)
        if height * self.side < 0.0:
            return 0.0
        if self.kind == "SPHERE":
            return _faded(distance, self.power, self.least, self.most)
        share = _faded(abs(height), self.power, self.least, self.most)
        if self.kind == "TUBE":
            radial = (offset - axis * height).length
        else:
            length = offset.length
            radial = degrees(acos(max(-1.0, min(1.0, height / length)))) if length else 0.0
        return share * _faded(radial, self.radial_power, self.radial_least, self.radial_most)


def _faded(distance: float, power: float, least: float, most: float) -> float:
    if distance > most:
        return 0.0
    return float((1.0 + max(distance - least, 0.0)) ** -power)


@dataclass(frozen=True, kw_only=True)
class ForceField:
    """A force field of Blender as a function of the place; everything is in one space, say world space.

    `kind` is one of FOLLOWED, `shape` POINT, LINE (along Z), PLANE (across Z) or, with `nearest`, SURFACE: a function
    that returns the nearest place of a mesh and the normal there. The `frame` (4x4) has the place and the Z axis.
    `size` is that of turbulence, or the rest length of a harmonic field; turbulence moves along with the field unless
    it `is_global`; `is_gravity` has a force weaken with the square of the distance.

    A guide leads along `path` (n, 3), from its first point to its last, round and round if it `is_closed`; within
    `falloff.least` the tip goes beside it, and from farther off it is led back there.
    """

    kind: str
    frame: Matrix
    strength: float = 1.0
    shape: str = "POINT"
    falloff: FieldFalloff = field(default_factory=FieldFalloff)
    size: float = 0.0
    is_global: bool = False
    is_gravity: bool = False
    nearest: Callable[[Vector], tuple[Vector, Vector]] | None = None
    path: Numbers | None = None
    is_closed: bool = False

    def __call__(self, place: Vector) -> Vector:
        """Return the vector at a place."""
        if self.path is not None:
            return self._guided(place)
        origin, axis = self.frame.to_translation(), self.frame.col[2].to_3d().normalized()
        offset = place - origin
        arm, normal = self._arm(place, offset, axis)
        distance = arm.length
        share = self.strength * self.falloff.at(distance, offset, normal)
        if not share:
            return _NO_VECTOR.copy()
        if self.kind == "WIND":
            return normal * share
        if self.kind == "VORTEX":
            return _unit(normal.cross(arm)) * share
        if self.kind == "HARMONIC":
            return _unit(arm) * (self.size - distance) * share
        if self.kind == "TURBULENCE":
            return _turbulence(place if self.is_global else offset + axis, self.size) * share
        if self.is_gravity:
            share /= max(distance, _NOWHERE) ** 2
        return _unit(arm) * share

    def _arm(self, place: Vector, offset: Vector, axis: Vector) -> tuple[Vector, Vector]:
        """Vector from the nearest place of the field's shape, and the field's normal there."""
        if self.nearest is not None:
            there, normal = self.nearest(place)
            return place - there, normal
        along = axis * offset.dot(axis)
        if self.shape == "LINE" or (self.shape == "PLANE" and self.kind == "VORTEX"):
            return offset - along, axis
        return (along if self.shape == "PLANE" else offset), axis

    def _guided(self, place: Vector) -> Vector:
        """Vector along the path, and towards it from farther off than the least distance."""
        assert self.path is not None
        ends, point = self.path, np.array(place, float)
        if self.is_closed:
            ends = np.concatenate((ends, ends[:1]))
        ways = np.diff(ends, axis=0)
        sizes = np.sqrt((ways * ways).sum(1))
        shares = ((point - ends[:-1]) * ways).sum(1) / sizes**2
        held = np.clip(shares, 0.0, 1.0)
        feet = ends[:-1] + ways * held[:, None]
        off = np.sqrt(((point - feet) ** 2).sum(1))
        at, last = int(off.argmin()), len(ways) - 1
        if at == last and shares[at] >= 1.0 and not self.is_closed:
            return _NO_VECTOR.copy()  # the end
        # Between two corners the direction turns from that of the one to that of the other.
        units = ways / sizes[:, None]
        before, after = (at - 1, (at + 1) % len(ways)) if self.is_closed else (max(at - 1, 0), min(at + 1, last))
        sums = [units[other] + units[at] for other in (before, after)]  # of two that go back and forth none
        lengths = [float(np.linalg.norm(each)) for each in sums]
        corners = [each / size if size > _NOWHERE else units[at] for each, size in zip(sums, lengths, strict=True)]
        distance, least, inwards = float(off[at]), self.falloff.least, 0.0
        if distance > max(least, _NOWHERE):
            corridor = max(least, _CORRIDOR * float(sizes.sum()))
            inwards = min((distance - least) / corridor, 1.0) / distance
        along = corners[0] * (1.0 - held[at]) + corners[1] * held[at] + (feet[at] - point) * inwards
        return Vector(along).normalized() * _faded(distance, self.falloff.power, least, self.falloff.most)


def _unit(vector: Vector) -> Vector:
    """Unit vector along a vector; none for one that has no direction."""
    return (vector.length > _NOWHERE and unit_vector(vector)) or _NO_VECTOR.copy()


def _turbulence(place: Vector, size: float) -> Vector:
    """Three sums of Perlin noise, each of which has the coordinates in another order."""
    noise = mathutils.noise.noise  # Blender has it, the package mathutils has not
    x, y, z = place / size if size else place
    orders = Vector((x, y, z)), Vector((y, z, x)), Vector((z, x, y))
    weights = [0.5**octave for octave in range(_OCTAVES)]
    values = [
        sum(weight * noise(each * 2.0**octave, noise_basis="PERLIN_NEW") for octave, weight in enumerate(weights))
        for each in orders
    ]
    return Vector(values) / sum(weights)

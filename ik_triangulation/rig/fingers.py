# SPDX-License-Identifier: GPL-3.0-or-later
"""Fingers as rows of capsules, the surface of the object that they hold, and the angles at which they touch it.

A finger closes as hands do: its joints bend together until a phalanx touches; the joints up to that one stop, and the
others go on. A place on a phalanx cannot touch before it has moved by its distance from the surface. So the joints bend
by as much at once, and only that place is looked at again (conservative advancement).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from copy import copy
from functools import cached_property
from itertools import combinations
from math import inf, radians
from typing import NamedTuple

import numpy as np
from bpy.types import Depsgraph, Object
from mathutils import Matrix, Quaternion, Vector, geometry
from mathutils.bvhtree import BVHTree

from ..errors import TargetError
from ..kinematics import Free, Freedom, Locked
from .anatomy.hands import Finger
from .freedom import freedom_of

_UPRIGHT = 0.999  # cosine to a face's normal below which its nearest place is on an edge or a corner
_SAME = 1e-6  # of the width: distance of a place from a corner that it is

_RADIUS = 0.085  # of a finger, in lengths from the wrist to the knuckles: 8 mm of a grown-up's
_TOUCHING = 0.03  # the same of the greatest distance at which a phalanx counts as touching: 3 mm
_CLOSE = 0.008  # the same of the distance at which a phalanx stops
_ALONG = (0.25, 0.5, 0.75, 1.0)  # places on a phalanx that are compared with the surface
_OPENED = radians(-15.0)  # extension of a knuckle where the straight finger would be in the object
# Flexion of the joints of fingers and thumbs where the rig has no limits [rad].
_RANGES = {"finger": (90.0, 105.0, 75.0), "thumb": (25.0, 60.0, 80.0)}
_FLAT = 0.5  # cosine of the angle to the link before beyond which a last bone does not point along its finger
_ROUNDING = 1e-6  # [rad] to the end of a range within which a joint is there


class HeldSurface:
    """The surface of an object in world space, with its inside, as evaluated. Raises TargetError without faces."""

    def __init__(self, ob: Object, depsgraph: Depsgraph) -> None:
        shown = ob.evaluated_get(depsgraph)
        mesh = shown.to_mesh() if ob.type in {"MESH", "CURVE", "SURFACE", "FONT", "META"} else None
        if mesh is None or not len(mesh.polygons):
            raise TargetError(f"'{ob.name}' has no faces to hold. Choose a mesh.")
        self.frame = out = shown.matrix_world.copy()
        rows = np.array([out @ vertex.co for vertex in mesh.vertices])
        mesh.calc_loop_triangles()
        faces = np.array([face.vertices for face in mesh.loop_triangles])
        shown.to_mesh_clear()
        if out.determinant() < 0.0:
            faces = faces[:, ::-1]
        rows, at = np.unique(rows, axis=0, return_inverse=True)  # vertices at one place, as of seams, are one
        self._places = list(map(Vector, rows.tolist()))
        self._faces: list[tuple[int, ...]] = [tuple(face) for face in at.ravel()[faces].tolist() if len({*face}) == 3]
        self._tree = BVHTree.FromPolygons(self._places, self._faces, all_triangles=True)
        axes = np.linalg.svd(rows - rows.mean(0), full_matrices=False)[2]
        self.width = float(np.ptp(rows @ axes.T, axis=0)[:2].min())  # across its longest side

    @cached_property
    def _around(self) -> dict[int, list[tuple[int, ...]]]:
        """The faces at each vertex."""
        found = defaultdict[int, list[tuple[int, ...]]](list)
        for face in self._faces:
            for number in face:
                found[number].append(face)
        return found

    def distance(self, point: Vector) -> float:
        """Return the distance of a point from the surface [Blender units], negative inside."""
        nearest = self._tree.find_nearest(point)
        return float(nearest[3] if self._is_outside(point, *nearest) else -nearest[3])

    def away(self, point: Vector) -> float:
        """Return the distance of a point from the surface [Blender units], whichever side it is on."""
        return float(self._tree.find_nearest(point)[3])

    def normal(self, point: Vector) -> Vector:
        """Return the direction (unit length) in which a point is away from the surface."""
        place, normal, face, away = self._tree.find_nearest(point)
        return (point - place) / away if away > 1e-9 and self._is_outside(point, place, normal, face, away) else normal

    def _is_outside(self, point: Vector, place: Vector, normal: Vector, face: int, away: float) -> bool:
        """Tell whether a point is outside, from the nearest `place`, which is on a `face` with that normal.

        On an edge or a corner one face alone does not tell, where it is acute: the mean of the normals that meet there
        does, weighted at a corner by the angles of the faces. Source: Baerentzen and Aanaes 2005.
        """
        way = point - place
        height = way.dot(normal)
        if abs(height) < _UPRIGHT * away:
            height = way.dot(self._mean_normal(self._faces[face], place))
        return bool(height >= 0.0)

    def _mean_normal(self, face: tuple[int, ...], place: Vector) -> Vector:
        """Return a vector along the mean of the normals that meet at a place on an edge or a corner of a face."""
        places, mean = self._places, Vector()
        corner = min(face, key=lambda number: (places[number] - place).length)
        if (places[corner] - place).length > _SAME * self.width:
            edge = min(combinations(face, 2), key=lambda ends: _off(place, *(places[number] for number in ends)))
            for each in self._around[edge[0]]:
                if edge[1] in each:
                    mean += geometry.normal([places[number] for number in each])
            return mean
        for each in self._around[corner]:
            one, other = (places[number] - places[corner] for number in each if number != corner)
            mean += geometry.normal([places[number] for number in each]) * one.angle(other, 0.0)
        return mean


def _off(place: Vector, start: Vector, end: Vector) -> float:
    """Return the distance of a place from the line through two points."""
    along = end - start
    return float(along.cross(place - start).length / max(along.length, 1e-30))


class ClosedFinger(NamedTuple):
    """A finger that is closed: the rotations of its bones from rest, and the clearance of each phalanx.

    The clearance is the distance of its skin from the surface [Blender units], `ends` both ends of each phalanx, and
    `opened` the rotations while the finger was open.
    """

    names: tuple[str, ...]
    rotations: tuple[Quaternion, ...]
    clearances: tuple[float, ...]
    ends: tuple[tuple[Vector, Vector], ...]
    touching: float
    opened: tuple[Quaternion, ...]

    @property
    def touches(self) -> int:
        """Number of phalanges that touch."""
        return sum(each <= self.touching for each in self.clearances)

    @property
    def left(self) -> float:
        """The sum of the distances of the phalanges that do not touch."""
        return sum(each for each in self.clearances if each > self.touching)


class _Joint(NamedTuple):
    """A bone of a finger: its frame in that of the bone before without a rotation (4x4), and the `end` of its phalanx.

    `axis` is that of flexion, in the bone's own frame; `upper` its range where nothing limits it [rad].
    """

    name: str
    step: Matrix
    end: Vector
    axis: Vector
    upper: float
    freedom: Freedom

    def rotation(self, angle: float, before: Quaternion | None = None) -> Quaternion:
        """Return the rotation of the bone from rest that bends it by an angle, after a turn `before`, within limits."""
        turned = Quaternion(self.axis, angle)
        turned = before @ turned if before else turned
        return turned if isinstance(self.freedom, Free) else self.freedom.nearest(turned)

    def after(self, base: Matrix, rotation: Quaternion) -> Matrix:
        """Return the frame of the bone (4x4) on that of the bone before, with a rotation from rest."""
        return base @ self.step @ rotation.to_matrix().to_4x4()


class FingerRow:
    """A finger in world space: the frame under its first bone (4x4), and its joints.

    `size` is the length of its hand from the wrist to the knuckles [Blender units], from which it has its `radius` and
    the greatest distance at which a phalanx counts as `touching`.
    """

    def __init__(
        self, armature: Object, names: Sequence[str], kind: str, finger: Finger, closing: Vector, size: float
    ) -> None:
        bones = [armature.pose.bones[name] for name in names]
        self.root = armature.matrix_world.copy()
        before, joints = Matrix.Identity(4), list[_Joint]()
        axis = finger.along.cross(closing).normalized()
        frames = [bone.matrix for bone in bones]
        for number, bone in enumerate(bones):
            placed = frames[number] @ bone.matrix_basis.to_quaternion().to_matrix().to_4x4().inverted()
            own = bone.bone.matrix_local.to_3x3().inverted() @ axis
            upper = radians(_RANGES[kind][min(number, 2)])
            step, before = before.inverted() @ placed, frames[number]
            joints.append(_Joint(bone.name, step, self._end(bones, number), own, upper, freedom_of(bone)))
        self.joints = joints
        self.radius, self.touching, self._close = _RADIUS * size, _TOUCHING * size, _CLOSE * size
        self._scale = max(size for frame in frames for size in (armature.matrix_world @ frame).to_scale())
        self.spread = bones[0].bone.matrix_local.to_3x3().inverted() @ closing  # axis in the first bone's own frame

    def moved(self, way: Matrix) -> FingerRow:
        """Return the finger after a rigid motion (4x4, world space)."""
        row = copy(self)
        row.root = way @ self.root
        return row

    @staticmethod
    def _end(bones: Sequence, number: int) -> Vector:
        """Return the end of a phalanx in the frame of its bone: the next joint, or where the bone itself ends.

        Bones of some programs do not point along their finger: then it goes on as the phalanx before.
        """
        bone, into = bones[number], bones[number].bone.matrix_local.inverted()
        if number + 1 < len(bones):
            return into @ bones[number + 1].bone.head_local
        own = bone.bone.tail_local - bone.bone.head_local
        if number:
            link = bone.bone.head_local - bones[number - 1].bone.head_local
            if link.length and own.normalized().dot(link.normalized()) < _FLAT:
                own = link * 0.8
        return into @ (bone.bone.head_local + own)

    def rotations(self, angles: Sequence[float], turn: Quaternion | None = None) -> list[Quaternion]:
        """Return the rotations from rest of the first bones bent by these angles [rad], the finger turned before."""
        return [
            joint.rotation(angle, None if number else turn)
            for number, (joint, angle) in enumerate(zip(self.joints, angles, strict=False))
        ]

    def phalanges(self, rotations: Sequence[Quaternion]) -> list[tuple[Vector, Vector]]:
        """Return both ends of the first phalanges in world space, for rotations of their bones from rest."""
        frame, found = self.root, []
        for joint, rotation in zip(self.joints, rotations, strict=False):
            frame = joint.after(frame, rotation)
            found.append((frame.translation, frame @ joint.end))
        return found

    def straight(self, turn: Quaternion | None = None) -> list[tuple[Vector, Vector]]:
        """Return both ends of the phalanges of the straight finger in world space, turned before."""
        return self.phalanges(self.rotations([0.0] * len(self.joints), turn))

    def at(
        self, rotations: Sequence[Quaternion], surface: HeldSurface, opened: Sequence[Quaternion] = ()
    ) -> ClosedFinger:
        """Return the finger with these rotations of its bones from rest, and those while it was open."""
        return self._at(rotations, surface.distance, opened or rotations)

    def _at(
        self, rotations: Sequence[Quaternion], distance: Callable[[Vector], float], opened: Sequence[Quaternion]
    ) -> ClosedFinger:
        ends = self.phalanges(rotations)
        clear = (min(distance(a.lerp(b, share)) for share in _ALONG) - self.radius for a, b in ends)
        names = tuple(joint.name for joint in self.joints)
        return ClosedFinger(names, tuple(rotations), tuple(clear), tuple(ends), self.touching, tuple(opened))

    def closed(
        self, ways: Sequence[Sequence[float]], surface: HeldSurface, turn: Quaternion | None = None
    ) -> Iterator[ClosedFinger]:
        """Yield the finger, turned before, closed in several ways, each the shares of its joints.

        There is none if it is in the object while it is open.
        """
        for opened in (0.0, _OPENED):
            angles = [opened, *(0.0 for _ in self.joints[1:])]
            start = self.rotations(angles, turn)
            places = [a.lerp(b, share) for a, b in self.phalanges(start) for share in _ALONG]
            clear = [surface.away(place) - self.radius for place in places]
            # What is off the surface all along is on one side of it, and does not pass it while it closes.
            if min(clear) >= 0.0 and surface.distance(places[-1]) > 0.0:
                for shares in ways:
                    angles_there = self._bent(angles, clear, shares, surface, turn)
                    yield self._at(self.rotations(angles_there, turn), surface.away, start)
                return

    def depth(self, rotations: Sequence[Quaternion], surface: HeldSurface) -> float:
        """Return how deep the finger with these rotations is in an object [Blender units]; negative outside."""
        places = (a.lerp(b, share) for a, b in self.phalanges(rotations) for share in _ALONG)
        return self.radius - min(surface.distance(place) for place in places)

    def _bent(
        self,
        angles: Sequence[float],
        clear: Sequence[float],
        shares: Sequence[float],
        surface: HeldSurface,
        turn: Quaternion | None,
    ) -> list[float]:
        """Return the angles [rad] of the closed finger, from those while it is open and how clear its places are."""
        joints, angles = self.joints, list(angles)
        rates = [0.0 if isinstance(joint.freedom, Locked) else shares[min(n, 2)] for n, joint in enumerate(joints)]
        while any(rates):
            speeds = self._speeds(rates)
            due = [each / speed if speed else inf for each, speed in zip(clear, speeds, strict=True)]
            rests = zip(joints, angles, rates, strict=True)
            end, now, touched = min((joint.upper - angle) / rate for joint, angle, rate in rests if rate), 0.0, -1
            while now < end and touched < 0:
                before, now = now, min(*due, end)
                angles = [angle + (now - before) * rate for angle, rate in zip(angles, rates, strict=True)]
                if now < end:
                    place = due.index(now)
                    number, share = divmod(place, len(_ALONG))
                    a, b = self.phalanges(self.rotations(angles[: number + 1], turn))[number]
                    gap = surface.away(a.lerp(b, _ALONG[share])) - self.radius
                    due[place] = now + gap / speeds[place]
                    touched = number if gap < self._close else -1
            clear = [
                (each - now) * speed if speed else old for each, speed, old in zip(due, speeds, clear, strict=True)
            ]
            rates = [
                rate if number > touched and angle < joint.upper - _ROUNDING else 0.0
                for number, (joint, angle, rate) in enumerate(zip(joints, angles, rates, strict=True))
            ]
        return angles

    def _speeds(self, rates: Sequence[float]) -> list[float]:
        """Return the most that places on the phalanges move while joints bend at these rates [Blender units]."""
        found, speed, turning = list[float](), 0.0, 0.0
        for joint, rate in zip(self.joints, rates, strict=True):
            turning += rate
            length = turning * self._scale * joint.end.length
            found += [speed + share * length for share in _ALONG]
            speed += length
        return found

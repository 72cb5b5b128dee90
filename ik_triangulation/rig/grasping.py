# SPDX-License-Identifier: GPL-3.0-or-later
"""Hands that close around an object: its surface, the fingers as rows of capsules, and the angles at which they touch.

A finger closes as hands do: its joints bend together until a phalanx touches; the joints up to that one stop, and the
others go on. Several shares of the joints are tried, and the one with the most phalanges that touch is taken. The
thumb is turned across the palm as well, to the place that is most opposite of the fingers.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from copy import copy
from itertools import product
from math import radians
from typing import NamedTuple

import numpy as np
from bpy.types import Depsgraph, Object, Scene
from mathutils import Matrix, Quaternion, Vector
from mathutils.bvhtree import BVHTree

from ..errors import RigError, TargetError
from ..kinematics import Free, Freedom, Locked
from .anatomy.hands import Finger, Hand, hand_of
from .anatomy.limbs import rest_body
from .armature import find_bone
from .freedom import freedom_of
from .units import distance_text

_RADIUS = 0.085  # of a finger, in lengths from the wrist to the knuckles: 8 mm of a grown-up's
_TOUCHING = 0.03  # the same of the greatest distance at which a phalanx counts as touching: 3 mm
_PALM = 0.13  # the same of half the thickness of the palm
_SHIFT = 0.21  # the same of the most that a hand may shift: 2 cm
_REACH = 2.2  # the same of a hand with its fingers
_ALONG = (0.25, 0.6, 1.0)  # places on a phalanx that are compared with the surface
_STEP, _HALVINGS = radians(7.0), 5
_FAR = 1e18  # a distance beyond all others that a search of the nearest face takes
_OPENED = radians(-15.0)  # extension of a knuckle where the straight finger would be in the object
# Flexion of the joints of fingers and thumbs where the rig has no limits [rad].
_RANGES = {"finger": (90.0, 105.0, 75.0), "thumb": (25.0, 60.0, 80.0)}
# Shares by which the joints bend together: of fingers evenly, at the knuckle first, and at the middle first.
_SHARES = {
    "finger": ((0.8, 1.0, 0.7), (1.0, 0.35, 0.25), (0.3, 1.0, 0.8)),
    "thumb": ((0.4, 1.0, 0.9), (0.6, 0.3, 0.2)),
}
# Turns of the thumb's root [degrees]: across the palm about the fingers' direction, out of it, and away from the index
# finger within its plane.
_ACROSS, _OUT, _AWAY = (0.0, 30.0, 60.0), (-15.0, 10.0, 35.0), (-35.0, -10.0, 20.0)
_SPREADS = (-10.0, 10.0, -20.0, 20.0)  # of a finger that passes the object [degrees]
_BEST = 3  # thumbs for which other closings are tried as well
# Places of the hand that are tried: turned about its fingers so that the thumb's side lifts [degrees], off the surface,
# and along the fingers [of the most that it may shift].
_PLACES = ((0.0, 0.0, 0.0), (12.0, 0.0, 0.0), (14.0, 0.4, 0.4), (-10.0, 0.0, -0.4), (15.0, 0.7, 0.7))
_ENOUGH, _OPPOSED = 3, radians(100.0)  # fingers that hold, and the angle between them and the thumb
_OPPOSITE = radians(115.0)  # angle between thumb and fingers beyond which more says nothing
_UPRIGHT, _MEETING = 0.999, 1e-5  # cosine to a face below which a point is off it; of the width, where faces meet
_FLAT = 0.5  # cosine of the angle to the link before beyond which a last bone does not point along its finger


class HeldSurface:
    """The surface of an object in world space, with its inside, as evaluated. Raises TargetError without faces."""

    def __init__(self, ob: Object, depsgraph: Depsgraph) -> None:
        shown = ob.evaluated_get(depsgraph)
        mesh = shown.to_mesh() if ob.type in {"MESH", "CURVE", "SURFACE", "FONT", "META"} else None
        if mesh is None or not len(mesh.polygons):
            raise TargetError(f"'{ob.name}' has no faces to hold. Choose a mesh.")
        out = shown.matrix_world.copy()
        places = [out @ vertex.co for vertex in mesh.vertices]
        faces: list[tuple[int, ...]] = [tuple(face.vertices) for face in mesh.polygons]
        shown.to_mesh_clear()
        if out.determinant() < 0.0:
            faces = [face[::-1] for face in faces]
        self._tree = BVHTree.FromPolygons(places, faces)
        rows = np.array(places)
        axes = np.linalg.svd(rows - rows.mean(0), full_matrices=False)[2] if len(rows) > 2 else np.eye(3)
        self.width = float(np.ptp((rows - rows.mean(0)) @ axes.T, axis=0)[:2].min())  # across its longest side

    def distance(self, point: Vector) -> float:
        """Return the distance of a point from the surface [Blender units], negative inside."""
        place, normal, _, away = self._tree.find_nearest(point)
        return float(away if self._is_outside(point, place, normal, away) else -away)

    def is_near(self, point: Vector, least: float, within: float) -> bool:
        """Tell whether a point is nearer than `least` to the surface, or at most `within` below it."""
        place, normal, _, away = self._tree.find_nearest(point, within)
        return place is not None and (away < least or not self._is_outside(point, place, normal, away))

    def normal(self, point: Vector) -> Vector:
        """Return the direction (unit length) in which a point is away from the surface."""
        place, normal, _, away = self._tree.find_nearest(point)
        return (point - place) / away if away > 1e-9 and self._is_outside(point, place, normal, away) else normal

    def _is_outside(self, point: Vector, place: Vector, normal: Vector, away: float) -> bool:
        """Tell whether a point is outside, from the nearest `place` and a normal there.

        On an edge or a corner one face alone does not tell, where it is acute: the mean of all that meet there does.
        """
        way = point - place
        height = way.dot(normal)
        if abs(height) < _UPRIGHT * away:
            meeting = self._tree.find_nearest_range(place, _MEETING * self.width)
            height = way.dot(sum((each[1] for each in meeting), Vector()))
        return bool(height >= 0.0)


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


class _Row:
    """A finger in world space: the frame under its first bone (4x4), and its joints."""

    def __init__(self, armature: Object, names: Sequence[str], kind: str, finger: Finger, closing: Vector) -> None:
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
        self.length = armature.matrix_world.to_scale().x * sum(joint.end.length for joint in joints)
        self.spread = bones[0].bone.matrix_local.to_3x3().inverted() @ closing  # axis in the first bone's own frame

    def moved(self, way: Matrix) -> _Row:
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

    def phalanges(
        self, rotations: Sequence[Quaternion], first: int = 0, base: Matrix | None = None
    ) -> list[tuple[Vector, Vector]]:
        """Return both ends of each phalanx in world space, for rotations of the bones from rest.

        They are those from the `first` bone on, which is on a `base` (4x4, world space), by default the finger's own.
        """
        frame, found = self.root if base is None else base, []
        for joint, rotation in zip(self.joints[first:], rotations, strict=True):
            frame = joint.after(frame, rotation)
            found.append((frame.translation, frame @ joint.end))
        return found


class ClosedFinger(NamedTuple):
    """A finger that is closed: the rotations of its bones from rest, and the clearance of each phalanx.

    The clearance is the distance of its skin from the surface [Blender units], `ends` both ends of each phalanx.
    """

    names: tuple[str, ...]
    rotations: tuple[Quaternion, ...]
    clearances: tuple[float, ...]
    ends: tuple[tuple[Vector, Vector], ...]
    touching: float

    @property
    def touches(self) -> int:
        """Number of phalanges that touch."""
        return sum(each <= self.touching for each in self.clearances)

    @property
    def left(self) -> float:
        """The sum of the distances of the phalanges that do not touch."""
        return sum(each for each in self.clearances if each > self.touching)


class ClosedHand(NamedTuple):
    """A hand around an object: fingers from the index finger on, and the thumb; `opposition` is the largest angle
    between the directions in which thumb and a finger touch [rad], 0 where one of them does not."""

    fingers: tuple[ClosedFinger, ...]
    thumb: ClosedFinger | None
    opposition: float
    radius: float

    @property
    def all(self) -> tuple[ClosedFinger, ...]:
        """The fingers and the thumb."""
        return (*self.fingers, *([self.thumb] if self.thumb else ()))

    @property
    def penetration(self) -> float:
        """The depth of the deepest phalanx in the object [Blender units]."""
        return max(0.0, *(-each for finger in self.all for each in finger.clearances))


class GraspingHand:
    """A hand of an evaluated armature, in world space. Raises RigError for a bone that is no hand with fingers."""

    def __init__(self, armature: Object, hand: str) -> None:
        body = rest_body(armature)
        found = hand_of(body, find_bone(armature, hand).name)
        if found is None:
            raise RigError(f"'{hand}' is no hand whose fingers are known. Choose a hand with two fingers or more.")
        self.name, world = hand, armature.matrix_world
        bone = armature.pose.bones[hand]
        turn = world.to_3x3() @ (bone.matrix.to_3x3() @ bone.bone.matrix_local.to_3x3().inverted())
        self.palm, self.along, self.row = ((turn @ way).normalized() for way in (found.palm, found.along, found.row))
        self.rows = [_Row(armature, each.bones, "finger", each, found.palm) for each in found.fingers]
        across = found.palm + found.row
        self.thumb = _Row(armature, found.thumb.bones, "thumb", found.thumb, across) if found.thumb else None
        self.wrist = world @ bone.head
        self.knuckles = [(world @ armature.pose.bones[each.bones[0]].head) for each in found.fingers]
        self.size = sum((each - self.wrist).length for each in self.knuckles) / len(self.knuckles)
        self.radius, self.touching = _RADIUS * self.size, _TOUCHING * self.size
        self._turns = self._thumb_turns(found, armature) if found.thumb else []

    def _thumb_turns(self, hand: Hand, armature: Object) -> list[Quaternion]:
        """Return rotations of the thumb's first bone, in its own axes, that bring it across the palm."""
        rest = armature.data.bones[hand.thumb.bones[0]].matrix_local.to_quaternion() if hand.thumb else Quaternion()
        side = 1.0 if hand.along.cross(-hand.row).dot(hand.palm) > 0.0 else -1.0
        out = hand.along.cross(hand.palm)
        turns = (
            Quaternion(hand.along, side * radians(across))
            @ Quaternion(out, radians(outwards))
            @ Quaternion(hand.palm, side * radians(away))
            for across, outwards, away in product(_ACROSS, _OUT, _AWAY)
        )
        return [rest.conjugated() @ turn @ rest for turn in turns]

    @property
    def opening(self) -> float:
        """The greatest distance between the tips of thumb and fingers while the hand is open [Blender units]."""
        tips = [_straight(row)[-1][1] for row in self.rows]
        if self.thumb is None:
            return max((tip - knuckle).length for tip, knuckle in zip(tips, self.knuckles, strict=True))
        turned = [self._turned(turn, 0.0) for turn in self._turns]
        return max((self.thumb.phalanges(each)[-1][1] - tip).length for each in turned for tip in tips)

    def _turned(self, turn: Quaternion, angle: float) -> list[Quaternion]:
        joints = self.thumb.joints if self.thumb else []
        return [joint.rotation(angle, turn if number == 0 else None) for number, joint in enumerate(joints)]

    def check(self, surface: HeldSurface, name: str, scene: Scene) -> None:
        """Raise TargetError for an object that is out of the hand's reach, or larger than the hand opens."""
        middle = sum(self.knuckles, Vector()) / len(self.knuckles)
        away = surface.distance(middle)
        if away > _REACH * self.size:
            raise TargetError(
                f"'{name}' is {distance_text(away, scene)} away from the knuckles of '{self.name}', out of the reach "
                "of its fingers. Move the hand to it first, by Reach or by its target."
            )
        if surface.width > self.opening:
            thick, opening = distance_text(surface.width, scene), distance_text(self.opening, scene)
            raise TargetError(
                f"'{name}' is {thick} thick, more than '{self.name}' opens ({opening}). Choose a smaller object, or a "
                "mesh of the part to hold, such as a handle."
            )

    def settle(self, surface: HeldSurface) -> tuple[Matrix, ClosedHand]:
        """Return the transform (4x4, world space) by which the hand holds a surface best, and the hand closed there.

        The palm comes to the surface, and the hand shifts and turns by at most 2 cm of a grown-up's and 15 degrees.
        The first of a few places is taken at which three fingers touch and the thumb is opposite.
        """
        found = []
        for way in self._ways(surface):
            closed = self.moved(way).close(surface)
            fingers = min(_ENOUGH, sum(finger.touches > 0 for finger in closed.fingers))
            rank = fingers, min(closed.opposition, _OPPOSED), sum(finger.touches for finger in closed.all)
            found.append((rank, way, closed))
            if rank[:2] >= (_ENOUGH, _OPPOSED):
                break
        _, way, closed = max(found, key=lambda each: each[0])
        return way, closed

    def _ways(self, surface: HeldSurface) -> Iterator[Matrix]:
        """Yield transforms of the hand to try: with the palm on the surface, turned, and a little off it."""
        middle = sum(self.knuckles, self.wrist) / (len(self.knuckles) + 1)
        side = 1.0 if self.along.cross(-self.row).dot(self.palm) > 0.0 else -1.0
        most = _SHIFT * self.size
        for turn, off, along in _PLACES:
            about = Matrix.Translation(middle) @ Matrix.Rotation(radians(turn) * side, 4, self.along)
            way = about @ Matrix.Translation(-middle)
            moved = self.moved(way)
            by = moved.palm * (moved.clearance(surface) - off * most) + self.along * (along * most)
            by = by * min(1.0, most / by.length) if by.length else by
            yield Matrix.Translation(by) @ way

    def clearance(self, surface: HeldSurface) -> float:
        """Return how far the hand can move along its palm until that touches; negative where it is in the surface."""
        places = [self.wrist.lerp(knuckle, share) for knuckle in self.knuckles for share in (0.5, 0.8, 1.0)]
        moved = 0.0
        for _ in range(4):
            moved += min(surface.distance(place + self.palm * moved) for place in places) - _PALM * self.size
        return moved

    def moved(self, way: Matrix) -> GraspingHand:
        """Return the hand after a rigid motion (4x4, world space)."""
        hand, turn = copy(self), way.to_3x3()
        hand.palm, hand.along, hand.row = turn @ self.palm, turn @ self.along, turn @ self.row
        hand.wrist, hand.knuckles = way @ self.wrist, [way @ each for each in self.knuckles]
        hand.rows = [row.moved(way) for row in self.rows]
        hand.thumb = self.thumb.moved(way) if self.thumb else None
        return hand

    def close(self, surface: HeldSurface) -> ClosedHand:
        """Return the hand closed around a surface."""
        fingers = tuple(self._best(row, surface) for row in self.rows)
        touching = [place for finger in fingers for place in _touched(finger)]
        normals = [surface.normal(place) for place in touching]
        thumb, opposition = self._best_thumb(surface, fingers, normals) if self.thumb else (None, 0.0)
        return ClosedHand(fingers, thumb, opposition, self.radius)

    def _best_thumb(
        self, surface: HeldSurface, fingers: Sequence[ClosedFinger], normals: Sequence[Vector]
    ) -> tuple[ClosedFinger | None, float]:
        """Return the thumb that touches most opposite of the fingers, and the angle [rad]."""
        found: list[tuple[tuple[float, float], float, ClosedFinger, Quaternion]] = []
        first, *others = _SHARES["thumb"]
        is_free = _Gaps(fingers, 1.5 * self.radius)

        def add(turn: Quaternion, shares: Sequence[float]) -> None:
            closed = self._closed(self.thumb, shares, surface, turn)
            if closed is not None and is_free(closed):
                own = [surface.normal(place) for place in _touched(closed)]
                angle = max((one.angle(other, 0.0) for one in own for other in normals), default=0.0)
                least = min(max(each, 0.0) for each in closed.clearances)
                rank = min(angle, _OPPOSITE) if own else -least, closed.touches - closed.left / self.size
                found.append((rank, angle, closed, turn))

        for turn in self._turns:
            add(turn, first)
        for *_, turn in sorted(found, key=lambda each: each[0], reverse=True)[:_BEST]:
            for shares in others:
                add(turn, shares)
        if not found:
            return None, 0.0
        _, angle, closed, _ = max(found, key=lambda each: each[0])
        return closed, angle

    def _best(self, row: _Row, surface: HeldSurface) -> ClosedFinger:
        """Return a finger closed by the shares with which most phalanges touch; straight where it is blocked."""
        closed = [each for shares in _SHARES["finger"] if (each := self._closed(row, shares, surface)) is not None]
        if not any(each.touches for each in closed):
            for turn in (Quaternion(row.spread, radians(angle)) for angle in _SPREADS):
                found = (self._closed(row, shares, surface, turn) for shares in _SHARES["finger"][:2])
                closed += [each for each in found if each is not None]
        if not closed:
            return self._at(row, [joint.rotation(0.0) for joint in row.joints], surface)
        return max(closed, key=lambda each: (each.touches, -each.left))

    def _at(self, row: _Row, rotations: Sequence[Quaternion], surface: HeldSurface) -> ClosedFinger:
        ends = row.phalanges(rotations)
        clear = (min(surface.distance(a.lerp(b, share)) for share in _ALONG) - self.radius for a, b in ends)
        names = tuple(joint.name for joint in row.joints)
        return ClosedFinger(names, tuple(rotations), tuple(clear), tuple(ends), self.touching)

    def _closed(
        self, row: _Row | None, shares: Sequence[float], surface: HeldSurface, turn: Quaternion | None = None
    ) -> ClosedFinger | None:
        """Return a finger closed by these shares of its joints; None if it is in the object while it is open."""
        if row is None:
            return None
        joints, last = row.joints, len(row.joints) - 1
        rates = [
            shares[min(number, 2)] if not isinstance(joint.freedom, Locked) else 0.0
            for number, joint in enumerate(joints)
        ]

        def rotation(number: int, angle: float) -> Quaternion:
            return joints[number].rotation(angle, None if number else turn)

        def blocked(angles: Sequence[float], first: int, within: float) -> int:
            """Return the last phalanx from `first` on that is in the object, `within` it at most; -1 if none is."""
            ends = row.phalanges([rotation(n, angles[n]) for n in range(first, last + 1)], first, base)
            for number in range(last, first - 1, -1):
                a, b = ends[number - first]
                if any(surface.is_near(a.lerp(b, share), self.radius, within) for share in _ALONG):
                    return number
            return -1

        angles, base = [0.0] * len(joints), row.root
        if blocked(angles, 0, _FAR) >= 0:
            angles[0] = _OPENED
            if blocked(angles, 0, _FAR) >= 0:
                return None
        within = self.radius + _STEP * row.length * sum(rates)  # a step goes no deeper from outside
        first = 0
        while first <= last:
            moved = [
                min(angle + _STEP * rate, joint.upper) if n >= first else angle
                for n, (angle, rate, joint) in enumerate(zip(angles, rates, joints, strict=True))
            ]
            if all(abs(a - b) < 1e-6 for a, b in zip(moved, angles, strict=True)):
                break
            hit = blocked(moved, first, within)
            if hit < 0:
                angles = moved
                continue
            low, high = 0.0, 1.0
            for _ in range(_HALVINGS):
                share = (low + high) / 2.0
                part = [a + (b - a) * share for a, b in zip(angles, moved, strict=True)]
                found = blocked(part, first, within)
                low, high, hit = (share, high, hit) if found < 0 else (low, share, found)
            angles = [a + (b - a) * low for a, b in zip(angles, moved, strict=True)]
            for number in range(first, hit + 1):
                base = joints[number].after(base, rotation(number, angles[number]))
            first = hit + 1
        return self._at(row, [rotation(n, angle) for n, angle in enumerate(angles)], surface)


class _Gaps:
    """Fingers that are closed, as segments: a thumb may not come nearer to them than `least` with its phalanges."""

    def __init__(self, fingers: Sequence[ClosedFinger], least: float) -> None:
        segments = [ends for finger in fingers for ends in finger.ends]
        self._starts, self._least = np.array([a for a, _ in segments]), least
        self._ways = np.array([b - a for a, b in segments])
        self._squares = np.maximum((self._ways**2).sum(1), 1e-12)

    def __call__(self, thumb: ClosedFinger) -> bool:
        """Tell whether a thumb is clear of the fingers, but for its root."""
        points = np.array([a.lerp(b, share) for a, b in thumb.ends[1:] for share in (0.5, 1.0)])
        apart = points[:, None] - self._starts
        along = np.clip(np.einsum("psx,sx->ps", apart, self._ways) / self._squares, 0.0, 1.0)
        return bool(np.linalg.norm(apart - along[..., None] * self._ways, axis=2).min() > self._least)


def _straight(row: _Row) -> list[tuple[Vector, Vector]]:
    return row.phalanges([joint.rotation(0.0) for joint in row.joints])


def _touched(finger: ClosedFinger) -> list[Vector]:
    """Return the middles of the phalanges that touch."""
    pairs = zip(finger.ends, finger.clearances, strict=True)
    return [(a + b) / 2.0 for (a, b), clear in pairs if clear <= finger.touching]

# SPDX-License-Identifier: GPL-3.0-or-later
"""Hands that close around an object where they hold it best, and how they open before and after.

Of each finger, closed in several ways, the one with the most phalanges that touch is taken. The thumb is turned across
the palm as well, to the place that is most opposite of the fingers.

A finger that bends less at every joint is outside of where it was: so it opens along its own flexion, no further than
the motion of the hand wants. A thumb that is still in the way opens elsewhere, as near to its grasp as is clear, so
that neither passes through the object.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from copy import copy
from itertools import product
from math import inf, radians
from typing import NamedTuple

import numpy as np
from bpy.types import Object, Scene
from mathutils import Matrix, Quaternion, Vector

from ..errors import RigError, TargetError
from .anatomy.hands import Hand, hand_of
from .anatomy.limbs import rest_body
from .armature import find_bone
from .fingers import ClosedFinger, FingerRow, HeldSurface
from .units import distance_text

_PALM = 0.13  # half the thickness of the palm, in lengths from the wrist to the knuckles
_SHIFT = 0.21  # the same of the most that a hand may shift: 2 cm
_REACH = 2.2  # the same of a hand with its fingers
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

_OPENINGS = (0.5, 0.75, 1.0)  # of the way to the straight finger
_CLEAR = 0.005  # depth in lengths from the wrist to the knuckles that is let pass: 0.5 mm of a grown-up's


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
        self.wrist = world @ bone.head
        self.knuckles = [(world @ armature.pose.bones[each.bones[0]].head) for each in found.fingers]
        self.size = sum((each - self.wrist).length for each in self.knuckles) / len(self.knuckles)
        self.rows = [FingerRow(armature, each.bones, "finger", each, found.palm, self.size) for each in found.fingers]
        across, thumb = found.palm + found.row, found.thumb
        self.thumb = FingerRow(armature, thumb.bones, "thumb", thumb, across, self.size) if thumb else None
        self.radius = self.rows[0].radius
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
    def open_thumbs(self) -> list[list[Quaternion]]:
        """The rotations of the bones of the straight thumb, turned in each way."""
        thumb = self.thumb
        return [thumb.rotations([0.0] * len(thumb.joints), turn) for turn in self._turns] if thumb else []

    @property
    def opening(self) -> float:
        """The greatest distance between the tips of thumb and fingers while the hand is open [Blender units]."""
        tips = [row.straight()[-1][1] for row in self.rows]
        if self.thumb is None:
            return max((tip - knuckle).length for tip, knuckle in zip(tips, self.knuckles, strict=True))
        return max((self.thumb.straight(turn)[-1][1] - tip).length for turn in self._turns for tip in tips)

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
        best, found = (-1, -inf, -1), None
        for way in self._ways(surface):
            hand = self.moved(way)
            fingers = hand._close_fingers(surface)
            touching = min(_ENOUGH, sum(finger.touches > 0 for finger in fingers))
            if touching < best[0]:
                continue
            closed = hand._with_thumb(fingers, surface)
            rank = touching, min(closed.opposition, _OPPOSED), sum(finger.touches for finger in closed.all)
            if rank > best:
                best, found = rank, (way, closed)
            if best[:2] >= (_ENOUGH, _OPPOSED):
                break
        return found

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
        return self._with_thumb(self._close_fingers(surface), surface)

    def _close_fingers(self, surface: HeldSurface) -> tuple[ClosedFinger, ...]:
        return tuple(self._best(row, surface) for row in self.rows)

    def _with_thumb(self, fingers: tuple[ClosedFinger, ...], surface: HeldSurface) -> ClosedHand:
        """Return the hand with these fingers and the thumb that touches most opposite of them."""
        normals = [surface.normal(place) for finger in fingers for place in _touched(finger)]
        found: list[tuple[tuple[float, float], float, ClosedFinger, Quaternion]] = []
        first, *others = _SHARES["thumb"]
        is_free = _Gaps(fingers, 1.5 * self.radius)

        def add(thumb: FingerRow, turn: Quaternion, ways: Sequence[Sequence[float]]) -> None:
            for closed in filter(is_free, thumb.closed(ways, surface, turn)):
                own = [surface.normal(place) for place in _touched(closed)]
                angle = max((one.angle(other, 0.0) for one in own for other in normals), default=0.0)
                least = min(max(each, 0.0) for each in closed.clearances)
                rank = min(angle, _OPPOSITE) if own else -least, closed.touches - closed.left / self.size
                found.append((rank, angle, closed, turn))

        if self.thumb:
            for turn in self._turns:
                add(self.thumb, turn, [first])
            for *_, turn in sorted(found, key=lambda each: each[0], reverse=True)[:_BEST]:
                add(self.thumb, turn, others)
        if not self.thumb or not found:
            return ClosedHand(fingers, None, 0.0, self.radius)
        _, angle, best, _ = max(found, key=lambda each: each[0])
        return ClosedHand(fingers, self.thumb.at(best.rotations, surface, best.opened), angle, self.radius)

    def _best(self, row: FingerRow, surface: HeldSurface) -> ClosedFinger:
        """Return a finger closed by the shares with which most phalanges touch; straight where it is blocked."""
        closed = list(row.closed(_SHARES["finger"], surface))
        if not any(each.touches for each in closed):
            for turn in (Quaternion(row.spread, radians(angle)) for angle in _SPREADS):
                closed += row.closed(_SHARES["finger"][:2], surface, turn)
        if not closed:
            return row.at(row.rotations([0.0] * len(row.joints)), surface)
        best = max(closed, key=lambda each: (each.touches, -each.left))
        return row.at(best.rotations, surface, best.opened)


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


def _touched(finger: ClosedFinger) -> list[Vector]:
    """Return the middles of the phalanges that touch."""
    pairs = zip(finger.ends, finger.clearances, strict=True)
    return [(a + b) / 2.0 for (a, b), clear in pairs if clear <= finger.touching]


class Stage(NamedTuple):
    """A moment on the way from the finger's own pose by the open one to the grasp.

    `closed` is 0 while the hand is open, and 1 in the grasp; -1 is the own pose. `way` is that of the hand (4x4, world
    space) from where it is in the grasp, relative to the object.
    """

    closed: float
    way: Matrix


def open_rotations(
    hand: GraspingHand,
    grasp: ClosedHand,
    surface: HeldSurface,
    stages: Sequence[Stage],
    own: Sequence[Sequence[Quaternion]],
) -> tuple[list[tuple[Quaternion, ...]], bool]:
    """Return rotations from rest of the bones of each finger and the thumb while open, and whether all are clear.

    `own` has the rotations of each before the hand opens, or after it has let go.
    """
    rows = [*hand.rows, *([hand.thumb] if hand.thumb and grasp.thumb else [])]
    found, clear, all_clear = [], _CLEAR * hand.size, True
    for row, finger, before in zip(rows, grasp.all, own, strict=True):
        moved = [(stage.closed, row.moved(stage.way)) for stage in stages]
        ways = [_between(finger.rotations, finger.opened, share) for share in _OPENINGS]
        if finger is grasp.thumb:
            others = (tuple(each) for each in hand.open_thumbs)
            ways += sorted(others, key=lambda each: finger.opened[0].rotation_difference(each[0]).angle)
        best, least = ways[-1], (inf, inf)
        for way in ways:
            depths = [(closed, each.depth(_at(closed, before, way, finger), surface)) for closed, each in moved]
            # An own pose that is in the object itself is not to be paid for while the hand closes.
            closing, opening = (
                max((depth for closed, depth in depths if (closed < 0.0) == is_own), default=-inf)
                for is_own in (False, True)
            )
            if (max(closing, clear), opening) < least:
                best, least = way, (max(closing, clear), opening)
            if max(least) <= clear:
                break
        found.append(best)
        all_clear = all_clear and max(least) <= clear
    return found, all_clear


def _at(
    closed: float, own: Sequence[Quaternion], way: Sequence[Quaternion], finger: ClosedFinger
) -> tuple[Quaternion, ...]:
    """Return the rotations of a finger at a stage, with keys that ease in and out."""
    share = abs(closed)
    share *= share * (3.0 - 2.0 * share)
    return _between(way, finger.rotations if closed >= 0.0 else own, share)


def _between(a: Sequence[Quaternion], b: Sequence[Quaternion], share: float) -> tuple[Quaternion, ...]:
    return tuple(one.slerp(other, share) for one, other in zip(a, b, strict=True))

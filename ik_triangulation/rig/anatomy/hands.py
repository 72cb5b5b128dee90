# SPDX-License-Identifier: GPL-3.0-or-later
"""The direction in which fingers close: towards the palm of their hand, whatever way it faces at rest."""

from __future__ import annotations

from typing import NamedTuple

from mathutils import Vector

from .limbs import BodyLimb, RestBody

_THUMBS = {"thumb", "finger 0"}  # names of the finger that is a thumb
_FEWEST = 2  # fingers besides the thumb that tell where the palm is
_ORDER = ("index", "middle", "ring", "little")
_NEAR = 0.5  # of the length of a hand: distance of its copies
_FLAT = 0.1  # least product of the unit directions of fingers and knuckles


class Finger(NamedTuple):
    """The `bones` of a finger, its `root` and the direction `along` it at rest, armature space."""

    name: str
    root: Vector
    along: Vector
    bones: tuple[str, ...]


class Hand(NamedTuple):
    """Unit directions of a hand at rest: out of its `palm`, and from the first knuckle to the last; its fingers.

    `fingers` begin at the index finger and do not have the `thumb`, which is None if the hand has none.
    """

    palm: Vector
    row: Vector
    thumb: Finger | None
    fingers: tuple[Finger, ...]

    @property
    def along(self) -> Vector:
        """The unit direction of the fingers at rest, square to palm and knuckles."""
        mean = sum((finger.along for finger in self.fingers), Vector())
        return (mean - self.palm * mean.dot(self.palm) - self.row * mean.dot(self.row)).normalized()


def hand_of(body: RestBody, bone: str) -> Hand | None:
    """Return the hand that is at a bone: of its fingers, or else of those of a bone at its place, such as a copy.

    None for a bone that is no hand, and for a hand whose fingers do not tell its palm.
    """
    part = body.part(bone)
    if part is None or part.part != "hand":
        return None
    place, length = Vector(body.bones[bone].head), body.bones[bone].length

    def away(finger: str) -> float:
        """Return the distance of the hand that bears a finger, in lengths of this one."""
        above = body.hand_above(finger)
        at = Vector(body.bones[above].head) if above else place + Vector((length, 0.0, 0.0))
        return float((at - place).length) - (bone == above) * length

    fingers = [n for n in body.bones if (each := body.part(n)) and (each.part, each.side) == ("finger", part.side)]
    nearest = min(fingers, key=away, default=None)
    return _hand(body, nearest) if nearest is not None and away(nearest) <= _NEAR * length else None


def palm_of(body: RestBody, name: str) -> Vector | None:
    """Return the direction out of the palm of the hand on which the finger grows that a bone belongs to.

    Armature space, unit length. None for what is no finger, and for hands whose fingers do not tell it: it is square to
    the fingers and to the row of their knuckles, which begins at the thumb.
    """
    hand = _hand(body, name)
    return hand and hand.palm


def closing_direction(body: RestBody, name: str) -> Vector | None:
    """Return the direction in which the finger that a bone belongs to closes, as palm_of(); a thumb across as well."""
    hand, part = _hand(body, name), body.part(name)
    if hand is None or part is None:
        return None
    is_thumb = hand.thumb is not None and hand.thumb.name == part.finger
    return (hand.palm + hand.row).normalized() if is_thumb else hand.palm


def _hand(body: RestBody, name: str) -> Hand | None:
    part = body.part(name)
    if part is None or part.part != "finger" or part.side not in {"L", "R"}:
        return None
    fingers = [_finger(body, limb) for limb in body.limbs_of_hand(name)]
    thumb = _thumb(fingers)
    others = [finger for finger in fingers if finger is not thumb]
    if len(others) < _FEWEST:
        return None
    along = sum((finger.along for finger in others), Vector()).normalized()
    row = _row(others, thumb, along)
    if row is None:
        return None
    palm = row.cross(along) if part.side == "L" else along.cross(row)
    others.sort(key=lambda finger: finger.root.dot(row))
    return Hand(palm.normalized(), row, thumb, tuple(others)) if palm.length > _FLAT else None


def _finger(body: RestBody, limb: BodyLimb) -> Finger:
    """Return a finger from its first to its last joint; of one bone, to its end."""
    first, last = body.bones[limb.bones[0]], body.bones[limb.bones[-1]]
    root = Vector(first.head)
    end = Vector(last.head) if len(limb.bones) > 1 else Vector(last.tail)
    part = body.part(limb.bones[0])
    return Finger(part.finger if part else "", root, (end - root).normalized(), limb.bones)


def _thumb(fingers: list[Finger]) -> Finger | None:
    """Return the thumb: the finger that is called so, else of five the one that points away from the others most."""
    named = next((finger for finger in fingers if finger.name in _THUMBS), None)
    if named is not None or len(fingers) < 5:
        return named
    mean = sum((finger.along for finger in fingers), Vector())
    return min(fingers, key=lambda finger: finger.along.dot(mean))


def _row(fingers: list[Finger], thumb: Finger | None, along: Vector) -> Vector | None:
    """Return the direction from the first knuckle to the last one, square to the fingers; None if none is first."""
    pairs = ((one, other) for one in fingers for other in fingers)
    first, last = max(pairs, key=lambda pair: (pair[0].root - pair[1].root).length)
    row = last.root - first.root
    if thumb is not None:
        away = (last.root - thumb.root).length - (first.root - thumb.root).length
    elif first.name in _ORDER and last.name in _ORDER:
        away = float(_ORDER.index(last.name) - _ORDER.index(first.name))
    else:
        return None
    row = row if away > 0.0 else -row
    row -= along * row.dot(along)
    return row.normalized() if row.length > 0.0 else None

# SPDX-License-Identifier: GPL-3.0-or-later
"""The open hand before and after a grasp, from which fingers and thumb come to the object without passing through it.

A finger that bends less at every joint is outside of where it was: so it opens along its own flexion, no further than
the motion of the hand wants. A thumb that is still in the way opens elsewhere, as near to its grasp as is clear.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import inf
from typing import NamedTuple

from mathutils import Matrix, Quaternion

from .fingers import ClosedFinger
from .hand import ClosedHand, GraspingHand
from .surface import HeldSurface

_OPENINGS = (0.5, 0.75, 1.0)  # of the way to the straight finger
_CLEAR = 0.005  # depth in lengths from the wrist to the knuckles that is let pass: 0.5 mm of a grown-up's


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

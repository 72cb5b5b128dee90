# SPDX-License-Identifier: GPL-3.0-or-later
"""Triangulation along a path: one pass at every frame, each from the one before, joint by joint instead of by frame.

A pass goes from the root to the tip. So what it does to a joint depends on the joints before it at the same frame, and
on its own rotation at the frame before, but on no joint after it: all frames of the root come first, as directions of
its link in the frame that it rotates in, then those of the next joint. The rotations are the products of the smallest
ones between these directions. All that is left frame by frame is one triangle in plain numbers.
"""

from __future__ import annotations

from collections.abc import Callable
from math import cos, hypot, sin
from typing import NamedTuple

import numpy as np

from ...kinematics import Chain
from ...kinematics.arrays import Numbers
from ...kinematics.batch.algebra import (
    IDENTITY,
    compose,
    cross,
    dot,
    lengths,
    matrices,
    normalized,
    product,
    rotate,
    rotate_back,
)
from ..triangle import NOWHERE, ROUNDING, flat_or_corner

_PARALLEL = 1e-5  # sine below which link and aim have no plane
_TURNED_BACK = -0.99  # cosine of an angle between directions from which on the smallest rotation is not computed here
_RIGID = 1e-5  # deviation of the parent's frame from a rotation up to which it is one


class Course(NamedTuple):
    """Course of the root's parent, `turned` (3, 3, F or 1) and at `places` (3, F or 1), and the `aims` (3, F).

    All in armature space.
    """

    turned: Numbers
    places: Numbers
    aims: Numbers


class Followed(NamedTuple):
    """Rotations (n, 4, F) of the first frames, and distances (F) from the aim before and after each pass.

    There may be fewer frames than were asked for, or none: the next one has no smallest rotation or no plane to bend
    in.
    """

    rotations: Numbers
    before: Numbers
    after: Numbers


Follow = Callable[[Chain, Numbers, Course], Followed]  # from the rotations (n, 4) before the first frame


def can_follow(chain: Chain, turned: Numbers) -> bool:
    """Whether joints do not depend on those after them: chains without limits and scaled bones."""
    off = compose(turned.swapaxes(0, 1), turned) - IDENTITY
    return chain.plain and not chain.limited and bool(np.abs(off).max(initial=0.0) < _RIGID)


def triangulated(chain: Chain, start: Numbers, course: Course) -> Followed:
    """One pass of triangulation at each frame of a course; `start` has the rotations (n, 4) before the first one."""
    turned, places, aims = course
    slack, nowhere = ROUNDING * chain.reach, NOWHERE * chain.reach
    rotations: list[Numbers] = []
    head, socket = _root(chain, turned, places)
    for i, (offset, length, span) in enumerate(zip(chain.offsets, chain.lengths, chain.spans, strict=True)):
        count = aims.shape[1]
        along, first = np.array(offset)[:, None], start[i, :, None]
        own = np.repeat(first, count, 1)
        if length > nowhere and count:
            to_aim = rotate_back(socket, aims - head)
            begun = rotate(matrices(first), along / length)
            directions = _directions(begun[:, 0].tolist(), to_aim, length, span, slack, nowhere)
            count = directions.shape[1]
            every = np.concatenate((begun, directions), 1)
            own = _accumulated(_between(every[:, :-1], every[:, 1:]), first)
        rotations.append(own)
        head, socket, aims = head[:, :count], socket[..., :count], aims[:, :count]
        head, socket = _beyond(chain, i, own, head, socket)
    count = aims.shape[1]
    found = np.array([own[:, :count] for own in rotations])
    after = lengths(aims - head)
    moves = turned.shape[-1] > 1 or places.shape[-1] > 1
    shifted = np.concatenate((start[:, :, None], found[..., :-1]), -1)[..., :count] if moves else start[:, :, None]
    begin, socket = _root(chain, turned[..., :count], places[:, :count])
    for i, own in enumerate(shifted):
        begin, socket = _beyond(chain, i, own, begin, socket)
    if not moves:  # each frame begins where the one before has ended
        begin = np.concatenate((begin, head[:, :-1]), 1)[:, :count]
    return Followed(found, lengths(aims - begin), after)


def _root(chain: Chain, turned: Numbers, places: Numbers) -> tuple[Numbers, Numbers]:
    """Place (3, F) of the root and the frame in which it rotates (3, 3, F)."""
    joint = chain.joints[0]
    head = places + rotate(turned, np.array(joint.offset)[:, None])
    return head, compose(turned, _rest(chain, 0))


def _beyond(chain: Chain, i: int, rotations: Numbers, head: Numbers, socket: Numbers) -> tuple[Numbers, Numbers]:
    """Place of what joint `i` carries, and the frame in which that rotates."""
    frame = compose(socket, matrices(rotations))
    head = head + rotate(frame, np.array(chain.offsets[i])[:, None])
    return head, compose(frame, _rest(chain, i + 1)) if i + 1 < len(chain.joints) else frame


def _rest(chain: Chain, i: int) -> Numbers:
    return matrices(normalized(np.array(chain.joints[i].rest, float)[:, None]))


def _directions(
    start: list[float], to_aim: Numbers, length: float, span: tuple[float, float], slack: float, nowhere: float
) -> Numbers:
    """Directions (3, F) of a link which rotates only so far that its end is within a span from the aim.

    They end before the first frame that leaves the rotation open.
    """
    x, y, z = start
    shortest, longest = span
    least, most = (shortest - slack) ** 2 if shortest > slack else -1.0, (longest + slack) ** 2
    found, twice = list[float](), 2.0 * length
    squares = dot(to_aim, to_aim)
    every = zip(*to_aim.tolist(), squares.tolist(), np.sqrt(squares).tolist(), strict=True)
    for p, q, r, square, distance in every:
        part = x * p + y * q + z * r
        apart = square + length * length - twice * part
        if not least <= apart <= most and distance > nowhere:
            angle = flat_or_corner(slack, length, distance, longest if apart > most else shortest)
            if angle:
                part /= square
                a, b, c = x - p * part, y - q * part, z - r * part
                size = hypot(a, b, c)
                if size <= _PARALLEL:
                    break
                along, across = cos(angle) / distance, sin(angle) / size
                a, b, c = along * p + across * a, along * q + across * b, along * r + across * c
            else:
                a, b, c = p / distance, q / distance, r / distance
            if a * x + b * y + c * z < _TURNED_BACK:
                break
            x, y, z = a, b, c
        found += (x, y, z)
    return np.array(found).reshape(-1, 3).T


def _between(start: Numbers, end: Numbers) -> Numbers:
    """Smallest rotations (4, F) between unit vectors that are not opposite."""
    return normalized(np.concatenate((1.0 + dot(start, end)[None], cross(start, end))))


def _accumulated(turns: Numbers, first: Numbers) -> Numbers:
    """The products (4, F) of all rotations up to each, after the first one (4, 1)."""
    return normalized(product(_products(turns), first))


def _products(turns: Numbers) -> Numbers:
    """The products (4, F) of all rotations up to each: those of pairs, of these likewise, and from each pair the half.

    Source: Ladner and Fischer 1980, "Parallel Prefix Computation".
    """
    count = turns.shape[1]
    if count < 2:
        return turns
    found = np.empty_like(turns)
    found[:, 1::2] = _products(product(turns[:, 1::2], turns[:, : count - 1 : 2]))
    found[:, 0] = turns[:, 0]
    found[:, 2::2] = product(turns[:, 2::2], found[:, 1 : count - 1 : 2])
    return found

# SPDX-License-Identifier: GPL-3.0-or-later
"""A soft edge of reach: limbs that straighten, bend again and turn over some frames beyond their reach.

A limb straightens by the square root of the way that is left, so at the edge of its reach it snaps within a frame or
two. Soft IK (Nicholas 2010, "Inverse kinematics: softening the edge") asks for a distance that approaches the reach and
so misses targets within it. Here every target within the reach is still met, and the limb takes its time beyond: in
frames that are missed in any case its bend goes on from the last frame that is reached, and arrives at the next one, as
a critically damped spring does that starts with the bend and the speed it has there. Bollo 2018 ("Inertialization")
and Holden 2021 ("Spring-it-on") join motions this way. Frames are the last axis of every array.

Joints take their time into and out of such frames as well, whatever their goals ask there. The angle of an elbow has an
infinite slope over the distance at full reach, and a hand that is told its turn adds to that. Frames within reach say
what they say; beside them, in frames that are missed in any case, no joint turns faster than a bound that gets smaller
from frame to frame, until it has come to where it would be. The first joint then aims the tip to where it was aimed.
Source: none.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import pairwise
from math import radians
from typing import NamedTuple

import numpy as np

from ...goals.orientation import OrientTask
from ...goals.task import PlaceTask, Task
from ...kinematics.arrays import Indices, Mask, Numbers
from ...kinematics.batch import Geometry, States, Tree
from ...kinematics.batch.algebra import (
    conjugated,
    exponential,
    lengths,
    normalized,
    product,
    rotate,
    rotate_back,
    rotation_vectors,
)
from ..batch.swings import smallest_rotations
from .giving_way import EDGE, turned_into_reach
from .posture import USUAL_FPS

_QUICKNESS = 0.4  # of the spring: 1 by the frames in which it has come about a quarter of its way, at 30 a second
_STILL = 1e-6  # [rad] of bend that is none
_NOTHING = 1e-300

_FASTEST, _SLOWER, _SLOWEST = radians(11.5), 0.92, radians(6.0)  # a frame at 30 a second: next to a reached one
_NEAR = 0.05  # of the limb's length: a tip that near the first joint has no direction from there


class Pace(NamedTuple):
    """Time of a path: `fps` frames a second, `cuts` at which another motion begins, and whether it is a cycle."""

    fps: float = USUAL_FPS
    cuts: Sequence[int] | Indices = ()
    cyclic: bool = False

    @property
    def rate(self) -> float:
        """30 by the frames a second."""
        return USUAL_FPS / self.fps


class SoftEdge(NamedTuple):
    """Tasks with places and turns within reach, and the frames `soft` (F) in which a place is nearer than that."""

    tasks: list[Task]
    soft: Mask


def softened(values: Numbers, free: Mask, pace: Pace) -> Numbers:
    """Return angles (F) that are led on in `free` frames (F) by springs from the frames before and after them to 0.

    They are kept in all other frames. Where there is no frame before or after, or a cut, that side has no spring.
    """
    found = np.where(free, 0.0, values)
    for run, left, right in runs_of(free, pace):
        count = len(run) + 1
        quickness = _QUICKNESS * pace.rate
        sides = [_Spring.at(values, free, side, quickness) for side in (left, right)]
        t = np.arange(1.0, count)
        if None not in sides:
            a, b = (spring for spring in sides if spring)
            # Each starts at what the other one leaves of the angle there.
            over = np.array([[1.0, b.share(count)], [a.share(count), 1.0]])
            ends = np.array([a.start - b.drift(count), b.start - a.drift(count)])
            starts = np.linalg.solve(over, ends)
            sides = [side._replace(start=start) for side, start in zip((a, b), starts.tolist(), strict=True)]
        total = np.zeros(len(run))
        for spring, times in zip(sides, (t, count - t), strict=True):
            if spring is not None:
                total += spring.start * spring.share(times) + spring.drift(times)
        found[run] = np.maximum(total, 0.0)
    return found


class _Spring(NamedTuple):
    """A critically damped spring that is let go at an angle `start` [rad] with a `speed` [rad a frame], towards 0."""

    start: float
    speed: float
    quickness: float  # 1 by frames

    @classmethod
    def at(cls, values: Numbers, free: Mask, side: tuple[int, int] | None, quickness: float) -> _Spring | None:
        """The spring from the first of two frames, with the speed that the angles have there from the second one."""
        if side is None:
            return None
        near, beyond = side
        start = float(values[near])
        speed = 0.0 if beyond < 0 or free[beyond] else min(float(values[near] - values[beyond]), 0.0)
        return cls(start, speed, max(quickness, -speed / max(start, _STILL)))  # so fast that it does not swing over

    def share(self, t: Numbers | float) -> Numbers:
        """Share of the angle that is left after some frames."""
        return np.asarray((1.0 + self.quickness * t) * np.exp(-self.quickness * t))

    def drift(self, t: Numbers | float) -> Numbers:
        """Angle that the speed makes after some frames."""
        return np.asarray(self.speed * t * np.exp(-self.quickness * t))


def runs_of(free: Mask, pace: Pace) -> Iterator[tuple[Indices, tuple[int, int] | None, tuple[int, int] | None]]:
    """Yield runs of frames that are free, each with the two frames before and after it, the nearer one first.

    None where a path ends; a second frame is -1 where there is none, or where a cut is between the two.
    """
    if free.all():
        return
    count, cuts = len(free), set(np.asarray(pace.cuts, int).tolist())
    begin = np.flatnonzero(~free)[0] if pace.cyclic else 0
    order = (np.arange(count) + begin) % count
    marked = free[order]
    edges = np.flatnonzero(np.diff(np.concatenate(([0], marked, [0]))))
    breaks = [k for k in range(1, count) if int(order[k]) in cuts]
    for first, last in zip(edges[::2].tolist(), edges[1::2].tolist(), strict=True):
        inner = [first, *(k for k in breaks if first < k < last), last]
        for a, b in pairwise(inner):
            yield order[a:b], _side(order, a, -1, cuts, pace.cyclic), _side(order, b - 1, 1, cuts, pace.cyclic)


def _side(order: Indices, end: int, way: int, cuts: set[int], cyclic: bool) -> tuple[int, int] | None:
    """The two frames beside the end of a run on one side of it."""
    found, count = [], len(order)
    for k in (end, end + way):
        after = k + way
        if not (0 <= after < count or cyclic) or int(order[(max(k, after)) % count]) in cuts:
            break
        found.append(int(order[after % count]))
    return (found[0], found[1] if len(found) > 1 else -1) if found else None


def soft_edge(tree: Tree, frames: States, tasks: Sequence[Task], pace: Pace) -> SoftEdge | None:
    """Return the tasks of a limb of two bones and an end that is told how to turn, with a soft edge of its reach.

    Where wrist or ankle are out of reach the end turns for it, as in in_reach(); it turns more while the limb is not
    yet straight, and the tip is at its place as long as that is possible. None where everything is in reach.
    """
    place = next(each for each in tasks if isinstance(each, PlaceTask))
    orient = next(each for each in tasks if isinstance(each, OrientTask))
    first, second = (joint.offset.length for joint in tree.joints[1:])
    size, length = first + second, tree.tips[0].place.length
    edge = EDGE * size
    longest, shortest = size - edge, abs(first - second) + edge
    root = frames.place + rotate(frames.root, np.array(tree.joints[0].offset, float)[:, None])
    line = place.target.place - root
    distance = np.maximum(lengths(line), _NOTHING)
    rotation = np.broadcast_to(orient.rotation, (3, 3, len(frames)))
    link = np.array(tree.tips[0].rotation.inverted() @ tree.tips[0].place)[:, None]
    link = rotate(rotation, np.broadcast_to(link, line.shape))
    apart = lengths(line - link)  # from the root to wrist or ankle
    told, placed = apart <= longest, distance <= longest + length
    if told.all():
        return None
    bend = softened(np.arccos(np.clip(apart / longest, 0.0, 1.0)), ~told, pace)
    # As long as the tip can be at its place the limb is straight enough for that.
    most = np.arccos(np.clip((distance - length) / longest, 0.0, 1.0))
    bend = np.where(placed & ~told, np.minimum(bend, most), bend)
    bend = softened(bend, ~placed, pace)
    long = longest * np.cos(bend)
    cosine = (distance**2 + length**2 - long**2) / np.maximum(2.0 * distance * length, _NOTHING)
    along = lengths(np.cross(link, line, axis=0)), (link * line).sum(0)
    angle = np.arctan2(*along)
    turned = np.where(told, angle, np.minimum(np.arccos(np.clip(cosine, -1.0, 1.0)), angle))
    turned = np.where(placed, turned, np.minimum(softened(turned, ~placed, pace), angle))
    across = length * np.sin(turned)
    shown = length * np.cos(turned) + np.sqrt(np.maximum(long**2 - across**2, 0.0))
    shown = np.where(placed, np.maximum(distance, max(0.0, shortest - length, length - longest)), shown)
    line = line * (shown / distance)
    nearer = replace(place, target=place.target._replace(place=root + line))
    given = replace(orient, rotation=turned_into_reach(rotation, link, line, np.where(told, longest, long), shortest))
    soft = ~placed & ((bend > _STILL) | (turned > _STILL))
    return SoftEdge([nearer if each is place else given if each is orient else each for each in tasks], soft)


def nearer_edge(
    tree: Tree, frames: States, place: PlaceTask, longest: Numbers | float, pace: Pace
) -> tuple[PlaceTask, Mask]:
    """Return the place of a chain's tip, in frames beyond the `longest` distance as near to the root as it bends.

    Returns also the frames in which it is moved (F).
    """
    local = rotate_back(frames.root, place.target.place - frames.place) - tree.offsets[0]
    distance = np.broadcast_to(np.maximum(lengths(local), _NOTHING), len(frames))
    far = distance > longest
    bend = softened(np.arccos(np.clip(distance / longest, 0.0, 1.0)), far, pace)
    soft = far & (bend > _STILL)
    if not soft.any():
        return place, soft
    local = local * np.where(soft, longest * np.cos(bend) / distance, 1.0)
    root = rotate(frames.root, local + tree.offsets[0]) + frames.place
    return replace(place, target=place.target._replace(place=root)), soft


def slowed_limb(tree: Tree, states: States, free: Mask, pace: Pace) -> States:
    """Return states (F) of a limb with a bound on how fast joints but the first turn in `free` frames (F).

    All other frames stay. The tip keeps its direction from the first joint, as far as the limits of that allow.
    """
    slow = slowed(tree, states, range(1, len(tree.joints)), free, pace)
    changed = np.flatnonzero(free & (slow is not states))
    if not len(changed):
        return states
    before, after = (Geometry(tree, each.take(changed)) for each in (states, slow))
    aim = [each.tip() - each.heads[0] for each in (before, after)]
    near = np.minimum(*map(lengths, aim)) < _NEAR * tree.size
    back = [np.where(near, 0.0, rotate_back(after.frames[0][:, :3], way)) for way in aim]
    rotations = tree.rotations(after.states)
    rotations[0] = normalized(product(rotations[0], smallest_rotations(back[1], back[0])))
    slow.put(changed, tree.posed(rotations, after.states))
    return slow


def slowed(
    tree: Tree, states: States, joints: Sequence[int], free: Mask, pace: Pace, fastest: float = _FASTEST
) -> States:
    """Return states (F) in which some joints turn at most so fast [rad] in `free` frames (F) next to others.

    Where they turn slower anyway the states are those that are given.
    """
    given = tree.rotations(states)[list(joints)]
    turns = np.zeros((len(given), 3, len(states)))
    for run, left, right in runs_of(free, pace):
        t = np.arange(1.0, len(run) + 1.0) / (len(run) + 1.0)
        share = t * t * (3.0 - 2.0 * t) if left and right else np.full(len(run), float(left is None))
        for side, way, weight in ((left, run, 1.0 - share), (right, run[::-1], share[::-1])):
            if side is not None:
                turns[..., way] += weight * _turns(given, side[0], way, pace, fastest)
    changed = np.flatnonzero(turns.any((0, 1)))
    if not len(changed):
        return states
    result = states.copy()
    rotations = tree.rotations(states.take(changed))
    rotations[list(joints)] = normalized(product(given[..., changed], exponential(turns[..., changed])))
    result.put(changed, tree.posed(rotations, states.take(changed)))
    return result


def _turns(given: Numbers, near: int, run: Indices, pace: Pace, fastest: float) -> Numbers:
    """Return the turns (n, 3, r) off a run of joints that follow it from the frame `near` it, ever more slowly."""
    turns, now = np.zeros((len(given), 3, len(run))), given[..., near : near + 1]
    for number in range(len(run)):
        own = given[..., run[number : number + 1]]
        way = rotation_vectors(product(conjugated(now), own))
        far = lengths(way)
        most = max(fastest * _SLOWER ** (number * pace.rate), _SLOWEST) * pace.rate
        if (far <= most).all():
            break
        now = normalized(product(now, exponential(way * np.minimum(1.0, most / np.maximum(far, 1e-300))[:, None])))
        turns[..., number : number + 1] = rotation_vectors(product(conjugated(own), now))
    return turns

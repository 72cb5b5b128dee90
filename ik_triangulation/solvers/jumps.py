# SPDX-License-Identifier: GPL-3.0-or-later
"""Where along a path of poses the joints jump, and why.

Source: none; a jump is what an animator sees as a pop, a turn that stands out from those of the frames around it.
"""

from collections.abc import Sequence
from math import acos, radians
from statistics import median
from typing import NamedTuple

from mathutils import Quaternion

from ..kinematics import Pose
from ..kinematics.rotation import rotation_angle
from ..targets import Target
from .soft import Soft

FEW = radians(3.0)  # a joint that turns less in one frame does not jump, however still the others are
TIMES = 3.0  # how many times the median of the frames around it a jump is at least
AROUND = 6  # frames on either side that it is compared with
NEIGHBOURS = 3  # of them at least, or nothing can be said
LEAP = 0.02  # of the reach: a target that moves less in one frame does not jump

TARGET = "the target jumps"
REACH = "the target comes into reach or leaves it"
LIMITS = "no solution within the limits avoids it"
WISHES = "no solution within the limits that is as it shall be avoids it"
LEFT = "the path was not smoothed"

Rotations = Sequence[Quaternion]


class Moment(NamedTuple):
    """One frame of a path, armature space: a `pose` that a solver found for the `target`, what it shall be like besides
    (`soft`), and whether it is near enough (`reached`)."""

    pose: Pose
    target: Target
    soft: Sequence[Soft] = ()
    reached: bool = True


class Turned(NamedTuple):
    """The most that a joint turns from one frame to the next: the latter's index, the joint's name, the angle [rad]."""

    index: int
    joint: str
    angle: float


class Jump(NamedTuple):
    """A turn that stands out from those of the frames around it, and the reason why it is there."""

    turned: Turned
    reason: str


def turn(before: Rotations, after: Rotations) -> float:
    """Largest turn [rad] of a joint from one pose to the next, to 1e-3 rad: single precision tells no less."""
    return 2.0 * acos(min(1.0, min(map(abs, map(Quaternion.dot, before, after)))))


def turns(path: Sequence[Rotations]) -> list[float]:
    """Largest turn [rad] of a joint to each frame from the one before; 0 for the first."""
    return [0.0, *map(turn, path, path[1:])] if path else []


def largest_turn(poses: Sequence[Pose]) -> Turned | None:
    """The largest turn of a joint in one frame; None for a single pose."""
    path = [pose.rotations for pose in poses]
    along = turns(path)[1:]
    return _turned(poses, 1 + along.index(max(along))) if along else None


def jumps(along: Sequence[float], few: float = FEW) -> list[int]:
    """Indices of the frames whose turn stands out from those around it; a turn below `few` does not."""
    return [k for k, angle in enumerate(along) if k and angle > few and _stands_out(along, k)]


def _stands_out(along: Sequence[float], k: int) -> bool:
    around = [*along[max(1, k - AROUND) : k], *along[k + 1 : k + 1 + AROUND]]
    return len(around) >= NEIGHBOURS and along[k] > TIMES * median(around)


def target_jumps(moments: Sequence[Moment], k: int) -> bool:
    """Whether the target of frame `k` is farther from where the frame before left the tip than is usual around it."""
    first = max(1, k - AROUND)
    ways = [_way(*moments[i - 1 : i + 1]) for i in range(first, min(k + AROUND + 1, len(moments)))]
    way = ways.pop(k - first)
    return way > LEAP * moments[k].pose.chain.reach and way > TIMES * median(ways or [0.0])


def _way(before: Moment, now: Moment) -> float:
    """How far the tip has to go when no joint has turned yet, but what carries the chain has moved."""
    carried = Pose(now.pose.chain, now.pose.base, before.pose.rotations).tip
    return float((now.target.closest(carried) - carried).length)


def explained(moments: Sequence[Moment], poses: Sequence[Pose], smoothed: bool) -> list[Jump]:
    """The jumps along a path of `poses` for these moments, each with its reason; `smoothed` is whether it was tried."""
    found = []
    for k in jumps(turns([pose.rotations for pose in poses])):
        moment = moments[k]
        if target_jumps(moments, k):
            reason = TARGET
        elif not (moment.reached and moments[k - 1].reached):
            reason = REACH
        else:
            reason = LEFT if not smoothed else WISHES if moment.soft else LIMITS
        found.append(Jump(_turned(poses, k), reason))
    return found


def _turned(poses: Sequence[Pose], k: int) -> Turned:
    names = [joint.name for joint in poses[k].chain.joints]
    angles = list(map(rotation_angle, poses[k - 1].rotations, poses[k].rotations))
    largest = max(angles)
    return Turned(k, names[angles.index(largest)], largest)

# SPDX-License-Identifier: GPL-3.0-or-later
"""Detection of jumps of the joints along a path of poses, with their reasons.

Source: none. A jump is a pop to an animator: a rotation from one frame to the next that stands out from those around
and that the end effector's own speed does not explain: near the root a limb has to turn fast, by way / lever. The lever
of a joint is its distance to the end effector, or that of the root if it is longer, as the root can make that way too.
"""

from collections.abc import Sequence
from math import acos, radians
from statistics import median
from typing import NamedTuple, Protocol

import numpy as np
from mathutils import Quaternion

from ..goals import Goal
from ..kinematics import Chain, Pose
from ..kinematics.arrays import Indices, Numbers
from ..kinematics.rotation import rotation_angle
from ..solvers import Solution

FEW = radians(3.0)  # smaller rotations in one frame are no jumps
_STILL = radians(0.1)  # smaller rotations count as none
ABRUPT = radians(60.0)  # larger ones stand out wherever they are
TIMES = 3.0  # ratio of a jump to the median of the frames around it
HASTY, WORTH_EASING = 1.5, radians(6.0)  # the same of turns that are worth easing
FAST = radians(9.0)  # larger turns are worth it wherever the speed does not explain them
AROUND = 6  # frames on either side for that median
_NEIGHBOURS = 3  # minimum number of them
_BESIDE = np.concatenate((np.arange(-AROUND, 0), np.arange(1, AROUND + 1)))  # these frames, from the one between
SPEED = 2.0  # ratio of a jump to way / lever, the rotation that the end effector's own motion explains
EXPLAINED = 5.0  # [rad] rotation of a joint that a jump of the target by the whole reach explains
NEAR = 3  # frames within which a change of being in reach explains a jump
LEAP = 0.02  # of the reach: smaller motions of the target in one frame are no jumps

TARGET = "the target jumps"
REACH = "the target comes into reach or leaves it"
FAR = "no pose found as near to the target, which is out of reach, avoids it"
LIMITS = "no solution found within the limits avoids it"
SOFT_GOALS = "no solution found nearby that meets the soft goals avoids it"
LEFT = "the path was not smoothed"
SEAM = "the keys outside the range show another pose"
ROUND = "the keys outside the range are reached the long way round"

Rotations = Sequence[Quaternion]


class PathFrame(Protocol):
    """One frame of a path: its goal and the solution that a solver found for it."""

    @property
    def goal(self) -> Goal:
        """The target and soft goals of the frame, armature space."""

    @property
    def solution(self) -> Solution:
        """The result of the solver."""


class JointStep(NamedTuple):
    """Largest rotation of a joint to the frame of index `at` from the one before: its name and the angle [rad]."""

    at: int
    joint: str
    angle: float


class Jump(NamedTuple):
    """A rotation that stands out from those of the frames around it, and the reason for it."""

    turned: JointStep
    reason: str


def turn(before: Rotations, after: Rotations) -> float:
    """Largest rotation [rad] of a joint between two poses, to the 1e-3 rad that single precision resolves."""
    return 2.0 * acos(min(1.0, min(map(abs, map(Quaternion.dot, before, after)))))


def turns(path: Sequence[Rotations]) -> list[float]:
    """Largest rotation [rad] of a joint to each frame from the one before; 0 for the first."""
    return [0.0, *map(turn, path, path[1:])]


def largest_turn(poses: Sequence[Pose]) -> JointStep | None:
    """The largest rotation of a joint from one frame to the next; None for a single pose."""
    path = [pose.rotations for pose in poses]
    along = turns(path)[1:]
    return turned(poses[0].chain, path, 1 + along.index(max(along))) if along else None


def jumps(along: Sequence[float]) -> list[int]:
    """Indices of the frames whose rotation stands out from those around it."""
    return [int(k) for k in abrupt(np.array(along))]


def abrupt(along: Numbers) -> Indices:
    """Indices of the frames whose rotation stands out from those around it, or is so large that it always does."""
    return np.union1d(standing_out(along, FEW), 1 + np.flatnonzero(along[1:] > ABRUPT))


def hasty(along: Numbers) -> Indices:
    """Indices of the frames whose rotation is larger than those around it, or large in any case."""
    return np.union1d(standing_out(along, WORTH_EASING, HASTY), np.flatnonzero(along > FAST))


def fast(along: Sequence[float]) -> list[int]:
    """Indices of the frames whose rotation stands out from those of all frames with motion."""
    moving = [angle for angle in along if angle > _STILL]
    most = max(FEW, TIMES * median(moving)) if moving else FEW
    return [k for k, angle in enumerate(along) if angle > most]


def standing_out(along: Numbers, least: float, times: float = TIMES) -> Indices:
    """Frames whose value exceeds `least` and so many `times` the median around it; the first frame has none."""
    found = np.flatnonzero(along > least)
    found = found[found > 0]
    around = found[:, None] + _BESIDE
    inside = (around > 0) & (around < len(along))
    values = np.where(inside, along[np.where(inside, around, 0)], np.inf)
    may = along[found] > times * values.min(1, initial=np.inf)  # no median is below the least value
    found, inside, values = found[may], inside[may], np.sort(values[may], 1)
    count, rows = inside.sum(1), np.arange(len(found))
    below, above = np.maximum(count - 1, 0) // 2, np.minimum(count // 2, len(_BESIDE) - 1)
    median = 0.5 * (values[rows, below] + values[rows, above])
    return np.asarray(found[(count >= _NEIGHBOURS) & (along[found] > times * median)], np.intp)


def beyond_speed(frames: Sequence[PathFrame], path: Sequence[Rotations], k: int) -> bool:
    """Tell whether a joint turns more to frame `k` than the way of the end effector explains, as the root sees it.

    A soft goal that can be met, such as an orientation, may ask for more, so that nothing is explained there.
    """
    now = frames[k]
    if any(each.can_be_met for each in now.goal.soft):
        return True
    own = now.solution.pose
    before, after = (Pose(own.chain, own.base, path[i]) for i in (k - 1, k))
    way, long = (after.tip - before.tip).length, (after.tip - after.head(0)).length
    turned_by = map(rotation_angle, path[k - 1], path[k])
    return any(
        angle > FEW and angle * max(long, (after.tip - after.head(i)).length) > SPEED * way
        for i, angle in enumerate(turned_by)
    )


def leap(frames: Sequence[PathFrame], k: int) -> float:
    """Length of a jump of the target at frame `k`, of the reach; 0 if it does not stand out from those around it.

    It is measured from the tip with the rotations of the frame before, so that jumps of the rig count as well.
    """
    first = max(1, k - AROUND)
    moves = [_motion(*frames[i - 1 : i + 1]) for i in range(first, min(k + AROUND + 1, len(frames)))]
    move = moves.pop(k - first)
    return move if move > LEAP and move > TIMES * median(moves or [0.0]) else 0.0


def _motion(before: PathFrame, now: PathFrame) -> float:
    """Distance to the target from the tip as the rig carries it, before any joint rotates; of the reach."""
    own = now.solution.pose
    still = own.base is before.solution.pose.base and own.chain is before.solution.pose.chain
    carried = (before.solution.pose if still else Pose(own.chain, own.base, before.solution.pose.rotations)).tip
    return float((now.goal.target.closest(carried) - carried).length) / own.chain.reach


def reason(frames: Sequence[PathFrame], k: int, smoothed: bool) -> str:
    """The reason for a jump at frame `k` of a path that was `smoothed`, or was not."""
    if leap(frames, k):
        return TARGET
    reached = [frame.solution.reached for frame in frames[max(0, k - NEAR) : k + NEAR]]
    if not all(reached):  # a straight chain bends abruptly
        return REACH if any(reached) else FAR
    if not smoothed:
        return LEFT
    return SOFT_GOALS if any(each.can_be_met for each in frames[k].goal.soft) else LIMITS


def turned(chain: Chain, path: Sequence[Rotations], k: int) -> JointStep:
    """The joint with the largest rotation to frame `k` of a path."""
    angles = list(map(rotation_angle, path[k - 1], path[k]))
    largest = max(angles)
    return JointStep(k, chain.joints[angles.index(largest)].name, largest)

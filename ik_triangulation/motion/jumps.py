# SPDX-License-Identifier: GPL-3.0-or-later
"""Jumps of joints along a path of poses, with their reasons; the path that has fewest of them; and the costs of a path.

A jump is a pop to an animator: a rotation from one frame to the next that stands out from those around and that the end
effector's own speed does not explain: near the root a limb has to turn fast, by distance / lever. The lever of a joint
is its distance to the end effector, or that of the root if it is longer, as the root can make that distance too. The
rules are the same for poses and for arrays whose last axis is frames. Source: none.

Shortest path through several candidate poses a frame. Source: Viterbi 1967, "Error bounds for convolutional codes and
an asymptotically optimum decoding algorithm". The cost of a step is the square of the sum of the squared rotations of
all joints, since one large rotation is worse than many small ones.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from itertools import pairwise
from math import acos, radians
from statistics import median
from typing import NamedTuple, Protocol

import numpy as np
from mathutils import Quaternion

from ..cooperative import Work
from ..goals import Goal
from ..goals.task import Task
from ..kinematics import Chain, Cost, Pose
from ..kinematics.arrays import Indices, Numbers, blocks, einsum
from ..kinematics.batch import Geometry, States, Tree
from ..kinematics.batch.algebra import lengths, matrices, rotate
from ..kinematics.batch.limit_arrays import LimitArrays
from ..kinematics.pose import SMALLEST_TURN
from ..kinematics.rotation import rotation_angle
from ..solvers import Solution

FEW = radians(3.0)  # smaller rotations in one frame are no jumps
_STILL = radians(0.1)  # smaller rotations count as none
ABRUPT = radians(60.0)  # larger ones are outliers wherever they are
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

PAID = 0.005  # share of the cost of a step that a frame pays for the same distance from the path given


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
    """An outlier among the rotations of the frames around it, and the reason for it."""

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
    """Indices of the frames whose rotation is an outlier among those around it."""
    return [int(k) for k in abrupt(np.array(along))]


def abrupt(along: Numbers) -> Indices:
    """Indices of the frames whose rotation is an outlier among those around it, or so large that it always is."""
    found, large = standing_out(along, FEW), 1 + (along[1:] > ABRUPT).nonzero()[0]
    return np.union1d(found, large) if len(large) else found


def hasty(along: Numbers) -> Indices:
    """Indices of the frames whose rotation is larger than those around it, or large in any case."""
    return np.union1d(standing_out(along, WORTH_EASING, HASTY), (along > FAST).nonzero()[0])


def fast(along: Sequence[float]) -> list[int]:
    """Indices of the frames whose rotation is an outlier among those of all frames with motion."""
    moving = [angle for angle in along if angle > _STILL]
    most = max(FEW, TIMES * median(moving)) if moving else FEW
    return [k for k, angle in enumerate(along) if angle > most]


def standing_out(along: Numbers, least: float, times: float = TIMES) -> Indices:
    """Frames whose value exceeds `least` and `times` the median around it; the first frame has none."""
    found = (along > least).nonzero()[0]
    found = found[found > 0]
    if not len(found):
        return found
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
    """Length of a jump of the target at frame `k`, of the reach; 0 if it is no outlier among those around it.

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


def turns_along(rotations: Numbers) -> Numbers:
    """Largest rotation [rad] of a joint to each frame from the one before (F), of unit quaternions (n, 4, F)."""
    along = np.zeros(rotations.shape[-1])
    along[1:] = turns_from(rotations[..., :-1], rotations[..., 1:])
    return along


def turns_from(before: Numbers, after: Numbers) -> Numbers:
    """Largest rotation [rad] of a joint (F) from poses of unit quaternions (n, 4, F) to others."""
    turned: Numbers = 2.0 * np.arccos(_alike(before, after).min(0, initial=1.0))
    return turned


def turns_by_joint(rotations: Numbers) -> Numbers:
    """The same of each joint (n, F)."""
    along = np.zeros((len(rotations), rotations.shape[-1]))
    along[:, 1:] = 2.0 * np.arccos(np.minimum(1.0, _alike(rotations[..., 1:], rotations[..., :-1])))
    return along


def _alike(first: Numbers, second: Numbers) -> Numbers:
    """Cosine of half the angle (n, F) between unit quaternions (n, 4, F)."""
    cosines: Numbers = np.abs(einsum("nif,nif->nf", first, second))
    return cosines


def apart(first: Numbers, second: Numbers) -> Numbers:
    """Sum over the joints of 1 - cos(angle / 2) (F) between poses of unit quaternions (n, 4, F)."""
    total: Numbers = (1.0 - np.minimum(1.0, _alike(first, second))).sum(0)
    return total


def turns_of(tree: Tree, states: States) -> Numbers:
    """Largest rotation [rad] of a joint of each of the states from the one before (F); 0 for the first."""
    along = np.zeros(len(states))
    for each in blocks(len(states), len(tree.joints)):
        begin = max(each.start - 1, 0)
        rotations = tree.rotations(states.take(slice(begin, each.stop)))
        along[each] = turns_along(rotations)[each.start - begin :]
    return along


def ways_of(tree: Tree, frames: States, tasks: Sequence[Task]) -> Numbers:
    """Way of the goal to each frame from the one before (F), as a share of the reach, as the root sees it.

    A radian counts as the length that its task gives it.
    """
    ways = np.zeros(len(frames))
    for task in tasks:
        way = task.ways(frames.root, frames.place)
        if len(way):
            ways[1:] = np.maximum(ways[1:], way / tree.size)
    return ways


def beyond_speed_of(tree: Tree, states: States, ways: Numbers, found: Indices) -> Indices:
    """Those of the frames `found`, none of them the first one, at which a joint turns more than the speed explains."""
    if not len(found):
        return found
    after = states.take(found)
    geometry = Geometry(tree, after)
    levers = lengths(geometry.tip() - geometry.heads)
    levers = np.maximum(levers, levers[0])
    rotations = tree.rotations(after), tree.rotations(states.take(found - 1))
    angles = 2.0 * np.arccos(np.minimum(1.0, _alike(*rotations)))
    beyond = (angles > FEW) & (angles * levers > SPEED * tree.size * ways[found])
    return np.asarray(found[beyond.any(0)], np.intp)


def leaps_of(ways: Numbers) -> Indices:
    """Frames at which the goal jumps."""
    return standing_out(ways, LEAP)


def jumps_of(along: Numbers, ways: Numbers, cuts: Indices) -> Indices:
    """Frames at which joints jump, more than a jump of the goal explains."""
    explained = np.zeros(len(along))
    explained[cuts] = EXPLAINED * ways[cuts]
    found = abrupt(along)
    return np.asarray(found[along[found] > explained[found]], np.intp)


def cheapest(frames: Sequence[Sequence[Rotations]], paid: float = PAID) -> Work[list[Rotations]]:
    """Choose one of the candidates of each frame, so that the sum of the costs from frame to frame is minimal.

    Each candidate also pays the share `paid` of the cost of a step from the first one of its frame, the path given.
    """
    costs = [paid * _cost(frames[0][0], q) for q in frames[0]]
    came: list[list[int]] = []
    for before, now in pairwise(frames):
        sums = [[cost + _cost(p, q) for p, cost in zip(before, costs, strict=True)] for q in now]
        costs = [min(sum_) + paid * _cost(now[0], q) for sum_, q in zip(sums, now, strict=True)]
        came.append([sum_.index(min(sum_)) for sum_ in sums])
        yield
    best = costs.index(min(costs))
    path = [frames[-1][best]]
    for candidates, sources in zip(reversed(frames[:-1]), reversed(came), strict=True):
        best = sources[best]
        path.append(candidates[best])
    return path[::-1]


def _cost(before: Rotations, after: Rotations) -> float:
    """Square of the sum over the joints of 1 - cos(angle / 2), which is angle^2 / 8 for small angles."""
    half: float = len(before) - sum(map(abs, map(Quaternion.dot, before, after)))
    return half * half


class PathCosts(NamedTuple):
    """The measures of `Cost` at each frame (F): `turns`, `total_angle` [rad] and `travel` [armature space]."""

    turns: Indices
    total_angle: Numbers
    travel: Numbers

    @property
    def total(self) -> Cost:
        """Sum over all frames."""
        return Cost(int(self.turns.sum()), float(self.total_angle.sum()), float(self.travel.sum()))

    def at(self, frame: int) -> Cost:
        """Return the cost of one frame, given as an index."""
        return Cost(int(self.turns[frame]), float(self.total_angle[frame]), float(self.travel[frame]))


class PathMeasures:
    """Measures of a chain in F `states`, each made when it is first wanted.

    The cost of a frame is that of turning its joints, one after the other from the root, from the frame before; the
    costs in `known` replace it, by the index of the frame. `steps` (F) are those that the solver made.
    """

    def __init__(
        self, tree: Tree, states: States, known: Mapping[int, Cost] | None = None, steps: Indices | None = None
    ) -> None:
        self._tree, self._states, self._known = tree, states, known or {}
        self.steps: Indices = np.zeros(len(states), np.intp) if steps is None else steps

    @cached_property
    def costs(self) -> PathCosts:
        """Costs of all frames."""
        tree, count = self._tree, len(self._states)
        costs = PathCosts(np.zeros(count, np.intp), np.zeros(count), np.zeros(count))
        for frames in blocks(count, len(tree.joints)):
            begin = max(frames.start - 1, 0)
            some = self._states.take(slice(begin, frames.stop))
            rotations = tree.rotations(some)
            own = slice(frames.start - begin, None)
            angles = turns_by_joint(rotations)[:, own]
            costs.turns[frames] = (angles > SMALLEST_TURN).sum(0)
            costs.total_angle[frames] = angles.sum(0)
            before = np.concatenate((rotations[..., :1], rotations[..., :-1]), -1)
            costs.travel[frames] = _travel(tree, some, before)[own]
        for frame, cost in self._known.items():
            costs.turns[frame], costs.total_angle[frame], costs.travel[frame] = (
                cost.turns,
                cost.total_angle,
                cost.travel,
            )
        return costs

    @cached_property
    def limits(self) -> dict[str, tuple[list[list[str]], Indices]]:
        """Limits that joints are at, by the names of the joints that are at any.

        Those are sets of limits, such as ["X maximum"], and the index of the one that holds at each frame (F).
        """
        found = {}
        rotations = self._tree.rotations(self._states)
        for joint, own in zip(self._tree.joints, rotations, strict=True):
            limits = LimitArrays(joint.freedom)
            if limits.free:
                continue
            _, first, which = np.unique(limits.ends(own), return_index=True, return_inverse=True)
            sets = [joint.freedom.on_limits(joint.freedom.nearest(Quaternion(own[:, k]))) for k in first.tolist()]
            if any(sets):
                found[joint.name] = sets, which.reshape(-1)
        return found

    @property
    def on_limits(self) -> dict[str, list[str]]:
        """Limits that joints are at in some frame, by the joints' names."""
        every = {name: [end for ends in sets for end in ends] for name, (sets, _) in self.limits.items()}
        return {name: list(dict.fromkeys(ends)) for name, ends in every.items()}

    def on_limits_at(self, frame: int) -> dict[str, list[str]]:
        """Return the limits that joints are at in one frame, given as an index."""
        found = {name: sets[which[frame]] for name, (sets, which) in self.limits.items()}
        return {name: ends for name, ends in found.items() if ends}

    @cached_property
    def largest_turn(self) -> JointStep | None:
        """Largest rotation of a joint from one frame to the next; None for a single frame."""
        if len(self._states) < 2:
            return None
        at = 1 + int(turns_of(self._tree, self._states)[1:].argmax())
        angles = turns_by_joint(self._tree.rotations(self._states.take(slice(at - 1, at + 1))))[:, 1]
        joint = int(angles.argmax())
        return JointStep(at, self._tree.joints[joint].name, float(angles[joint]))


def _travel(tree: Tree, states: States, before: Numbers) -> Numbers:
    """Ways of the end effector (F), added up, as the joints of a chain turn one after the other from the root.

    They turn from the rotations `before` (n, 4, F) to those of the states.
    """
    frames, joints = Geometry(tree, states).frames, tree.joints
    place: Numbers = np.array(tree.tips[0].place, float)[:, None]
    ends: list[Numbers] = []  # of the chain with the joints up to each one turned, the last one first
    for i in range(len(joints) - 1, -1, -1):
        ends.append(rotate(frames[i, :, :3], place) + frames[i, :, 3])
        rest = matrices(np.array(joints[i].rest, float)[:, None])
        place = rotate(rest, rotate(matrices(before[i]), place)) + tree.offsets[i]
    ends.append(rotate(states.root, place) + states.place)
    return sum((lengths(after - first) for after, first in pairwise(ends)), np.zeros(len(states)))

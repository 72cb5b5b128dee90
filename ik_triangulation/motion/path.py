# SPDX-License-Identifier: GPL-3.0-or-later
"""Poses along a path, frame by frame: jumps removed, orientations met, curves smoothed.

Meet orientations along a path: frames that miss theirs get a pose on another branch. Following a path from frame to
frame keeps to one branch, on which a limit may prevent the wanted orientation. Another branch is searched for at
frames that miss, at increasing intervals while none is found, and followed in both directions from where one is.

Jump removal: the poses along a whole path are chosen together, so that joints jump only where they must. Source:
following a path by small steps from either end is the strength of Gauss-Newton (seed document gradient-methods); the
choice among several poses a frame is that of Viterbi 1967 (jumps.py). Around each jump the path is continued from
before it and backwards from after it, and the two are blended, with each blend brought back to the target: if the
joints have room, that distributes the jump over many frames. If that is not enough, alternative poses drawn at random
inside the limits are followed through the frames around it, and the cheapest path through all is taken.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from math import pi, tau
from random import Random

import numpy as np
from mathutils import Quaternion

from ..cooperative import Work
from ..goals import Goal
from ..goals.orientation import missing_angle
from ..kinematics import Freedom, Hinge, Locked, Pose
from ..kinematics.pose import LENGTH_ROUNDING
from ..solvers import gauss_newton, triangulation
from ..solvers.finish import perturb
from ..solvers.null_space import optimise, optimise_from_restarts
from ..solvers.solver import iterate
from .jumps import (
    EXPLAINED,
    FAR,
    REACH,
    SOFT_GOALS,
    Jump,
    PathFrame,
    Rotations,
    beyond_speed,
    cheapest,
    fast,
    hasty,
    jumps,
    leap,
    reason,
    turn,
    turned,
    turns,
)

_MEETING_STEPS = 40  # of Gauss-Newton that bring the pose of the neighbouring frame to a target
_LONGEST = 8  # frames skipped while nothing is found
_PRECISE = 0.2  # share of the tolerance within which they bring it

_STEPS = 12  # of Gauss-Newton that bring a pose back to its target
_CLOSE = 1e-3  # of the reach: increase of the error that a frame out of reach may have

Candidates = dict[int, Rotations]  # by frame

_AVERAGES = 40  # times that rotations are averaged for the maximum of smoothing
_HALVINGS = 4  # of the smoothing of a frame whose limits or reach do not allow it

_MARGINS = (4, 8, 16, 32, 64)  # frames around a jump that are solved again, tried in this order
_AROUND, _EASED, _EASING_AVERAGES = 12, 4, 12  # frames around a hasty turn, times that it is eased, averages in each
_MANY = 0.33  # share of the frames to solve again, above which all are
_SEARCH_STEPS = 40  # of Gauss-Newton that bring a random pose to the target
_RANDOM_POSES = 8  # that are followed from each jump
_MAX_TRACKS = 16  # that are followed to both ends
_SEARCHED = 128  # frames around a jump through which they are followed
_HALF = 0.5  # share of the largest turn that a path found by search may have at most
_SAME = 1e-3  # [rad] difference up to which poses are the same


def is_met(goal: Goal, pose: Pose) -> bool:
    """Return whether the end effector has the wanted orientation within the angle tolerance."""
    angle = missing_angle(goal.soft, pose.tip, pose.tip_rotation) if goal.soft else None
    return angle is None or angle <= goal.angle_tolerance


def meet(frames: Sequence[PathFrame], seed: int = 0) -> Work[dict[int, Pose]]:
    """Find other poses, by frame index, for frames that reach with the wrong orientation."""
    search = _Search(frames)
    for k in sorted(search.missed):
        if k + 1 < len(frames) and k + 1 not in search.missed:
            yield from search.follow(k + 1, -1)
    pause, wait = 1, 0  # frames to skip after the next search without result, and at present
    for k in sorted(search.missed):
        if k - 1 not in search.missed:
            pause, wait = 1, 0
        if k not in search.missed or wait:
            wait = max(0, wait - 1)
            continue
        found = search.elsewhere(k, seed)
        yield
        if not found:
            pause, wait = min(2 * pause, _LONGEST), pause
            continue
        for step in (-1, 1):
            yield from search.follow(k, step)
    return search.found


class _Search:
    """The frames of a path, the indices of those that still `missed`, and the poses `found` for others."""

    def __init__(self, frames: Sequence[PathFrame]) -> None:
        self._frames = frames
        self.found: dict[int, Pose] = {}
        reached = ((k, each.goal, each.solution) for k, each in enumerate(frames) if each.solution.reached)
        self.missed = {k for k, goal, solution in reached if not is_met(goal, solution.pose)}

    def elsewhere(self, k: int, seed: int) -> bool:
        """Search for a pose of frame `k` on any branch; return whether one was found."""
        goal, pose = self._frames[k].goal, self._frames[k].solution.pose.copy()
        optimise_from_restarts(pose, goal.target, goal.soft, goal.tolerance, seed)
        return self._kept(k, pose)

    def follow(self, k: int, step: int) -> Work[None]:
        """Continue the pose of frame `k` through the adjacent frames that miss, as far as they are met."""
        rotations = self.found.get(k, self._frames[k].solution.pose).rotations
        while k + step in self.missed:
            k += step
            goal = self._frames[k].goal
            pose = posed(self._frames[k], rotations)
            iterate(gauss_newton.step, pose, goal.target, _PRECISE * goal.tolerance, _MEETING_STEPS)
            optimise(pose, goal.target, goal.soft, goal.tolerance)
            yield
            if not self._kept(k, pose):
                break
            rotations = pose.rotations

    def _kept(self, k: int, pose: Pose) -> bool:
        """Keep a pose of frame `k` if it reaches with the wanted orientation."""
        goal = self._frames[k].goal
        fits = (goal.target.closest(pose.tip) - pose.tip).length <= goal.tolerance and is_met(goal, pose)
        if fits:
            self.found[k] = pose
            self.missed.remove(k)
        return fits


def posed(frame: PathFrame, rotations: Rotations) -> Pose:
    """The pose of a frame with these rotations, except those of locked joints."""
    own = frame.solution.pose
    joints = zip(own.chain.joints, own.rotations, rotations, strict=True)
    pose = Pose(own.chain, own.base, [kept if isinstance(j.freedom, Locked) else new for j, kept, new in joints])
    pose.project()
    return pose


class FramePath:
    """The rotations of each frame of a path, initially those of the given solutions.

    Every operation keeps every frame within tolerance in place and orientation, or as near as it was if it was not, and
    inside its limits.
    Rotations that need not change stay the same objects. Frames whose indices are `held` never change.
    """

    def __init__(self, frames: Sequence[PathFrame], held: Collection[int] = ()) -> None:
        self.rotations: list[Rotations] = [frame.solution.pose.rotations for frame in frames]
        self._held = held
        self._frames = frames
        self._turns = turns(self.rotations)
        self._leaps: dict[int, float] = {}
        self._mended = False  # whether jumps were removed as far as possible

    def jumps(self) -> list[Jump]:
        """Outliers among the rotations of the frames around them, each with its reason."""
        chain = self._frames[0].solution.pose.chain
        found = [k for k in jumps(self._turns) if self._leap(k) or beyond_speed(self._frames, self.rotations, k)]
        return [Jump(turned(chain, self.rotations, k), reason(self._frames, k, self._mended)) for k in found]

    def _jumping(self) -> list[int]:
        """Frames at which joints jump and the target does not explain it."""
        return self._unexplained(jumps(self._turns))

    def _unexplained(self, found: Iterable[int]) -> list[int]:
        """Those frames at which joints rotate more than the target's speed explains, or a jump of it."""
        hasty = (k for k in found if beyond_speed(self._frames, self.rotations, k))
        return [k for k in hasty if self._turns[k] > EXPLAINED * self._leap(k)]

    def _leap(self, k: int) -> float:
        if k not in self._leaps:
            self._leaps[k] = leap(self._frames, k)
        return self._leaps[k]

    def _windows(self, jumping: Sequence[int], margin: int) -> Iterator[tuple[int, int, int, int]]:
        """For each group of jumps the fixed frames around it, and the first and the last jump of the group.

        Windows end at jumps of the target, because the frames beyond those are another motion.
        """
        last = len(self.rotations) - 1
        cuts = [k for k in jumps(self._turns) if self._leap(k)]
        for first, final in groups_of(jumping, margin):
            a = max(0, first - 1 - margin, *(k for k in cuts if k < first))
            b = min(last, final + margin, *(k - 1 for k in cuts if k > final))
            yield a, b, first, final

    def _pull(self, k: int, rotations: Rotations, steps: int = _STEPS) -> Rotations | None:
        """Bring the pose with these rotations to the target of frame `k`; None if that fails."""
        goal, solution = self._frames[k].goal, self._frames[k].solution
        pose = posed(self._frames[k], rotations)
        allowed = self._allowed(k)
        if not solution.reached and not pose.chain.limited:
            iterate(triangulation.step, pose, goal.target, _PRECISE * goal.tolerance, 1)
        error, _ = iterate(gauss_newton.step, pose, goal.target, _PRECISE * goal.tolerance, steps)
        if not pose.chain.limited:  # one pass removes the small remaining error
            error, _ = iterate(triangulation.step, pose, goal.target, LENGTH_ROUNDING * pose.chain.reach, 1)
        asked = [each for each in goal.soft if each.can_be_met]  # calm joints matter more than comfort
        if asked and error <= allowed:
            optimise(pose, goal.target, asked, goal.tolerance)
            error = (goal.target.closest(pose.tip) - pose.tip).length
        kept = is_met(goal, pose) or not is_met(goal, solution.pose)
        return pose.rotations if error <= allowed and kept else None

    def _blend(self, k: int, before: Rotations, after: Rotations, share: float) -> Rotations:
        """Interpolate between two poses of frame `k`."""
        joints = self._frames[k].solution.pose.chain.joints
        return [_between(joint.freedom, p, q, share) for joint, p, q in zip(joints, before, after, strict=True)]

    def _allowed(self, k: int) -> float:
        """Largest error that frame `k` may have [Blender units]."""
        goal, solution = self._frames[k].goal, self._frames[k].solution
        if solution.reached:
            return goal.tolerance
        pose = solution.pose
        return (goal.target.closest(pose.tip) - pose.tip).length + _CLOSE * pose.chain.reach

    def _choose(self, tracks: Sequence[Candidates], a: int, b: int) -> Work[None]:
        """Choose the cheapest path from frame `a`, which is fixed, to `b`, which is fixed unless it is the last one.

        With an `a` of -1 the first frame is free as well. Held frames are always fixed.
        """
        stay = {*self._held, *([b] if b < len(self.rotations) - 1 else [])}
        frames = [
            [self.rotations[k], *(track[k] for track in tracks if k in track and k not in stay)]
            for k in range(a + 1, b + 1)
        ]
        if a >= 0:
            frames.insert(0, [self.rotations[a]])
        first = max(a, 0)
        self.rotations[first : b + 1] = yield from cheapest(frames)
        for k in range(max(1, first), min(b + 2, len(self.rotations))):
            self._turns[k] = turn(self.rotations[k - 1], self.rotations[k])


def _between(freedom: Freedom, before: Quaternion, after: Quaternion, share: float) -> Quaternion:
    """Interpolate two rotations; for a hinge inside its range, which the shorter path may leave."""
    if isinstance(freedom, Hinge) and freedom.moves and freedom.upper - freedom.lower < tau:
        (start,), (end,) = (freedom.coordinates(freedom.nearest(rotation)) for rotation in (before, after))
        return freedom.at(before, [start.value + share * (end.value - start.value)])
    return freedom.nearest(before.slerp(after, share).normalized())


def groups_of(jumping: Sequence[int], margin: int) -> list[tuple[int, int]]:
    """First and last jump of each group of jumps whose windows overlap."""
    groups: list[tuple[int, int]] = []
    for k in jumping:
        if groups and k - groups[-1][1] <= 2 * margin:
            groups[-1] = groups[-1][0], k
        else:
            groups.append((k, k))
    return groups


class SmoothedPath(FramePath):
    """A path whose joints' curves can be smoothed."""

    def relax(self, amount: float) -> Work[None]:
        """Smooth the joints' curves by an `amount` in 0..1; the first and the last frame stay.

        Each rotation is averaged with those of the frames before and after it, repeatedly, and then every frame is
        brought back to its target.
        """
        last = len(self.rotations) - 1
        self.rotations[1:last] = yield from self._relaxed(0, last, round(_AVERAGES * amount))
        self._turns = turns(self.rotations)

    def _relaxed(self, a: int, b: int, times: int) -> Work[list[Rotations]]:
        """Average the rotations of the frames between `a` and `b` that many times, then bring them to their targets.

        If the limits or the reach do not allow that, the change of a frame is halved.
        """
        before = wanted = self.rotations[a : b + 1]
        cuts = [k - a for k in jumps(self._turns) if self._leap(k) and a < k <= b]
        for _ in range(times):
            wanted = [wanted[0], *map(_averaged, wanted, wanted[1:], wanted[2:]), wanted[-1]]
            for k in cuts:  # the frames before and after a jump of the target are different motions
                wanted[k - 1 : k + 1] = before[k - 1 : k + 1]
            yield
        found = []
        for k, (start, end) in enumerate(zip(before[1:-1], wanted[1:-1], strict=True), a + 1):
            shares = (0.5**n for n in range(_HALVINGS))
            pulled = None
            while pulled is None and (share := next(shares, None)):
                pulled = self._pull(k, self._blend(k, start, end, share))
                yield
            found.append(start if pulled is None else pulled)
        return found


def _averaged(before: Rotations, now: Rotations, after: Rotations) -> Rotations:
    """Mean of the rotations and of the mean of those before and after."""
    return [q.slerp(p.slerp(r, 0.5), 0.5).normalized() for p, q, r in zip(before, now, after, strict=True)]


class Path(SmoothedPath):
    """A path from which jumps of the joints can be removed."""

    def without_jumps(self, seed: int = 0) -> Work[None]:
        """Choose the rotations of all frames so that joints jump only where they must."""
        found = fast(self._turns)
        for k in found:
            self._leap(k)
            yield
        quick = self._unexplained(found)
        covered = sum(b - a for a, b, _, _ in self._windows(quick, _MARGINS[0]))
        # If there are many it is less work to follow the whole path once.
        yield from self._mend(quick, len(self.rotations) if covered > _MANY * len(self.rotations) else _MARGINS[0])
        yield from self._each_margin(self._mend)
        left = [k for k in self._jumping() if reason(self._frames, k, smoothed=True) not in {FAR, REACH, SOFT_GOALS}]
        if left:
            yield from self._search(left, Random(seed))
            yield from self._each_margin(self._mend)
        for _ in range(_EASED):
            yield from self._ease(self._unexplained(hasty(np.array(self._turns)).tolist()))
        self._mended = True

    def _each_margin(self, do: Callable[[Sequence[int], int], Work[None]]) -> Work[None]:
        """Apply this to the jumps that are left, with an increasing number of frames around them."""
        for margin in _MARGINS:
            jumping = self._jumping()
            if not jumping:
                break
            yield from do(jumping, margin)

    def _mend(self, jumping: Sequence[int], margin: int) -> Work[None]:
        """Around each of these jumps blend the path continued from before it into the one backwards from after it."""
        last = len(self.rotations) - 1
        for a, b, first, final in self._windows(jumping, margin):
            onward = {k: self.rotations[k] for k in range(a + 1, first)}
            onward |= yield from self._track(self.rotations[first - 1], range(first, b + 1))
            candidates = [onward]
            if b < last or last in self._held:
                back = {k: self.rotations[k] for k in range(final, b)}
                back |= yield from self._track(self.rotations[final], range(final - 1, a, -1))
                candidates += [back, (yield from self._blended(onward, back, a, b))]
            yield from self._choose(candidates, a, b)

    def _ease(self, found: Sequence[int]) -> Work[None]:
        """Smooth the path around each of these frames."""
        for a, b, _, _ in self._windows(found, _AROUND):
            smooth = yield from self._relaxed(a, b, _EASING_AVERAGES)
            yield from self._choose([dict(enumerate(smooth, a + 1))], a, b)

    def _search(self, jumping: Sequence[int], random: Random) -> Work[None]:
        """Search other poses around each group of these jumps; a path of any length is followed only there."""
        last = len(self.rotations) - 1
        for first, final in groups_of(jumping, _SEARCHED):
            a, b = max(-1, first - 1 - _SEARCHED), min(last, final + _SEARCHED)
            yield from self._search_between(a, b, [k for k in jumping if first <= k <= final], random)

    def _search_between(self, a: int, b: int, jumping: Sequence[int], random: Random) -> Work[None]:
        """Follow both sides of these jumps and random poses to frames `a` and `b`, and choose the cheapest path.

        These two frames stay unless the path ends there, and all of them unless the largest turn is at least halved.
        """
        worst = max(self._turns[k] for k in jumping)
        tracks: list[Candidates] = []
        for k in jumping:
            starts = [(k - 1, self.rotations[k - 1]), (k, self.rotations[k])]
            for _ in range(_RANDOM_POSES):
                pose = posed(self._frames[k], self.rotations[k])
                perturb(pose, random, 1.0)
                found = self._pull(k, pose.rotations, _SEARCH_STEPS)
                yield
                if found is not None:
                    starts.append((k, found))
            for start, rotations in starts:
                if len(tracks) == _MAX_TRACKS:
                    break
                if any(start in track and turn(track[start], rotations) < _SAME for track in tracks):
                    continue
                track = {start: rotations}
                track |= yield from self._track(rotations, range(start + 1, b + 1), worst, tracks)
                track |= yield from self._track(rotations, range(start - 1, a, -1), worst, tracks)
                tracks.append(track)
        first = max(a, 0)
        given, along = self.rotations[first : b + 1], self._turns[first : b + 2]
        yield from self._choose(tracks, a, b)
        if max(self._turns[first + 1 : b + 2]) > _HALF * max(along[1:]):
            self.rotations[first : b + 1], self._turns[first : b + 2] = given, along

    def _track(
        self, rotations: Rotations, frames: Iterable[int], most: float = pi, others: Sequence[Candidates] = ()
    ) -> Work[Candidates]:
        """Follow the path as long as no joint rotates by more than `most` [rad], or until one of the others is met."""
        found: Candidates = {}
        for k in frames:
            pulled = self._pull(k, rotations)
            yield
            if pulled is None or turn(rotations, pulled) > most:
                break
            found[k] = rotations = pulled
            if any(k in other and turn(other[k], pulled) < _SAME for other in others):
                break
        return found

    def _blended(self, onward: Candidates, back: Candidates, a: int, b: int) -> Work[Candidates]:
        """Blend from the one path to the other, from frame `a` to `b`."""
        found: Candidates = {}
        for k in sorted(onward.keys() & back.keys()):
            pulled = self._pull(k, self._blend(k, onward[k], back[k], (k - a) / (b - a)))
            yield
            if pulled is not None:
                found[k] = pulled
        return found

# SPDX-License-Identifier: GPL-3.0-or-later
"""The poses along a path, and the operations on single frames that jump removal and smoothing share."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from math import tau

from mathutils import Quaternion

from ..cooperative import Work
from ..kinematics import Freedom, Hinge
from ..kinematics.chain import LENGTH_ROUNDING
from ..solvers import gauss_newton, triangulation
from ..solvers.iterate import iterate
from ..solvers.null_space import optimise
from .jumps import EXPLAINED, Jump, PathFrame, Rotations, beyond_speed, jumps, leap, reason, turn, turned, turns
from .meeting import is_met, posed
from .viterbi import cheapest

_STEPS = 12  # of Gauss-Newton that bring a pose back to its target
_PRECISE = 0.2  # share of the tolerance within which they bring it
_CLOSE = 1e-3  # of the reach: increase of the error that a frame out of reach may have

Candidates = dict[int, Rotations]  # by frame


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
        """Rotations that stand out from those of the frames around them, each with its reason."""
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
        asked = [each for each in goal.soft if each.can_be_met]  # comfort gives way to calm joints
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

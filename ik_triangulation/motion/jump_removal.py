# SPDX-License-Identifier: GPL-3.0-or-later
"""The poses along a whole path chosen together, so that no joint jumps that need not.

Source: following a path by small steps from either end is what Gauss-Newton is best at (seed document
gradient-methods); the cheapest way through several poses a frame is that of Viterbi 1967. Around each jump the path is
followed on from before it and back from after it, and the two are blended, each blend brought back to the target: where
the joints leave room, that spreads the jump over many frames. Where it does not, poses drawn at random inside the
limits are followed through the whole path as well. Then the cheapest way through all of them is taken. It is the
squares of the sums of squared turns that add up to least, since one large turn is worse than many small ones.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from itertools import pairwise
from math import pi, tau
from random import Random

from mathutils import Quaternion

from ..kinematics import Freedom, Hinge, Locked, Pose
from ..kinematics.chain import LENGTH_ROUNDING
from ..solvers import gauss_newton, triangulation
from ..solvers.finish import perturb
from ..solvers.iterate import iterate
from ..solvers.null_space import optimise
from ..work import Work
from .jumps import FAR, REACH, WISHES, Jump, PathFrame, Rotations, fast, jumps, leap, reason, turn, turned, turns

MARGINS = (4, 8, 16, 32, 64)  # frames around a jump that are solved anew; more of them where that does not do
MANY = 0.33  # share of the frames that are to be solved anew, beyond which all are
STEPS = 12  # of Gauss-Newton that bring a pose back to its target
SEARCH = 40  # of those that bring a random pose there
PRECISE = 0.2  # share of the tolerance within which they bring it
RESTARTS = 8  # random poses that are followed from a jump
MOST = 16  # paths followed to both ends
SAME = 1e-3  # [rad] poses that differ by less are one
EXPLAINS = 5.0  # [rad] that a joint may turn at once where the target jumps as far as the chain reaches
AVERAGES = 40  # times that rotations are averaged for the most smoothing
HALVES = 4  # times that half of the smoothing is taken back where the limits or the reach do not allow it
CLOSE = 1e-3  # of the reach: what a frame that does not reach may lose; poses within that are led into each other

Track = dict[int, Rotations]  # by frame


class Path:
    """A path on its way to a better one: `rotations` are those of each frame, at first those that a solver found.

    Whatever is done to it, every frame stays within tolerance if it was, else as near as it was, and inside its limits;
    rotations that need not change stay the same objects. Those of the frames whose indices are `held` stay.
    """

    def __init__(self, frames: Sequence[PathFrame], held: Collection[int] = ()) -> None:
        self.rotations: list[Rotations] = [frame.solution.pose.rotations for frame in frames]
        self._held = held
        self._frames = frames
        self._turns = turns(self.rotations)
        self._leaps: dict[int, float] = {}
        self._mended = False

    def without_jumps(self, seed: int = 0) -> Work[None]:
        """Choose the rotations so that no joint jumps that need not."""
        found = fast(self._turns)
        for k in found:
            self._leap(k)
            yield
        hasty = self._unexplained(found)
        covered = sum(b - a for a, b, _, _ in self._windows(hasty, MARGINS[0]))
        # Where there are many it is less work to follow the whole path once.
        yield from self._mend(hasty, len(self.rotations) if covered > MANY * len(self.rotations) else MARGINS[0])
        yield from self._each_margin(self._mend)
        left = [k for k in self._jumping() if reason(self._frames, k, smoothed=True) not in {FAR, REACH, WISHES}]
        if left:
            yield from self._search(left, Random(seed))
            yield from self._each_margin(self._mend)
            yield from self._each_margin(self._ease)
        self._mended = True

    def relax(self, amount: float) -> Work[None]:
        """Smooth the joints' curves by an `amount` in 0..1; the first and the last frame stay.

        Each rotation is drawn to the middle of those before and after it, several times over, and then every frame is
        brought back to its target.
        """
        last = len(self.rotations) - 1
        self.rotations[1:last] = yield from self._relaxed(0, last, round(AVERAGES * amount))
        self._turns = turns(self.rotations)

    def jumps(self) -> list[Jump]:
        """The turns that stand out from those of the frames around them, each with its reason."""
        chain = self._frames[0].solution.pose.chain
        return [
            Jump(turned(chain, self.rotations, k), reason(self._frames, k, self._mended)) for k in jumps(self._turns)
        ]

    def _jumping(self) -> list[int]:
        """Where the joints jump more than the target does."""
        return self._unexplained(jumps(self._turns))

    def _unexplained(self, found: Iterable[int]) -> list[int]:
        """Those frames to which the joints turn more than a jump of the target explains."""
        return [k for k in found if self._turns[k] > EXPLAINS * self._leap(k)]

    def _leap(self, k: int) -> float:
        if k not in self._leaps:
            self._leaps[k] = leap(self._frames, k)
        return self._leaps[k]

    def _windows(self, jumping: Sequence[int], margin: int) -> Iterator[tuple[int, int, int, int]]:
        """For each group of jumps the frames to solve anew lie between, and the first and last jump of the group.

        What lies beyond a jump of the target is another motion, and left alone.
        """
        last = len(self.rotations) - 1
        cuts = [k for k in jumps(self._turns) if self._leap(k)]
        for first, final in _joined(jumping, margin):
            a = max(0, first - 1 - margin, *(k for k in cuts if k < first))
            b = min(last, final + margin, *(k - 1 for k in cuts if k > final))
            yield a, b, first, final

    def _each_margin(self, do: Callable[[Sequence[int], int], Work[None]]) -> Work[None]:
        """Do this to what jumps, with ever more frames around it."""
        for margin in MARGINS:
            jumping = self._jumping()
            if not jumping:
                break
            yield from do(jumping, margin)

    def _mend(self, jumping: Sequence[int], margin: int) -> Work[None]:
        """Around each of these jumps blend the path that leads on from before it into the one to what comes after."""
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

    def _ease(self, jumping: Sequence[int], margin: int) -> Work[None]:
        """Around each of these jumps smooth the path."""
        for a, b, _, _ in self._windows(jumping, margin):
            found = yield from self._relaxed(a, b, 4 * margin)
            yield from self._choose([dict(enumerate(found, a + 1))], a, b)

    def _relaxed(self, a: int, b: int, times: int) -> Work[list[Rotations]]:
        """The frames between `a` and `b` with their rotations averaged that many times, then brought to their targets.

        Where the limits or the reach do not allow so much there is less of it.
        """
        before = wanted = self.rotations[a : b + 1]
        cuts = [k - a for k in jumps(self._turns) if self._leap(k) and a < k <= b]
        for _ in range(times):
            wanted = [wanted[0], *map(_averaged, wanted, wanted[1:], wanted[2:]), wanted[-1]]
            for k in cuts:  # on either side of a jump of the target is another motion
                wanted[k - 1 : k + 1] = before[k - 1 : k + 1]
            yield
        found = []
        for k, (start, end) in enumerate(zip(before[1:-1], wanted[1:-1], strict=True), a + 1):
            shares = (0.5**n for n in range(HALVES))
            pulled = None
            while pulled is None and (share := next(shares, None)):
                pulled = self._pull(k, self._blend(k, start, end, share))
                yield
            found.append(start if pulled is None else pulled)
        return found

    def _search(self, jumping: Sequence[int], random: Random) -> Work[None]:
        """From these jumps follow both sides and random poses to both ends, and take the cheapest way through all."""
        count = len(self.rotations)
        worst = max(self._turns[k] for k in jumping)
        tracks: list[Track] = []
        for k in jumping:
            starts = [(k - 1, self.rotations[k - 1]), (k, self.rotations[k])]
            for _ in range(RESTARTS):
                pose = self._posed(k, self.rotations[k])
                perturb(pose, random, 1.0)
                found = self._pull(k, pose.rotations, SEARCH)
                yield
                if found is not None:
                    starts.append((k, found))
            for start, rotations in starts:
                if len(tracks) == MOST:
                    break
                if any(start in track and turn(track[start], rotations) < SAME for track in tracks):
                    continue
                track = {start: rotations}
                track |= yield from self._track(rotations, range(start + 1, count), worst, tracks)
                track |= yield from self._track(rotations, range(start - 1, -1, -1), worst, tracks)
                tracks.append(track)
        yield from self._choose(tracks, -1, count - 1)

    def _pull(self, k: int, rotations: Rotations, steps: int = STEPS) -> Rotations | None:
        """The pose with these rotations brought to the target of frame `k`; None if it does not get near enough."""
        goal, solution = self._frames[k].goal, self._frames[k].solution
        pose = self._posed(k, rotations)
        allowed = self._allowed(k)
        if not solution.reached and not pose.chain.limited:
            iterate(triangulation.step, pose, goal.target, PRECISE * goal.tolerance, 1)
        error, _ = iterate(gauss_newton.step, pose, goal.target, PRECISE * goal.tolerance, steps)
        if not pose.chain.limited:  # what is left is little, and one pass takes it all
            error, _ = iterate(triangulation.step, pose, goal.target, LENGTH_ROUNDING * pose.chain.reach, 1)
        if goal.soft and error <= allowed:
            optimise(pose, goal.target, goal.soft, goal.tolerance)
            error = (goal.target.closest(pose.tip) - pose.tip).length
        return pose.rotations if error <= allowed else None

    def _blend(self, k: int, before: Rotations, after: Rotations, share: float) -> Rotations:
        """Rotations between two poses of frame `k`."""
        joints = self._frames[k].solution.pose.chain.joints
        return [_between(joint.freedom, p, q, share) for joint, p, q in zip(joints, before, after, strict=True)]

    def _posed(self, k: int, rotations: Rotations) -> Pose:
        """The chain as it is at frame `k` with these rotations, but for joints that a solve does not turn."""
        own = self._frames[k].solution.pose
        pose = Pose(own.chain, own.base, turned_like(own, rotations))
        pose.project()
        return pose

    def _allowed(self, k: int) -> float:
        """The error that frame `k` may have."""
        goal, solution = self._frames[k].goal, self._frames[k].solution
        if solution.reached:
            return goal.tolerance
        pose = solution.pose
        return (goal.target.closest(pose.tip) - pose.tip).length + CLOSE * pose.chain.reach

    def _track(
        self, rotations: Rotations, frames: Iterable[int], most: float = pi, others: Sequence[Track] = ()
    ) -> Work[Track]:
        """Follow the path as far as that goes with no turn above `most` [rad], or until one of the others is met."""
        found: Track = {}
        for k in frames:
            pulled = self._pull(k, rotations)
            yield
            if pulled is None or turn(rotations, pulled) > most:
                break
            found[k] = rotations = pulled
            if any(k in other and turn(other[k], pulled) < SAME for other in others):
                break
        return found

    def _blended(self, onward: Track, back: Track, a: int, b: int) -> Work[Track]:
        """From the one path to the other, all the way from frame `a` to `b`."""
        found: Track = {}
        for k in sorted(onward.keys() & back.keys()):
            pulled = self._pull(k, self._blend(k, onward[k], back[k], (k - a) / (b - a)))
            yield
            if pulled is not None:
                found[k] = pulled
        return found

    def _choose(self, tracks: Sequence[Track], a: int, b: int) -> Work[None]:
        """Take the cheapest way from frame `a`, which stays, to `b`, which stays unless it is the last one.

        An `a` of -1 lets the first frame go as well; frames that are held stay all the same.
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


def cheapest(frames: Sequence[Sequence[Rotations]]) -> Work[list[Rotations]]:
    """One of the candidates of each frame, so that their costs to each other add up to least (Viterbi 1967)."""
    costs = [0.0] * len(frames[0])
    came: list[list[int]] = []
    for before, now in pairwise(frames):
        ways = [[cost + _apart(p, q) for p, cost in zip(before, costs, strict=True)] for q in now]
        costs = list(map(min, ways))
        came.append([way.index(cost) for way, cost in zip(ways, costs, strict=True)])
        yield
    best = costs.index(min(costs))
    path = [frames[-1][best]]
    for candidates, sources in zip(reversed(frames[:-1]), reversed(came), strict=True):
        best = sources[best]
        path.append(candidates[best])
    return path[::-1]


def turned_like(own: Pose, rotations: Rotations) -> list[Quaternion]:
    """These rotations for the joints of `own`, but for those that a solve does not turn."""
    return [
        kept if isinstance(joint.freedom, Locked) else rotation
        for joint, kept, rotation in zip(own.chain.joints, own.rotations, rotations, strict=True)
    ]


def _averaged(before: Rotations, now: Rotations, after: Rotations) -> Rotations:
    """Half way to the middle of the rotations before and after."""
    return [q.slerp(p.slerp(r, 0.5), 0.5).normalized() for p, q, r in zip(before, now, after, strict=True)]


def _apart(before: Rotations, after: Rotations) -> float:
    """The square of the sum over the joints of 1 - cos(angle / 2), for small turns an eighth of their squares."""
    half: float = len(before) - sum(map(abs, map(Quaternion.dot, before, after)))
    return half * half


def _between(freedom: Freedom, before: Quaternion, after: Quaternion, share: float) -> Quaternion:
    """A rotation on the way between two; that of a hinge stays inside its range, where the shorter way may not."""
    if isinstance(freedom, Hinge) and freedom.moves and freedom.upper - freedom.lower < tau:
        (start,), (end,) = (freedom.coordinates(freedom.nearest(rotation)) for rotation in (before, after))
        return freedom.at(before, [start.value + share * (end.value - start.value)])
    return freedom.nearest(before.slerp(after, share).normalized())


def _joined(jumping: Sequence[int], margin: int) -> list[tuple[int, int]]:
    """First and last of the jumps that stand so near to each other that what lies around them overlaps."""
    groups: list[tuple[int, int]] = []
    for k in jumping:
        if groups and k - groups[-1][1] <= 2 * margin:
            groups[-1] = groups[-1][0], k
        else:
            groups.append((k, k))
    return groups

# SPDX-License-Identifier: GPL-3.0-or-later
"""Jump removal: the poses along a whole path are chosen together, so that joints jump only where they must.

Source: following a path by small steps from either end is the strength of Gauss-Newton (seed document
gradient-methods); the choice among several poses a frame is that of Viterbi 1967 (viterbi.py). Around each jump the
path is continued from before it and backwards from after it, and the two are blended, with each blend brought back to
the target: if the joints have room, that distributes the jump over many frames. If that is not enough, alternative
poses drawn at random inside the limits are followed through the frames around it, and the cheapest path through all is
taken.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from math import pi
from random import Random

import numpy as np

from ..cooperative import Work
from ..solvers.restarts import perturb
from .jumps import FAR, REACH, SOFT_GOALS, Rotations, fast, hasty, reason, turn
from .meeting import posed
from .path import Candidates, groups_of
from .smoothing import SmoothedPath

_MARGINS = (4, 8, 16, 32, 64)  # frames around a jump that are solved again, tried in this order
_AROUND, _EASED, _AVERAGES = 12, 4, 12  # frames around a hasty turn, times that it is eased, averages in each
_MANY = 0.33  # share of the frames to solve again, above which all are
_SEARCH_STEPS = 40  # of Gauss-Newton that bring a random pose to the target
_RANDOM_POSES = 8  # that are followed from each jump
_MAX_TRACKS = 16  # that are followed to both ends
_SEARCHED = 128  # frames around a jump through which they are followed
_HALF = 0.5  # share of the largest turn that a path found by search may have at most
_SAME = 1e-3  # [rad] difference up to which poses are the same


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
            smooth = yield from self._relaxed(a, b, _AVERAGES)
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

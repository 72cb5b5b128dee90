# SPDX-License-Identifier: GPL-3.0-or-later
"""Smoothing of the joints' curves along a path, with the tip kept at its targets."""

from __future__ import annotations

from ..cooperative import Work
from .jumps import Rotations, jumps, turns
from .path import FramePath

_AVERAGES = 40  # times that rotations are averaged for the maximum of smoothing
_HALVINGS = 4  # of the smoothing of a frame whose limits or reach do not allow it


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

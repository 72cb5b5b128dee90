# SPDX-License-Identifier: GPL-3.0-or-later
"""Jumps of a path that keeps near a reference, spread over the frames around them.

Where the goal goes round to the side opposite to the reference, another way of turning there becomes the nearer one,
and the path changes over from frame to frame. Between frames farther away the limb can unwind in time. Source: none.
"""

from __future__ import annotations

import numpy as np

from ..cooperative import Work
from .mending import avoidable_jumps, most_turned
from .shots import Method, Shot, Tracked
from .tracking import corrected, interpolated

_MARGINS = (8, 16, 32, 64)  # frames around a jump, of which those are taken that turn least
_MANY = 24  # jumps that are looked at
_HALF = 0.5  # share of the largest turn that has to go


def unwind(shot: Shot, path: Tracked, method: Method, seed: int = 0) -> Work[None]:
    """Spread the jumps of a path over the frames around them, in place, where that halves the largest turn."""
    last, done = len(path.met) - 1, -1
    for k in avoidable_jumps(shot, path)[:_MANY].tolist():
        if k <= done:
            continue
        least, best = np.inf, None
        for margin in _MARGINS:
            begin, end = max(0, k - 1 - margin), min(last, k + margin)
            window = np.arange(begin, end + 1)
            ends = path.states.take(window[[0, -1]])
            part = shot.part(window, ends.take([0]), ends.take([1]) if end < last or shot.last is not None else None)
            states = interpolated(part.tree, np.array([0, len(window) - 1]), ends, part.frames)
            found = yield from corrected(part, states, method.part(begin, part.first), seed, search=False)
            before = Tracked(part, path.states.take(window))
            turned = most_turned(part, found)
            calm = turned <= _HALF * most_turned(part, before) and turned < least
            if calm and found.met.sum() >= before.met.sum():
                least, best = turned, (window, found)
        if best:
            path.put(best[0], best[1].states, best[1])
            done = int(best[0][-1])

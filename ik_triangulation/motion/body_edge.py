# SPDX-License-Identifier: GPL-3.0-or-later
"""The soft edge of what a body reaches: it leads over into frames that it misses, and out of them again.

At the edge of its reach a body unbends by the square root of the way, and a goal that leaves it is replaced by a nearer
one. In frames that are missed in any case all joints go on from the last frame that is reached, with the speed
they have there, and come back to the next one, as critically damped springs (Bollo 2018, "Inertialization"; Holden
2021, "Spring-it-on"). What is held stays; every frame that is reached stays as it is.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from ..cooperative import Work
from ..goals.support import BalanceTask
from ..goals.task import Task
from ..kinematics.arrays import Indices, Mask, Numbers
from ..kinematics.batch import States, Tree
from ..solvers.batch.change import System
from ..solvers.batch.descent import Descent
from ..solvers.body.priorities import exactly
from ..solvers.natural.posture import Posture
from ..solvers.natural.soft_edge import Pace, runs_of

_QUICKNESS = 0.3  # of the springs, 1 by frames at 30 a second: a trunk takes longer than an arm
_FINE = Descent(iterations=12, stall=4)


def led_over(
    tree: Tree,
    posture: Posture,
    states: States,
    tasks: Sequence[Task],
    steady: BalanceTask | None,
    missed: Mask,
    pace: Pace,
) -> Work[States]:
    """Return the states (F) with joints led over into and out of frames that are `missed` (F); all others stay.

    The `tasks` are those that are met there too. Frames that lose one of them for it stay as they are.
    """
    runs = list(runs_of(missed, pace))
    if not runs:
        return states
    quickness, offsets = _QUICKNESS * pace.rate, posture.offsets(states)
    changed = offsets.copy()
    for run, left, right in runs:
        changed[:, run] += _changes(offsets, missed, run, (left, right), quickness)
    frames = np.concatenate([run for run, _, _ in runs])
    some, goals = posture.take(frames).states(changed[:, frames]), [task.take(frames) for task in tasks]
    yield
    exactly(tree, some, goals, bounds=_FINE)
    before, after = (System(tree, each, goals) for each in (states.take(frames), some))
    kept = np.flatnonzero(after.met | (after.value <= before.value))
    found = states.copy()
    found.put(frames[kept], some.take(kept))
    return found


def _changes(
    offsets: Numbers, missed: Mask, run: Indices, sides: Sequence[tuple[int, int] | None], quickness: float
) -> Numbers:
    """Return the changes (k, n) of a run of frames by which it goes on from the frames on its sides."""
    springs = [
        None if side is None else _Spring.at(offsets, *side, missed, inward, quickness)
        for side, inward in zip(sides, (run, run[::-1]), strict=True)
    ]
    count = len(run) + 1
    if None not in springs:
        a, b = (spring for spring in springs if spring)
        # Each starts at what the other one leaves of the way there: in a short run both would go all of it.
        from_a, from_b = a.share(count), b.share(count)
        one, other = a.start - b.drift(count), b.start - a.drift(count)
        left = 1.0 - from_a * from_b
        springs = [a._replace(start=(one - from_b * other) / left), b._replace(start=(other - from_a * one) / left)]
    t = np.arange(1.0, count)
    found = np.zeros((len(offsets), len(run)))
    for spring, times in zip(springs, (t, count - t), strict=True):
        if spring is not None:
            found += spring.changes(times)
    return found


class _Spring(NamedTuple):
    """Critically damped springs (k) that are let go at `start` with a `speed` a frame, towards 0."""

    start: Numbers
    speed: Numbers
    quickness: Numbers

    @classmethod
    def at(cls, offsets: Numbers, near: int, beyond: int, missed: Mask, run: Indices, quickness: float) -> _Spring:
        """The springs by which a run goes on from the frame `near` it, and the one `beyond` that."""
        beyond = near if beyond < 0 or missed[beyond] else beyond
        first, second = offsets[:, run[0]], offsets[:, run[min(1, len(run) - 1)]]
        own = second - first  # the speed that the run has by itself
        start = offsets[:, near] - (first - own)
        speed = offsets[:, near] - offsets[:, beyond] - own
        # Springs neither swing over nor, where they are let go outwards, far out.
        towards = -speed / np.where(start == 0.0, 1.0, start)
        speed = np.where(towards < 0.0, np.clip(speed, -quickness * np.abs(start), quickness * np.abs(start)), speed)
        return cls(start, speed, np.maximum(towards, quickness))

    def share(self, t: float) -> Numbers:
        """Shares (k) of the start that are left after some frames."""
        found: Numbers = (1.0 + self.quickness * t) * np.exp(-self.quickness * t)
        return found

    def drift(self, t: float) -> Numbers:
        """Ways (k) that the speed makes in some frames."""
        found: Numbers = self.speed * t * np.exp(-self.quickness * t)
        return found

    def changes(self, times: Numbers) -> Numbers:
        """Ways (k, n) from 0 at these times."""
        return np.stack([self.start * self.share(t) + self.drift(t) for t in times.tolist()], axis=-1)

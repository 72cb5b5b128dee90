# SPDX-License-Identifier: GPL-3.0-or-later
"""The soft edge of what a body reaches: it leads over into frames that it misses, and out of them again.

At the edge of its reach a body unbends by the square root of the way, and a goal that leaves it is replaced by a nearer
one. In frames that are missed in any case all joints go on from the last frame that is reached, with the speed
they have there, and come back to the next one, as critically damped springs (Bollo 2018, "Inertialization"; Holden
2021, "Spring-it-on"). What is held stays; every frame that is reached stays as it is.
"""

from __future__ import annotations

from collections.abc import Sequence

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
        for side, inward in ((left, run), (right, run[::-1])):
            if side is not None:
                near, beyond = side
                beyond = near if beyond < 0 or missed[beyond] else beyond
                changed[:, inward] += _spring(offsets, near, beyond, inward, quickness)
    frames = np.concatenate([run for run, _, _ in runs])
    some, goals = posture.take(frames).states(changed[:, frames]), [task.take(frames) for task in tasks]
    yield
    exactly(tree, some, goals, bounds=_FINE)
    before, after = (System(tree, each, goals) for each in (states.take(frames), some))
    kept = np.flatnonzero(after.met | (after.value <= before.value))
    found = states.copy()
    found.put(frames[kept], some.take(kept))
    return found


def _spring(offsets: Numbers, near: int, beyond: int, run: Indices, quickness: float) -> Numbers:
    """Return changes (k, n) of a run of frames by which it goes on from the frame `near`, and the one `beyond` that."""
    first, second = offsets[:, run[0]], offsets[:, run[min(1, len(run) - 1)]]
    own = second - first  # the speed that the run has by itself
    start = offsets[:, near] - (first - own)
    speed = offsets[:, near] - offsets[:, beyond] - own
    # Springs neither swing over nor, where they are let go outwards, far out.
    towards = -speed / np.where(start == 0.0, 1.0, start)
    quick = np.maximum(towards, quickness)[:, None]
    speed = np.where(towards < 0.0, np.clip(speed, -quickness * np.abs(start), quickness * np.abs(start)), speed)
    t = np.arange(1.0, len(run) + 1.0)
    found: Numbers = (start[:, None] * (1.0 + quick * t) + speed[:, None] * t) * np.exp(-quick * t)
    return found

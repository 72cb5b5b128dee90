# SPDX-License-Identifier: GPL-3.0-or-later
"""All frames of one limb by the natural solver, and what a motion needs beside it: cycles, missed frames, easing."""

from __future__ import annotations

from collections.abc import Sequence
from math import radians

import numpy as np

from ..cooperative import Work
from ..goals.batch import Task
from ..goals.batch.avoid import AvoidTask
from ..kinematics.arrays import Numbers
from ..kinematics.batch import States, Tree
from ..kinematics.batch.algebra import at
from ..kinematics.batch.states import joined
from ..solvers.batch.settle import settle_preferences
from ..solvers.natural import PLAIN_LIMB, LimbForm, natural_path
from ..solvers.natural.posture import USUAL_FPS
from .easing import Calming, ease
from .knots import TaskKnots
from .mending import avoidable_jumps, calmer, fast_in, hasty_in, mend, pays, track_without_jumps
from .shots import Shot, Tracked
from .tracking import meet_missed
from .turns import leaps_of, ways_of

_SAME = 1e-5  # of the reach, or [rad]: a difference that closes a cycle
_BONES = 2  # joints of a limb without an end
LEAST_IN_CYCLE = 8  # frames
_MOST = radians(11.8)  # turn of a joint in one frame from which on a chain is calmed, where its goal is not as fast
_CALMING, _CALMED = Calming(rounds=4, averages=16), 2  # times


def limb_motion(
    tree: Tree,
    frames: States,
    tasks: Sequence[Task],
    reference: Numbers,
    form: LimbForm = PLAIN_LIMB,
    *,
    fps: float = USUAL_FPS,
    smoothing: float = 0.0,
    part_from: int | None = None,
    seed: int = 0,
    preferences: Sequence[Task] = (),
) -> Work[Tracked]:
    """Solve all frames of a limb near its `reference` (n, 4, F or 1), as natural_path() does, without jumps.

    A motion whose last frame asks for the same as its first is a cycle, unless it is part of a longer path, of which
    `part_from` is the number of the first frame. `preferences` are tasks to settle in what the others leave free.
    Yields between parts of the work.
    """
    count, cyclic = len(frames), part_from is None and closes(tree, frames, tasks, reference)
    own = np.arange(count - cyclic)
    is_limb = form.has_end or len(tree.joints) == _BONES
    states, _, possible, held = yield from natural_path(
        tree,
        frames.take(own),
        [task.take(own) for task in tasks],
        at(reference, own),
        form,
        fps=fps,
        smoothing=smoothing,
        cyclic=cyclic,
        first=part_from or 0,
    )
    if preferences:
        goals, wishes = ([task.take(own) for task in each] for each in (tasks, preferences))
        settle_preferences(tree, states, goals, wishes)
        yield
    if cyclic:
        possible = np.append(possible, possible[0])
        states = joined([states, states.take([0]).like(frames.take([count - 1]))])
    yield
    ways = ways_of(tree, frames, tasks)
    last = states.take([count - 1]) if count - 1 in held else None
    every = [*tasks, *(task for task in preferences if isinstance(task, AvoidTask))]
    shot = Shot(tree, frames, every, states.take([0]), last, ways, leaps_of(ways))
    path = Tracked(shot, States(states.angles, states.balls, frames.held, frames.root, frames.place))
    missed = np.flatnonzero(~path.met & possible)
    if len(missed) or len(avoidable_jumps(shot, path)):
        method = TaskKnots(tree, tasks, frames, shot.first, seed)
        if len(missed):
            yield from meet_missed(shot, path, missed, method, seed)
        other = None
        if not is_limb and len(avoidable_jumps(shot, path)):
            # A chain that winds up comes so far from its reference that another branch is nearer to that.
            other = yield from track_without_jumps(shot, method, seed, path)
            if pays(shot, path, other):
                path = calmer(shot, path, other)
        if len(avoidable_jumps(shot, path)):
            yield from mend(shot, path, method, seed)
            if other is not None and len(avoidable_jumps(shot, path)):
                path = calmer(shot, path, other)
        yield from ease(shot, path, hasty_in(shot, path))
    if not is_limb:
        for _ in range(_CALMED):
            yield from ease(shot, path, fast_in(shot, path, _MOST), _CALMING)
    return path


def closes(tree: Tree, frames: States, tasks: Sequence[Task], reference: Numbers) -> bool:
    """Tell whether the last frame asks for the same as the first one, so that the path is a cycle."""
    if len(frames) < LEAST_IN_CYCLE:
        return False
    if np.abs(reference[..., -1] - reference[..., 0]).max() > _SAME:
        return False
    ends = np.array([0, len(frames) - 1])
    some = frames.take(ends)
    ways = [task.take(ends).ways(some.root, some.place) for task in tasks]
    return all((way <= _SAME * tree.size).all() for way in ways)

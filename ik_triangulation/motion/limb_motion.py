# SPDX-License-Identifier: GPL-3.0-or-later
"""All frames of one limb, and of a body of which nothing moves but limbs that have no joint in common."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache
from math import radians
from typing import Any

import numpy as np

from ..cooperative import Work
from ..goals.obstacles import AvoidTask
from ..goals.orientation import AlongTask, LookTask, OrientTask
from ..goals.pole import PoleTask
from ..goals.task import PlaceTask, Task
from ..kinematics.arrays import Numbers
from ..kinematics.batch import Geometry, States, Tree
from ..kinematics.batch.algebra import at
from ..kinematics.batch.tree import joined
from ..solvers.batch.settle import settle_preferences
from ..solvers.body.swivelling import LimbOfBody
from ..solvers.natural import PLAIN_LIMB, LimbForm, natural_path
from ..solvers.natural.posture import USUAL_FPS
from .jumps import leaps_of, ways_of
from .knots import TaskKnots
from .repair import Calming, avoidable_jumps, calmer, ease, fast_in, hasty_in, mend, pays, track_without_jumps
from .tracking import Shot, Tracked, meet_missed

_SAME = 1e-5  # of the reach, or [rad]: a difference that closes a cycle
_BONES = 2  # joints of a limb without an end
LEAST_IN_CYCLE = 8  # frames
_MOST = radians(11.8)  # turn of a joint in one frame from which on a chain is calmed, where its goal is not as fast
_CALMING, _CALMED = Calming(rounds=4, averages=16), 2  # times

_PLAIN = PlaceTask | OrientTask | AlongTask | LookTask | PoleTask


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


@lru_cache(maxsize=32)
def limbs_of_still_body(tree: Tree) -> tuple[tuple[int, int], ...]:
    """The first joint and the tip of each limb of a tree in which nothing else moves, and none of them another one.

    Empty if that is not so.
    """
    moving, limbs, seen = np.unique(tree.joint_of), [], set[int]()
    if tree.moves_root:
        return ()
    for number, tip in enumerate(tree.tips):
        own = moving[tree.above[moving, tip.joint]]
        if seen & set(own.tolist()):
            return ()
        seen |= set(own.tolist())
        if len(own):
            limbs.append((int(own[0]), number))
    return tuple(limbs) if len(seen) == len(moving) else ()


def limbs_alone(
    tree: Tree,
    reference: States,
    tasks: Sequence[Task],
    *,
    fps: float = USUAL_FPS,
    smoothing: float = 0.0,
    seed: int = 0,
) -> Work[States | None]:
    """Return a body solved limb by limb, near the reference; None where it has to be solved as a whole.

    That is where something else moves, or goals fade or hang on the body itself. A limb without goals stays as it is.
    """
    limbs = limbs_of_still_body(tree)
    if not limbs or not all(isinstance(task, _PLAIN) for task in tasks):
        return None
    geometry, rotations = Geometry(tree, reference), tree.rotations(reference)
    found = rotations.copy()
    for first, tip in limbs:
        limb = LimbOfBody.of(tree, first, tip, rotations)
        own = [_of_limb(task, limb, tree) for task in tasks if task.tip == limb.tip]
        if own:
            joints = list(limb.joints)
            there = limb.frames(tree, geometry, rotations)
            how: dict[str, Any] = {"fps": fps, "smoothing": smoothing, "seed": seed}
            path = yield from limb_motion(limb.tree, there, own, rotations[joints], limb.form, **how)
            found[joints] = limb.tree.rotations(path.states)
    return tree.posed(found, reference)


def _of_limb(task: Any, limb: LimbOfBody, tree: Tree) -> Task:
    """The task of a body's tip as that of the limb alone."""
    if isinstance(task, PlaceTask):
        return replace(task, tip=0, level=0)
    moved: Task = replace(task, tip=0, level=1, length=task.length * limb.tree.size / tree.size)
    return moved

# SPDX-License-Identifier: GPL-3.0-or-later
"""All frames of one limb, and of a body of which nothing moves but limbs that have no joint in common."""

from __future__ import annotations

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
from ..kinematics.batch import Geometry, States, Tree
from ..kinematics.batch.tree import joined
from ..solvers.body.swivelling import LimbOfBody
from ..solvers.natural import PLAIN_LIMB, natural_path
from ..solvers.natural.soft_edge import Pace
from ..solvers.null_space import settle_preferences
from .jumps import leaps_of
from .knots import TaskKnots
from .repair import Calming, avoidable_jumps, calmer, ease, fast_in, hasty_in, mend, pays, track_without_jumps
from .shot import Shot
from .tracking import Tracked, Tracking, meet_missed

_BONES = 2  # joints of a limb without an end
_MOST = radians(11.8)  # turn of a joint in one frame from which on a chain is calmed, where its goal is not as fast
_CALMING, _CALMED = Calming(rounds=4, averages=16), 2  # times

_PLAIN = PlaceTask | OrientTask | AlongTask | LookTask | PoleTask


def limb_motion(shot: Shot) -> Work[Tracked]:
    """Solve all frames of a limb near its reference, as natural_path() does, without jumps.

    A shot that closes is a cycle. Yields between parts of the work.
    """
    tree, frames, tasks, form, seed = shot.tree, shot.reference, shot.tasks, shot.form or PLAIN_LIMB, shot.seed
    count, cyclic = len(frames), shot.closes
    own, ways = np.arange(count - cyclic), shot.ways
    leaps = leaps_of(ways)
    is_limb = form.has_end or len(tree.joints) == _BONES
    states, _, possible, held, measured = yield from natural_path(
        tree,
        frames.take(own),
        [task.take(own) for task in tasks],
        form,
        fps=shot.fps,
        smoothing=shot.smoothing,
        cyclic=cyclic,
        first=shot.part_from or 0,
        edge=Pace(shot.fps, leaps, cyclic) if 0 in shot.soft else None,
    )
    if shot.preferences:
        goals, wishes = ([task.take(own) for task in each] for each in (tasks, shot.preferences))
        settle_preferences(tree, states, goals, wishes)
        yield
    if cyclic:
        possible = np.append(possible, possible[0])
        states = joined([states, states.take([0]).like(frames.take([count - 1]))])
    yield
    last = states.take([count - 1]) if count - 1 in held else None
    every = [*tasks, *(task for task in shot.preferences if isinstance(task, AvoidTask))]
    tracking = Tracking(tree, frames, every, states.take([0]), last, ways, leaps)
    states = States(states.angles, states.balls, frames.held, frames.root, frames.place)
    path = Tracked(tracking, states, None if cyclic or shot.preferences else measured)
    missed = np.flatnonzero(~path.met & possible)
    if len(missed) or len(avoidable_jumps(tracking, path)):
        method = TaskKnots(tree, tasks, frames, tracking.first, seed)
        if len(missed):
            yield from meet_missed(tracking, path, missed, method, seed)
        other = None
        if not is_limb and len(avoidable_jumps(tracking, path)):
            # A chain that winds up comes so far from its reference that another branch is nearer to that.
            other = yield from track_without_jumps(tracking, method, seed, path)
            if pays(tracking, path, other):
                path = calmer(tracking, path, other)
        if len(avoidable_jumps(tracking, path)):
            yield from mend(tracking, path, method, seed)
            if other is not None and len(avoidable_jumps(tracking, path)):
                path = calmer(tracking, path, other)
        yield from ease(tracking, path, hasty_in(tracking, path))
    # Comfort, settled frame by frame, lets an ankle turn up to its limit, where a nearly straight knee bends at once.
    if not is_limb or shot.preferences:
        for _ in range(_CALMED):
            yield from ease(tracking, path, fast_in(tracking, path, _MOST), _CALMING)
    return path


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


def limbs_alone(shot: Shot) -> Work[States | None]:
    """Return a body solved limb by limb, near the reference; None where it has to be solved as a whole.

    That is where something else moves, or goals fade or hang on the body itself. A limb without goals stays as it is.
    """
    tree, reference, tasks = shot.tree, shot.reference, shot.tasks
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
            there = limb.tree.posed(rotations[joints], limb.frames(tree, geometry, rotations))
            soft = (0,) if tip in shot.soft else ()
            alone = replace(shot, tree=limb.tree, reference=there, tasks=own, form=limb.form, soft=soft)
            path = yield from limb_motion(alone)
            found[joints] = limb.tree.rotations(path.states)
    return tree.posed(found, reference)


def _of_limb(task: Any, limb: LimbOfBody, tree: Tree) -> Task:
    """The task of a body's tip as that of the limb alone."""
    if isinstance(task, PlaceTask):
        return replace(task, tip=0, level=0)
    moved: Task = replace(task, tip=0, level=1, length=task.length * limb.tree.size / tree.size)
    return moved

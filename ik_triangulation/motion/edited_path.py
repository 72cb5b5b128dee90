# SPDX-License-Identifier: GPL-3.0-or-later
"""A body along a path whose goals were edited: all frames at once from the poses that are shown, changed the least.

Unlike body_path() nothing is searched for: each frame starts from its own pose, so frames whose goals did not change
keep it, and the ends of the edited span fit the frames beyond in pose and speed. Goals far from their tips are
approached in several stretches, since one long step ends in other poses than the way there. Source: none.

Shown poses are changed as two solves of the same frames differ, one before the edit and one after it. So an edited shot
keeps what was changed by hand, and becomes what a bake makes of the edit where it is what a bake has made.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ..goals.task import Level, PlaceTask, Task
from ..kinematics.arrays import Numbers
from ..kinematics.batch import Geometry, States, Tree
from ..kinematics.batch.algebra import conjugated, exponential, lengths, product, rotation_vectors
from ..solvers.batch.change import System
from ..solvers.batch.descent import precisely
from ..solvers.body.flexing import body_compliance
from ..solvers.body.floor import kept_above
from ..solvers.body.priorities import POSTURE_GAIN, exactly
from ..solvers.natural.posture import Posture, Relaxation, time_weight
from .body_path import BodyPath
from .shot import Shot

_STEPS = 2  # of posture in each stretch
_STRETCH, _STRETCHES = 0.1, 4  # of the body's size: the longest way of a tip in one stretch, and the most of them


def edited_path(shot: Shot) -> BodyPath:
    """Return states that meet the tasks of a shot, as near as possible to the poses it shows, and even in time.

    These are its reference. Frames that cannot be met come as near as they can.
    """
    tree, shown, steady, floor = shot.tree, shot.reference, shot.steady, shot.floor
    asked = floor.raised(shot.tasks) if floor else list(shot.tasks)
    compliance = body_compliance(tree) if shot.compliance is None else shot.compliance
    relaxation = Relaxation(
        posture=Posture(tree, shown),
        compliance=compliance,
        weight=time_weight(shot.fps, 0.0),
        gain=POSTURE_GAIN,
        still=1e-3,
    )

    def solved(states: States, goals: Sequence[Task]) -> States:
        precise = precisely(tree, goals)
        states = relaxation.run(tree, states, [*precise, steady] if steady else precise, _STEPS)
        exactly(tree, states, precise, steady)
        return states

    states = shown
    for goals in _stretches(tree, shown, asked):
        states = solved(states, goals)
    if floor is not None and floor.crossed(geometry := Geometry(tree, states)):
        states = solved(states, [*asked, *kept_above(floor, (), geometry)])
    return BodyPath(states, System(tree, states, asked).met)


def _stretches(tree: Tree, shown: States, tasks: Sequence[Task]) -> list[list[Task]]:
    """Return the tasks at the ends of equal stretches of the tips' ways; last of all the tasks themselves."""
    geometry = Geometry(tree, shown)
    ways = {
        number: task.measure(geometry).errors
        for number, task in enumerate(tasks)
        if isinstance(task, PlaceTask) and task.level != Level.HOLD
    }
    farthest = max((float(lengths(way).max()) for way in ways.values()), default=0.0)
    count = int(np.clip(np.ceil(farthest / (_STRETCH * tree.size)), 1, _STRETCHES))
    stretches = []
    for part in range(1, count):
        goals = list(tasks)
        for number, way in ways.items():
            task = tasks[number]
            assert isinstance(task, PlaceTask)
            goals[number] = task.to_points(geometry.tip(task.tip) + way * (part / count))
        stretches.append(goals)
    return [*stretches, list(tasks)]


def carried_over(shown: Numbers, before: Numbers, after: Numbers, fades: Numbers) -> Numbers:
    """Return rotations (n, 4, F) of joints that are `shown`, turned as from those `before` to those `after`.

    By `fades` (2, F), from 1 at the first and at the last frame down to 0, the differences there are taken away.
    """
    turns = rotation_vectors(product(conjugated(before), after))
    carried: Numbers = product(shown, exponential(without_ends(turns, fades)))
    return carried


def without_ends(ways: Numbers, fades: Numbers) -> Numbers:
    """Return ways (..., F) without those at the first and the last frame, faded out by `fades` (2, F)."""
    left: Numbers = ways - ways[..., :1] * fades[0] - ways[..., -1:] * fades[1]
    return left


def end_fades(frames: Numbers, at: float, begins: bool, ends: bool) -> Numbers:
    """Return weights (2, F) of frames: from 1 at the first and at the last one smoothly down to 0 `at` a frame.

    0 throughout on a side that is free to change.
    """
    fades = np.zeros((2, len(frames)))
    for row, (end, bound) in enumerate(((frames[0], begins), (frames[-1], ends))):
        if bound and end != at:
            share = np.clip((frames - at) / (end - at), 0.0, 1.0)
            fades[row] = share * share * (3.0 - 2.0 * share)
    return fades

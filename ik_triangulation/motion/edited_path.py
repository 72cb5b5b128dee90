# SPDX-License-Identifier: GPL-3.0-or-later
"""A body along a path whose goals were edited: all frames at once from the poses that are shown, changed the least.

Unlike body_path() nothing is searched for: each frame starts from its own pose, so frames whose goals did not change
keep it, and the ends of the edited span fit the frames beyond in pose and speed. Goals far from their tips are
approached in several stretches, since one long step ends in other poses than the way there. Source: none.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ..goals.task import Level, PlaceTask, Task
from ..kinematics.batch import Geometry, States, Tree
from ..kinematics.batch.algebra import lengths
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

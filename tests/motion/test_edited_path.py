# SPDX-License-Identifier: GPL-3.0-or-later
"""An edited path: goals that moved are met from the poses that are shown, and all other frames stay as they are."""

import numpy as np
import pytest

from ik_triangulation.cooperative import finished
from ik_triangulation.goals.task import Level, PlaceTask
from ik_triangulation.kinematics.batch import Geometry
from ik_triangulation.motion.body_easing import largest_turns
from ik_triangulation.motion.body_path import body_path
from ik_triangulation.motion.faded_path import edited_path
from ik_triangulation.motion.shot import Shot
from ik_triangulation.solvers.natural.posture import Posture
from scripts.benchmarks import humanoid
from scripts.benchmarks.body_goals import crouch

FIGURE = humanoid.body()
TREE, FRAMES = FIGURE.tree, 41


@pytest.fixture(scope="module")
def shown():
    """A crouch as solved, with its tasks and balance."""
    reference, tasks, steady = crouch(FIGURE, FRAMES)
    return finished(body_path(Shot(tree=TREE, reference=reference, tasks=tasks, steady=steady))).states, tasks, steady


def pulled(tasks, way):
    """The tasks with the place of the first tip that reaches moved in the middle of the path."""
    share = np.clip(1.0 - np.abs(np.arange(FRAMES) - FRAMES // 2) / 10.0, 0.0, None)
    tip = next(task.tip for task in tasks if isinstance(task, PlaceTask) and task.level == Level.REACH)
    moved = list(tasks)
    for n, task in enumerate(tasks):
        if task.tip == tip and isinstance(task, PlaceTask):
            place = task.target.place + np.outer(way, share) * TREE.size
            moved[n] = task.to_points(place)
    return moved, tip, share > 0.0


@pytest.mark.parametrize("way", [(0.0, 0.0, 0.05), (0.05, -0.1, 0.2)])
def test_pulled_goals_are_met_evenly_and_frames_outside_stay(shown, way):
    states, tasks, steady = shown
    goals, tip, inside = pulled(tasks, np.array(way))
    found, met = edited_path(Shot(tree=TREE, reference=states, tasks=goals, steady=steady))
    assert met.all()
    assert np.abs(Posture(TREE, states).offsets(found)[:, ~inside]).max() < 2e-3
    assert largest_turns(TREE, found).max() < 1.5 * largest_turns(TREE, states).max()
    moved = Geometry(TREE, found).tip(tip) - Geometry(TREE, states).tip(tip)
    assert moved[2].max() == pytest.approx(way[2] * TREE.size, abs=0.01 * TREE.size)
    feet = [task for task in tasks if task.level == Level.HOLD]
    assert all((task.measure(Geometry(TREE, found)).off <= task.tolerance).all() for task in feet)

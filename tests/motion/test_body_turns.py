# SPDX-License-Identifier: GPL-3.0-or-later
"""The largest turn from frame to frame is found, and how far it stands out."""

from dataclasses import replace

import numpy as np
import pytest

from ik_triangulation.cooperative import finished
from ik_triangulation.goals.from_goals import point_task
from ik_triangulation.goals.task import PlaceTask
from ik_triangulation.kinematics.batch import Geometry
from ik_triangulation.motion.body_easing import eased, is_worth_trading, largest_turns, unsteadiness
from ik_triangulation.solvers.batch.change import System
from ik_triangulation.solvers.natural.posture import Posture
from scripts.benchmarks import humanoid
from scripts.benchmarks.body_goals import FEET, random_path, stands

FIGURE, ARM, FRAMES = humanoid.body(), "upper arm.L", 60


def test_a_turn_of_one_joint_is_the_largest():
    states = stands(FIGURE, 3)
    states.angles[0] = 0.0, 0.1, 0.1 + 1e-6
    assert largest_turns(FIGURE.tree, states) == pytest.approx([0.1, 1e-6], rel=1e-5)


def test_a_jump_stands_out_and_a_smooth_path_does_not():
    states = random_path(FIGURE, 2, 60)
    assert unsteadiness(FIGURE.tree, states) < 1.5
    states.angles[5, 30:] += 1.0
    assert unsteadiness(FIGURE.tree, states) > 5.0


def test_what_hardly_moves_does_not_jump():
    states = stands(FIGURE, 40)
    states.angles[0, 20:] += 1e-3
    assert unsteadiness(FIGURE.tree, states) < 0.2
    assert unsteadiness(FIGURE.tree, states.take(np.arange(2))) == 0.0
    assert unsteadiness(FIGURE.tree, states.take(np.arange(4))) < 0.2


class Unmoved(PlaceTask):
    """A place that no joint seems to bring back."""

    def rows(self, *_, **__):
        pass


def hasty(lost=None):
    """A path with a bump in its left arm, and tasks of feet and right hand; at a frame `lost` of the left hand too."""
    tree, states = FIGURE.tree, random_path(FIGURE, 2, FRAMES)
    arm = [n for n, j in enumerate(tree.joint_of[: tree.angles]) if FIGURE.joints[j].name == ARM]
    middle = tree.inside(np.zeros((tree.angles, 1)))[arm]
    states.angles[arm] += (middle - states.angles[arm]) * np.exp(-(((np.arange(FRAMES) - 30.0) / 1.5) ** 2))
    geometry = Geometry(tree, states)
    tips = [FIGURE.number_of[name] for name in (*FEET, "hand.R")]
    near, left = np.array([1e-3]), FIGURE.number_of["hand.L"]
    tasks = [replace(point_task(geometry.tip(tip), near), tip=tip) for tip in tips]
    if lost is not None:
        tolerance = np.where(np.arange(FRAMES) == lost, 1e-9, 1e3)
        tasks.append(Unmoved(target=point_task(geometry.tip(left), tolerance).target, tolerance=tolerance, tip=left))
    return states, tasks


def test_a_hasty_turn_is_eased_and_every_goal_kept():
    states, tasks = hasty()
    calmer = finished(eased(FIGURE.tree, Posture(FIGURE.tree, stands(FIGURE, FRAMES)), states, tasks, None))
    assert largest_turns(FIGURE.tree, calmer).max() < 0.8 * largest_turns(FIGURE.tree, states).max()
    assert System(FIGURE.tree, calmer, [task.within(2.0 * task.tolerance) for task in tasks]).met.all()


def test_frames_away_from_one_that_loses_a_goal_are_eased_all_the_same():
    states, tasks = hasty(lost=25)
    calmer = finished(eased(FIGURE.tree, Posture(FIGURE.tree, stands(FIGURE, FRAMES)), states, tasks, None))
    assert largest_turns(FIGURE.tree, calmer).max() < 0.9 * largest_turns(FIGURE.tree, states).max()
    assert System(FIGURE.tree, calmer, tasks[-1:]).met.all()
    assert FIGURE.tree.rotations(calmer)[..., 25] == pytest.approx(FIGURE.tree.rotations(states)[..., 25], abs=1e-3)


def test_turns_are_not_traded_for_calm_that_costs_another_goal():
    states, tasks = hasty(lost=30)
    still = random_path(FIGURE, 2, FRAMES)
    assert is_worth_trading(FIGURE.tree, states, still, tasks[:-1])
    assert not is_worth_trading(FIGURE.tree, states, still, tasks)

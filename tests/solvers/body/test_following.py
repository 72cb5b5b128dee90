# SPDX-License-Identifier: GPL-3.0-or-later
"""A body follows a hand that is dragged, its feet where they are, and does not leap."""

from dataclasses import replace

import numpy as np
import pytest

from ik_triangulation.goals.from_goals import balance_of, hold_tasks, point_task
from ik_triangulation.goals.task import Level
from ik_triangulation.kinematics.batch import Geometry
from ik_triangulation.kinematics.batch.tree import joined
from ik_triangulation.motion.body_easing import largest_turns
from ik_triangulation.solvers.batch.change import System
from ik_triangulation.solvers.body.reaching import Reaching
from ik_triangulation.solvers.body.solve_body import BodyFollower
from scripts.benchmarks import humanoid
from scripts.benchmarks.body_goals import FEET, HANDS, stands

FIGURE = humanoid.body()
TREE = FIGURE.tree


def dragged(way, moves=60):
    """States of a drag of the left hand along a way that is given by its end, and the last task of the hand."""
    placed = humanoid.standing(FIGURE).frames[..., None]
    held, steady = hold_tasks(FIGURE, FEET, placed), balance_of(FIGURE, FEET, placed)
    follower = BodyFollower(TREE, stands(FIGURE, 1), held, steady)
    states, number = [stands(FIGURE, 1)], FIGURE.number_of[HANDS[0]]
    begin = Geometry(TREE, states[0]).tip(number)
    for part in np.linspace(0.0, 1.0, moves):
        place = begin + part * np.array(way, float)[:, None]
        task = replace(point_task(place, np.array([1e-3])), tip=number, level=Level.REACH)
        moved = follower.moved(states[-1], [task])
        assert max(measured.off[0] for measured in System(TREE, moved, held).measured) < 1e-4
        states.append(moved)
    return joined(states), task


@pytest.mark.parametrize("way", [(0, -0.4, -0.75), (-0.2, -0.3, 0.6), (0.4, -0.2, 0.0)])
def test_a_hand_within_reach_is_followed_without_a_leap(way):
    states, task = dragged(way)
    last = states.take([len(states) - 1])
    assert System(TREE, last, [task]).met.all()
    assert np.degrees(largest_turns(TREE, states).max()) < 15.0


def test_the_weight_stays_above_the_feet_while_the_hand_goes_to_the_floor():
    states, _ = dragged((0.0, -0.3, -0.75))
    whole = balance_of(FIGURE, FEET, humanoid.standing(FIGURE).frames[..., None], 0.0)
    assert System(TREE, states, [whole]).measured[0].off.max() < 0.02


def test_a_hand_that_is_pulled_away_takes_the_body_as_far_as_the_feet_let_it():
    states, task = dragged((0.0, -3.0, 0.0), 90)
    off = System(TREE, states, [task]).measured[0].off
    assert off[-1] < off[0] - 1.0
    lower, upper = TREE.lower, TREE.upper
    assert (lower <= states.angles).all()
    assert (states.angles <= upper).all()


def test_posture_is_found_again_only_where_goals_have_changed_or_stay(monkeypatch):
    found, known = [], Reaching.amounts
    monkeypatch.setattr(Reaching, "amounts", lambda self, *those: found.append(those) or known(self, *those))
    dragged((0.0, -0.08, -0.12), 40)
    assert 5 < len(found) < 20
    found.clear()
    dragged((0.0, 0.0, 0.0), 10)
    assert len(found) == 10

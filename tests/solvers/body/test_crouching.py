# SPDX-License-Identifier: GPL-3.0-or-later
"""A body that stands crouches as far as its hands need it: back leans, hips go back and down, knees go ahead."""

from dataclasses import replace

import numpy as np
import pytest
from mathutils import Vector

from ik_triangulation.cooperative import finished
from ik_triangulation.goals.batch import Level
from ik_triangulation.goals.batch.faded import FadedTask
from ik_triangulation.goals.batch.from_goals import point_task
from ik_triangulation.goals.batch.of_bodies import balance_of, hold_tasks
from ik_triangulation.kinematics import Hinge
from ik_triangulation.kinematics.batch import Geometry
from ik_triangulation.motion.body_path import body_path
from ik_triangulation.solvers.batch.system import System
from ik_triangulation.solvers.body.crouching import crouch_of
from scripts.benchmarks import humanoid
from scripts.benchmarks.body_goals import FEET, HANDS, goals_of, stands

FIGURE = humanoid.body()
TREE = FIGURE.tree
NAMES = [joint.name for joint in FIGURE.joints]
HIPS, SHOULDERS, KNEES, ANKLES = ("pelvis", "pelvis"), ("upper arm.L", "upper arm.R"), ("shin.L", "shin.R"), FEET


def standing(ways, figure=FIGURE):
    """A stand for each column of ways (3, F), the tasks of both hands going these ways from where they hang, and
    balance."""
    reference, placed = stands(figure, ways.shape[1]), humanoid.standing(figure).frames[..., None]
    tasks, geometry = hold_tasks(figure, FEET, placed), Geometry(figure.tree, reference)
    for name in HANDS:
        number = figure.number_of[name]
        goal = point_task(geometry.tip(number) + ways, np.array([1e-3]))
        tasks.append(replace(goal, tip=number, level=Level.REACH))
    return reference, tasks, balance_of(figure, FEET, placed)


def middle(geometry, pair):
    return sum(geometry.heads[NAMES.index(name)] for name in pair) / 2.0


def lean(geometry, low, high):
    """Angle [degrees] ahead, which is -Y, of the line from the middle of a pair of joints to that of another."""
    line = middle(geometry, high) - middle(geometry, low)
    return np.degrees(np.arctan2(-line[1], line[2]))


def knee(geometry):
    return lean(geometry, ANKLES, KNEES) - lean(geometry, KNEES, HIPS)


def down(depths, ahead=0.35):
    depths = np.asarray(depths, float)
    return np.array([0.0 * depths, -ahead * np.minimum(depths / 0.3, 1.0), -depths])


def test_what_the_arms_reach_by_themselves_is_reached_standing():
    reference, tasks, steady = standing(np.array([[0.0, 0.1, 0.0], [0.0, -0.2, -0.3], [0.0, 0.2, 0.4]]))
    assert not crouch_of(TREE, reference, tasks, steady).depth(tasks).any()


def test_the_lower_the_hands_go_the_deeper_is_the_crouch():
    reference, tasks, steady = standing(down(np.linspace(0.0, 0.75, 40)))
    depth = crouch_of(TREE, reference, tasks, steady).depth(tasks)
    assert depth[0] < 0.2
    assert depth[-1] > 0.7
    assert (np.diff(depth) > -1e-9).all()
    assert np.diff(depth).max() < 0.1


@pytest.mark.parametrize("depth", [0.3, 0.7, 1.0, 1.3])
def test_a_crouch_keeps_its_feet_and_its_weight_above_them(depth):
    reference, tasks, steady = standing(down([0.5]))
    states = crouch_of(TREE, reference, tasks, steady).states(np.array([depth]))
    geometry, before = Geometry(TREE, states), Geometry(TREE, reference)
    for name in FEET:
        number = FIGURE.number_of[name]
        assert np.linalg.norm(geometry.tip(number) - before.tip(number)) < 0.01
    assert System(TREE, states, [steady]).measured[0].off[0] < 0.02
    assert (TREE.lower <= states.angles).all()
    assert (states.angles <= TREE.upper).all()


def test_a_crouch_has_the_pattern_of_people_who_lift():
    reference, tasks, _ = standing(down([0.5]))
    states = crouch_of(TREE, reference, tasks).states(np.array([1.0]))  # without balance, the pattern alone
    geometry, before = Geometry(TREE, states), Geometry(TREE, reference)
    assert knee(geometry)[0] - knee(before)[0] == pytest.approx(100.0, abs=6.0)
    assert lean(geometry, ANKLES, KNEES)[0] - lean(before, ANKLES, KNEES)[0] == pytest.approx(22.0, abs=3.0)
    assert lean(geometry, HIPS, SHOULDERS)[0] - lean(before, HIPS, SHOULDERS)[0] == pytest.approx(55.0, abs=10.0)
    moved = middle(geometry, HIPS) - middle(before, HIPS)
    assert moved[2, 0] < -0.2
    assert moved[1, 0] > 0.1  # back


def test_a_solved_descent_leans_and_goes_back_before_its_knees_go_ahead():
    reference, tasks, steady = standing(down(0.75 * (0.5 - 0.5 * np.cos(np.linspace(0.0, 2.0 * np.pi, 72)))))
    states, met = finished(body_path(TREE, reference, tasks, steady))
    assert met.all()
    geometry, begin = Geometry(TREE, states), Geometry(TREE, reference)
    bend, shin = knee(geometry) - knee(begin), lean(geometry, ANKLES, KNEES) - lean(begin, ANKLES, KNEES)
    back = lean(geometry, HIPS, SHOULDERS) - lean(begin, HIPS, SHOULDERS)
    deep = bend > 15.0
    assert 20 < deep.sum() < 72
    assert shin[0] < 8.0  # a stand is a stand
    assert (shin[deep] < 0.45 * bend[deep]).all()
    assert (back[deep] > 0.45 * bend[deep]).all()
    hips = middle(geometry, HIPS) - middle(begin, HIPS)
    assert (hips[1] > 0.0).all()  # never ahead
    assert hips[1].max() > 0.15
    assert np.abs(states.angles[:, -1] - states.angles[:, 0]).max() < np.radians(3.0)


def test_a_body_that_is_not_held_by_its_legs_or_does_not_move_has_no_crouch():
    reference, tasks, steady = standing(down([0.5]))
    assert crouch_of(TREE, reference, tasks[4:], None) is None
    hands = goals_of(FIGURE, reference, "feet held, hands, look")[:1]
    assert crouch_of(TREE, reference, [replace(hands[0], level=Level.HOLD), *tasks[4:]], None) is None
    figure = humanoid.body("FIXED")
    fixed, goals, steady = standing(down([0.5]), figure)
    assert crouch_of(figure.tree, fixed, goals, steady) is None


def test_hips_that_only_move_up_and_down_go_straight_down():
    figure = humanoid.body("UP_DOWN")
    reference, tasks, steady = standing(down([0.6]), figure)
    states = crouch_of(figure.tree, reference, tasks, steady).states(np.array([0.8]))
    moved = (states.place - reference.place)[:, 0]
    assert np.abs(moved[:2]).max() < 1e-9
    assert moved[2] < -0.1


def test_a_hand_without_influence_asks_for_no_crouch():
    reference, tasks, steady = standing(down([0.5, 0.5]))
    present = np.array([0.0, 1.0])
    faded = [FadedTask(task=task, rest=np.zeros((3, 2)), present=present) for task in tasks[4:]]
    depth = crouch_of(TREE, reference.take([0]), tasks, steady.take([0])).depth([task.take([0]) for task in faded])
    assert depth[0] == 0.0
    depth = crouch_of(TREE, reference.take([1]), tasks, steady.take([0])).depth([task.take([1]) for task in faded])
    assert depth[0] > 0.2


def test_knees_that_can_bend_only_about_the_other_axis_go_ahead_too():
    joints = [
        replace(joint, freedom=Hinge(Vector((-1.0, 0.0, 0.0)), np.radians(-150.0), 0.0))
        if "shin" in joint.name
        else joint
        for joint in FIGURE.joints
    ]
    figure = replace(FIGURE, joints=tuple(joints))
    reference, tasks, _ = standing(down([0.5]), figure)
    geometry = Geometry(figure.tree, crouch_of(figure.tree, reference, tasks).states(np.array([1.0])))
    assert knee(geometry)[0] > 60.0

# SPDX-License-Identifier: GPL-3.0-or-later
"""A body that nothing holds is moved by what its arms lack to their places, and by no more."""

import numpy as np
import pytest

from ik_triangulation.goals.task import FadedTask, PlaceTask
from ik_triangulation.kinematics.batch import Geometry
from ik_triangulation.kinematics.body import states_of
from ik_triangulation.solvers.body.hanging import arm_of, hung, is_place
from scripts.benchmarks import humanoid

from ...trees import place_task, places

FIGURE = humanoid.body()
TREE = FIGURE.tree
HANDS = [FIGURE.number_of[name] for name in ("hand.L", "hand.R")]
REST = states_of([FIGURE.rest_pose()])


def shoulder(number, states=REST):
    return Geometry(TREE, states).heads[arm_of(TREE, number).anchor, :, 0]


def task(number, place):
    return PlaceTask(target=places(np.array(place, float)[:, None]), tolerance=np.array([1e-3]), tip=number)


def test_an_arm_reaches_from_its_shoulder_as_far_as_its_bones_are_long():
    arm = arm_of(TREE, HANDS[0])
    assert FIGURE.joints[arm.anchor].name == "upper arm.L"
    assert arm.bends
    assert arm.length == pytest.approx(0.29 + 0.13 + 0.12 + 0.09)
    head = arm_of(TREE, FIGURE.number_of["head"])
    assert not head.bends
    assert head.length == TREE.tips[FIGURE.number_of["head"]].reach


def test_who_reaches_a_place_without_going_stays_and_who_lacks_some_goes_by_that():
    arm = arm_of(TREE, HANDS[0])
    near = shoulder(HANDS[0]) + np.array([0.0, 0.0, 0.9 * arm.length])
    assert hung(TREE, REST, [task(HANDS[0], near)]).place == pytest.approx(REST.place)
    bar = shoulder(HANDS[0]) + np.array([0.0, 0.0, arm.length + 0.5])
    moved = hung(TREE, REST, [task(HANDS[0], bar)])
    assert moved.place[:, 0] - REST.place[:, 0] == pytest.approx([0.0, 0.0, 0.5 + 0.05 * arm.length], abs=1e-9)
    assert Geometry(TREE, REST).heads == pytest.approx(Geometry(TREE, hung(TREE, REST, [])).heads)


def test_both_hands_of_a_body_come_within_reach_of_a_bar_that_is_high_and_aside():
    ends = [shoulder(number) + np.array([0.8, -0.4, 1.2]) for number in HANDS]
    tasks = [task(number, end) for number, end in zip(HANDS, ends, strict=True)]
    moved = hung(TREE, REST, tasks)
    for number, end in zip(HANDS, ends, strict=True):
        length = arm_of(TREE, number).length
        assert np.linalg.norm(end - shoulder(number, moved)) == pytest.approx(0.95 * length, rel=1e-3)


def test_places_are_those_of_tips_faded_or_not():
    place = place_task(TREE, REST, HANDS[0])
    faded = FadedTask(task=place, rest=np.zeros((3, 1)), present=np.ones(1))
    assert is_place(place)
    assert is_place(faded)
    assert not is_place(FIGURE)

# SPDX-License-Identifier: GPL-3.0-or-later
"""A hand that reaches too far and has to be turned as well is turned as far as it can be where it comes to."""

from dataclasses import replace

import numpy as np
import pytest

from ik_triangulation.goals.from_goals import hold_tasks, point_task
from ik_triangulation.goals.orientation import OrientTask
from ik_triangulation.goals.task import Level, PlaceTask
from ik_triangulation.kinematics.batch import Geometry
from ik_triangulation.kinematics.batch.algebra import compose, cross, exponential, lengths, matrices, turn_vectors
from ik_triangulation.motion.far_goals import _less, _unwound, drawn_in, far_tips
from scripts.benchmarks import humanoid
from scripts.benchmarks.body_goals import FEET, HANDS, stands

FIGURE = humanoid.body()
TREE, HAND, FRAMES = FIGURE.tree, FIGURE.number_of[HANDS[0]], 11
SHARE = np.sin(np.pi * np.arange(FRAMES) / (FRAMES - 1))
MIDDLE = FRAMES // 2


def goals(turn):
    """Held feet, and a hand that goes 1.6 m ahead and aside and comes back, and turns by an angle and back."""
    reference = stands(FIGURE, FRAMES)
    geometry = Geometry(TREE, reference)
    places = geometry.tip(HAND) + np.array((1.0, -1.2, 0.4))[:, None] * SHARE
    place = replace(point_task(places, np.array([1e-3])), tip=HAND, level=Level.REACH)
    axis = np.array((0.0, 0.0, 1.0))[:, None] * turn * SHARE
    rotation = compose(matrices(exponential(axis)), geometry.tip_rotation(HAND))
    angle = {"length": 0.3 * TREE.size, "tolerance": np.array([1e-2]), "tip": HAND, "level": Level.TURN}
    held = hold_tasks(FIGURE, FEET, humanoid.standing(FIGURE).frames[..., None])
    return reference, [*held, place, OrientTask(rotation=rotation, **angle)]


@pytest.mark.parametrize(("turn", "least"), [(0.4, 0.6), (-2.6, 1.9)])
def test_it_is_to_come_to_a_point_on_its_way_and_to_turn_as_far_as_it_can_there(turn, least):
    reference, tasks = goals(turn)
    far = far_tips(TREE, reference, tasks)
    assert set(far) == {HAND}
    near = drawn_in(TREE, reference, tasks, far)
    (point,) = (task for task in near if isinstance(task, PlaceTask) and task.tip == HAND)
    begin, goal = Geometry(TREE, reference).tip(HAND), tasks[-2].target.place
    way, all_of_it = lengths(point.target.place - begin), lengths(goal - begin)
    assert np.array_equal(point.target.place[:, [0, -1]], goal[:, [0, -1]])
    assert (way <= all_of_it + 1e-9).all()
    assert 0.5 < way[MIDDLE] < all_of_it[MIDDLE] - 0.1
    assert lengths(cross(point.target.place - begin, goal - begin)) == pytest.approx(0.0, abs=1e-9)
    (turned,) = (task for task in near if isinstance(task, OrientTask) and task.level == Level.TURN)
    rest = lengths(turn_vectors(compose(turned.rotation, tasks[-1].rotation.swapaxes(0, 1))))
    assert (rest[~far[HAND]] < 1e-9).all()
    assert rest == pytest.approx(rest[::-1], abs=1e-3)  # there and back alike
    assert (np.diff(rest[: MIDDLE + 1]) >= -1e-9).all()
    assert least < rest[MIDDLE] < least + 0.3


def test_what_is_left_of_a_turn_goes_on_past_half_a_turn():
    task = goals(1.0)[1][-1]
    angles = np.radians([0.0, 120.0, 175.0, 190.0, 200.0, 170.0, 60.0])
    axis = np.array((0.6, 0.0, 0.8))[:, None]
    seen = axis * np.where(angles > np.pi, angles - 2.0 * np.pi, angles) * task.length
    errors = _unwound(task, seen.copy())
    assert errors == pytest.approx(axis * angles * task.length)
    less = _less(replace(task, rotation=task.rotation[..., :7]), 0.5 * errors)
    apart = turn_vectors(compose(less.rotation[..., 1:], less.rotation[..., :-1].swapaxes(0, 1)))
    told = turn_vectors(compose(task.rotation[..., 1:7], task.rotation[..., :6].swapaxes(0, 1)))
    assert (lengths(apart) <= lengths(told) + 0.5 * np.abs(np.diff(angles)) + 1e-9).all()

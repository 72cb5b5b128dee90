# SPDX-License-Identifier: GPL-3.0-or-later
"""Goals of tips become tasks of the right tip and priority; held tips stay where a pose has them."""

from math import radians

import numpy as np
import pytest
from mathutils import Quaternion, Vector

from ik_triangulation.errors import TargetError
from ik_triangulation.goals import Avoid, Ball, Direction, Field, Goal, LookAt, Orientation, Point
from ik_triangulation.goals.from_goals import balance_of, body_tasks, hold_tasks
from ik_triangulation.goals.orientation import AlongTask, LookTask, OrientTask
from ik_triangulation.goals.task import Level, PlaceTask
from ik_triangulation.items import HELD
from ik_triangulation.kinematics.body import states_of
from ik_triangulation.solvers.batch.change import System
from scripts.benchmarks import humanoid

FIGURE = humanoid.body()
STAND = humanoid.standing(FIGURE)
ANGLE = radians(1.0)


def kinds(tasks):
    return [(type(task), FIGURE.tips[task.tip].name, task.level) for task in tasks]


def test_places_come_before_orientations():
    goal = Goal(Point((1, 2, 3)), (Orientation(Quaternion()), Direction(Vector((0, 1, 0)))))
    assert kinds(body_tasks(FIGURE, {"hand.R": [goal]}, ANGLE)) == [
        (PlaceTask, "hand.R", Level.REACH),
        (OrientTask, "hand.R", Level.TURN),
        (AlongTask, "hand.R", Level.TURN),
    ]


def test_a_tip_may_have_a_look_or_a_turn_and_no_place():
    goals = {"head": [LookAt(Vector((0, -3, 1)))], "hand.L": [Orientation(Quaternion())]}
    tasks = body_tasks(FIGURE, goals, ANGLE)
    assert kinds(tasks) == [(LookTask, "head", Level.TURN), (OrientTask, "hand.L", Level.TURN)]
    assert [task.tolerance[0] for task in tasks] == pytest.approx([ANGLE, ANGLE])


def test_the_goals_of_many_frames_are_one_task():
    goals = [Goal(Point((0.1 * k, 0, 1))) for k in range(5)]
    (task,) = body_tasks(FIGURE, {"hand.L": goals}, ANGLE)
    assert task.target.place.shape == (3, 5)


def test_all_tips_are_measured_by_one_length():
    goal = Goal(Point((1, 2, 3)), (Orientation(Quaternion()),))
    tasks = body_tasks(FIGURE, {name: [goal] for name in FIGURE.number_of}, ANGLE)
    assert len({task.length for task in tasks if isinstance(task, OrientTask)}) == 1


def test_held_tips_are_where_the_pose_has_them():
    tasks = hold_tasks(FIGURE, ["foot.L", "foot.R"], STAND.frames[..., None])
    system = System(FIGURE.tree, states_of([STAND]), tasks)
    assert {task.level for task in tasks} == {Level.HOLD}
    assert max(measured.off[0] for measured in system.measured) < 1e-6
    assert tasks[0].tolerance == pytest.approx(HELD * FIGURE.reach("foot.L"))


def test_balance_stands_on_the_contacts_of_the_held_tips():
    both, one, none = (
        balance_of(FIGURE, names, STAND.frames[..., None]) for names in (["foot.L", "foot.R"], ["foot.L"], [])
    )
    stand = states_of([STAND])
    assert none is None
    assert System(FIGURE.tree, stand, [both]).met.all()
    assert not System(FIGURE.tree, stand, [one]).met.any()  # the centre is between the feet


def test_goals_without_a_form_for_bodies_are_refused_by_the_name_of_their_tip():
    for goal in (
        Goal(Point((0, 0, 0)), (Avoid((Ball(Vector(), 1.0),)),)),
        Goal(Field(lambda place: place)),
    ):
        with pytest.raises(TargetError, match=r"'hand\.L'"):
            body_tasks(FIGURE, {"hand.L": [goal]}, ANGLE)
    with pytest.raises(TargetError, match="one axis"):
        body_tasks(FIGURE, {"head": [LookAt(Vector((0, 1, 0))), LookAt(Vector((0, 1, 0)), Vector((1, 0, 0)))]}, ANGLE)


def test_balance_stands_on_a_tip_as_much_as_it_counts():
    """The middle of the area goes from between the feet to the one that counts alone; without any there is none."""
    names, frames = ["foot.L", "foot.R"], np.repeat(STAND.frames[..., None], 4, -1)
    influence = {"foot.L": np.array([1.0, 1.0, 1.0, 0.0]), "foot.R": np.array([1.0, 0.5, 0.0, 0.0])}
    some = balance_of(FIGURE, names, frames, influence=influence)
    assert some.present.tolist() == [1.0, 1.0, 1.0, 0.0]
    both, left = (balance_of(FIGURE, each, frames).support for each in (names, names[:1]))
    ends = (
        np.array([each.corners.min(0)[:, 0] for each in (both, left)]),
        np.array([each.corners.max(0)[:, 0] for each in (both, left)]),
    )
    low, high = some.support.corners.min(0), some.support.corners.max(0)
    for found, (whole, alone) in zip((low, high), ends, strict=True):
        assert found[:, 0] == pytest.approx(whole, abs=1e-9)
        assert found[:, 2] == pytest.approx(alone, abs=1e-9)
        assert (np.minimum(whole, alone) - 1e-9 <= found[:, 1]).all()
        assert (found[:, 1] <= np.maximum(whole, alone) + 1e-9).all()
    sizes = high - low
    assert (sizes[:, 2] <= sizes[:, 1] + 1e-9).all()
    assert sizes[:, 1].sum() < sizes[:, 0].sum() - 1e-3
    full = balance_of(FIGURE, names, frames, influence={name: np.ones(4) for name in names})
    assert full.present.tolist() == [1.0]
    assert full.support.corners == pytest.approx(both.corners)

# SPDX-License-Identifier: GPL-3.0-or-later
"""Goals of tips become tasks of the right tip and priority; held tips stay where a pose has them."""

from math import radians

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

# SPDX-License-Identifier: GPL-3.0-or-later
"""Goals on the body's own bones: what is missing is seen from there, and motions of both change nothing."""

from dataclasses import replace
from math import radians

import numpy as np
import pytest
from mathutils import Quaternion, Vector

from ik_triangulation.errors import TargetError
from ik_triangulation.goals import Goal, LookAt, Orientation, Point, Pole
from ik_triangulation.goals.from_goals import CarriedTask, body_tasks
from ik_triangulation.goals.orientation import AlongTask, LookTask, OrientTask
from ik_triangulation.goals.shapes import Anywhere
from ik_triangulation.kinematics import Body, BodyTip, Free, Joint
from ik_triangulation.kinematics.batch import Geometry
from ik_triangulation.kinematics.batch.algebra import normalized
from ik_triangulation.solvers.batch.change import System
from ik_triangulation.solvers.batch.descent import descend
from ik_triangulation.solvers.batch.restarts import strayed

from ..trees import body as body_tree
from .test_task import COUNT, LOOSE, derivatives, inner_states, rows_of, tasks_of

JOINT = 2


def carried(tree, kind, joint=JOINT):
    tasks = tasks_of(tree, 3, tip=len(tree.tips) - 1)
    made = tasks | {
        "look": LookTask(
            axis=tasks["direction"].axis,
            point=tasks["place"].target.place,
            length=0.7,
            tolerance=LOOSE,
            tip=len(tree.tips) - 1,
            origin=np.array([[0.1], [0.2], [0.0]]),
        )
    }
    return CarriedTask(task=made[kind], carriers={joint: np.ones(1)})


@pytest.mark.parametrize("kind", ["place", "orientation", "direction", "look"])
def test_the_rows_lead_downhill_as_the_squared_error_does(kind):
    tree = body_tree()
    states = inner_states(tree, 2)
    task = carried(tree, kind)
    rows, measured = rows_of(task, Geometry(tree, states))
    slopes = -np.einsum("rf,rkf->kf", measured.errors, derivatives(task, tree, states))
    found = -np.einsum("rf,rkf->kf", measured.errors, rows)
    if kind in ("place", "orientation"):
        assert np.abs(found - slopes).max() < 1e-4 * max(1.0, np.abs(slopes).max())
    else:  # far off, the axis about which a direction is missed changes with it
        cosines = (found * slopes).sum(0) / np.sqrt((found**2).sum(0) * (slopes**2).sum(0))
        assert cosines.min() > 0.7


def test_columns_that_move_goal_and_tip_alike_have_no_effect():
    tree = body_tree()
    states = inner_states(tree, 2)
    rows, _ = rows_of(carried(tree, "place"), Geometry(tree, states))
    both = [
        k
        for k, joint in enumerate(tree.joint_of)
        if tree.above[joint, JOINT] and tree.above[joint, tree.tips[-1].joint]
    ]
    assert both
    assert np.abs(rows[:, both]).max() < 1e-9
    assert np.abs(rows[:, len(tree.joint_of) :]).max() < 1e-12
    assert np.abs(rows).max() > 0.1


def test_it_is_the_task_with_its_goal_where_the_joint_has_it():
    tree = body_tree()
    geometry = Geometry(tree, inner_states(tree, 2))
    frame = geometry.frames[JOINT]
    task = carried(tree, "orientation")
    wanted = np.einsum("ijf,jkf->ikf", frame[:, :3], task.task.rotation)
    plain = OrientTask(rotation=wanted, length=0.7, tolerance=LOOSE, tip=task.tip)
    assert np.allclose(task.measure(geometry).errors, plain.measure(geometry).errors)
    task = carried(tree, "direction")
    wanted = normalized(np.einsum("ijf,jf->if", frame[:, :3], task.task.direction))
    plain = AlongTask(axis=task.task.axis, direction=wanted, length=0.7, tolerance=LOOSE, tip=task.tip)
    assert np.allclose(task.measure(geometry).off, plain.measure(geometry).off, atol=1e-6)


def rested(tree, share):
    """A place that goes a share of its joint's way from where that rests, and the frames of the rest."""
    plain = tasks_of(tree, 3, tip=len(tree.tips) - 1)["place"]
    rest = Geometry(tree, inner_states(tree, 5)).frames[JOINT].copy()
    return CarriedTask(task=plain, carriers={JOINT: np.array([share])}, rests={JOINT: rest})


@pytest.mark.parametrize("share", [0.0, 0.4, 1.0])
def test_a_goal_goes_its_share_of_the_way_of_a_joint_from_where_that_rests(share):
    tree = body_tree()
    task, geometry = rested(tree, share), Geometry(tree, inner_states(tree, 2))
    rest, frame, goal = task.rests[JOINT], geometry.frames[JOINT], task.task.target.place
    seen = np.einsum("jif,jf->if", rest[:, :3], goal - rest[:, 3])
    there = np.einsum("ijf,jf->if", frame[:, :3], seen) + frame[:, 3]
    wanted = goal + share * (there - goal)
    assert np.allclose(task.measure(geometry).errors, wanted - geometry.tip(task.tip), atol=1e-12)
    assert np.allclose(task.take(np.array([1])).frame(geometry.take([1])), task.frame(geometry)[..., [1]])


@pytest.mark.parametrize("share", [0.4, 1.0])
def test_a_tip_comes_to_a_place_that_moves_with_another_limb(share):
    tree = body_tree()
    task, states = rested(tree, share), inner_states(tree, 2)
    geometry = Geometry(tree, states)
    frame = np.moveaxis(task.frame(geometry), -1, 0)
    there = np.linalg.solve(frame[:, :, :3], geometry.tip(task.tip).T[:, :, None] - frame[:, :, 3:])[:, :, 0].T
    task = replace(task, task=task.task.to_points(there).within(np.array([1e-6])))
    begun = strayed(tree, states.copy(), np.full(COUNT, 0.1), np.random.default_rng(4), 0.0)
    assert not System(tree, begun, [task]).met.any()
    assert descend(tree, begun, [task])[0].all()


def test_tasks_are_taken_and_changed_as_any():
    tree = body_tree()
    task, some = carried(tree, "place"), np.array([3, 1])
    geometry = Geometry(tree, inner_states(tree, 2))
    whole, _ = rows_of(task, geometry)
    part, _ = rows_of(task.take(some), geometry.take(some))
    assert np.abs(whole[..., some] - part).max() < 1e-12
    assert (task.at_level(2).level, task.within(np.array([0.5])).tolerance[0], task.count) == (2, 0.5, 3)
    assert len(task.ways(np.eye(3)[:, :, None], np.zeros((3, 1)))) == COUNT - 1


def star():
    """A trunk with three arms of two joints."""
    names = ["trunk", "a", "a2", "b", "b2", "c", "c2"]
    parents = [-1, 0, 1, 0, 3, 0, 5]
    joints = [
        Joint(name, Vector((0.1 * i, 0.5 * (i > 0), 0.0)), Quaternion(), Free(), 0.0) for i, name in enumerate(names)
    ]
    tips = [BodyTip(name, names.index(f"{name}2"), Vector((0, 0.4, 0))) for name in "abc"]
    return Body(tuple(joints), tuple(parents), tuple(tips))


def on(joint, *soft):
    return [Goal(Point(Vector((0.1, 0.2, 0.3))), tuple(soft), on=joint)]


def test_goals_that_no_motion_can_meet_are_refused_by_name():
    one = star()
    assert all(isinstance(task, CarriedTask) for task in body_tasks(one, {"a": on("b2")}, radians(1.0)))
    body_tasks(one, {"a": on("trunk"), "b": on("a2"), "c": on("b")}, radians(1.0))
    with pytest.raises(TargetError, match="'a' hangs on 'a2', a bone of the same limb"):
        body_tasks(one, {"a": on("a2")}, radians(1.0))
    with pytest.raises(TargetError, match="targets of 'c' and 'a' hang on each other's limbs"):
        body_tasks(one, {"a": on("b"), "b": on("c2"), "c": on("a2")}, radians(1.0))
    with pytest.raises(TargetError, match="hangs on 'tail', which is no joint"):
        body_tasks(one, {"a": on("tail")}, radians(1.0))
    with pytest.raises(TargetError, match="can have no pole"):
        body_tasks(one, {"a": on("b", Pole(Vector((1, 0, 0))))}, radians(1.0))


def test_a_head_may_look_at_its_own_hand_and_a_hand_turn_with_the_other():
    looks = [Goal(Anywhere(), (LookAt(Vector((0, 0.4, 0))),), on="b2")]
    tasks = body_tasks(star(), {"a": looks, "c": on("b2", Orientation(Quaternion()))}, radians(1.0))
    assert [type(task.task).__name__ for task in tasks] == ["LookTask", "PlaceTask", "OrientTask"]

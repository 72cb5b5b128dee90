# SPDX-License-Identifier: GPL-3.0-or-later
"""Comfort and obstacles of many poses cost what the scalar soft goals cost, and their rows are what a step changes."""

from dataclasses import replace
from random import Random

import numpy as np
import pytest
from mathutils import Matrix, Quaternion, Vector

from ik_triangulation.goals import Avoid, Ball, Block, Effort, Goal, Near, Orientation, Point
from ik_triangulation.goals.comfort import EffortTask, NearTask
from ik_triangulation.goals.from_goals import RADIAN, Refusal, preferences_of
from ik_triangulation.goals.goal import soft_cost
from ik_triangulation.goals.obstacles import AvoidTask
from ik_triangulation.kinematics import Pose
from ik_triangulation.kinematics.batch import Geometry, Tree

from ..chains import mixed, random_base, random_chain, random_direction, random_rotation

COUNT, DOWN = 12, Vector((0.3, 0.1, -2.0))


def poses(seed, limited=False):
    random = Random(seed)
    chain = mixed(seed, 4) if limited else random_chain(seed, 4)
    masses = Random(seed)  # of links, besides their length
    heavy = [replace(joint, mass=masses.uniform(0.2, 5.0)) for joint in chain.joints]
    chain = replace(chain, joints=tuple(heavy))
    found = [Pose(chain, random_base(random), [random_rotation(random) for _ in chain.joints]) for _ in range(COUNT)]
    for pose in found:
        pose.project()
    return found


def obstacles(random, pose):
    box = Matrix.LocRotScale(random_direction(random), random_rotation(random), Vector((0.4, 0.5, 0.3)))
    near = pose.base.to_translation() + 0.3 * random_direction(random)
    return Avoid((Ball(near, 0.6), Block(box, 0.1)), 0.7)


KINDS = {
    EffortTask: lambda random, pose: Effort(DOWN, 0.4),
    NearTask: lambda random, pose: Near([random_rotation(random) for _ in pose.rotations], 0.6),
    AvoidTask: obstacles,
}


@pytest.mark.parametrize("limited", [False, True])
@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
def test_they_cost_what_the_scalar_ones_cost(kind, limited):
    random, some = Random(5), poses(5, limited)
    chain = some[0].chain
    goals = [Goal(Point((0, 0, 1)), (KINDS[kind](random, pose),)) for pose in some]
    tree = Tree.of(chain)
    (task,) = preferences_of(goals, tree, chain.reach)
    assert type(task) is kind
    errors = task.measure(Geometry(tree, tree.states(some))).errors / (RADIAN * chain.reach)
    wanted = [soft_cost(pose, goal.soft) for pose, goal in zip(some, goals, strict=True)]
    assert max(wanted) > 0.005
    assert 0.5 * (errors**2).sum(0) == pytest.approx(wanted, abs=1e-4)
    few = np.array([3, 0])
    assert task.take(few).measure(Geometry(tree, tree.states([some[3], some[0]]))).errors / (
        RADIAN * chain.reach
    ) == pytest.approx(errors[:, few], abs=1e-9)


@pytest.mark.parametrize("kind", [EffortTask, AvoidTask], ids=lambda kind: kind.__name__)
def test_rows_are_what_a_small_step_takes_off(kind):
    random, some = Random(2), poses(2)
    tree = Tree.of(some[0].chain)
    goals = [Goal(Point((0, 0, 1)), (KINDS[kind](random, pose),)) for pose in some]
    (task,) = preferences_of(goals, tree, some[0].chain.reach)
    states = tree.states(some)
    geometry = Geometry(tree, states)
    rows = np.zeros((task.count, tree.columns, COUNT))
    task.rows(geometry, geometry.axes(), task.measure(geometry), rows)
    assert np.abs(rows).max() > 0.01
    for column in range(tree.columns):
        step = np.zeros((tree.columns, COUNT))
        step[column] = 1e-5
        two = [task.measure(Geometry(tree, tree.moved(states, geometry.frames, sign * step))) for sign in (-1, 1)]
        assert (two[0].errors - two[1].errors) / 2e-5 == pytest.approx(rows[:, column], abs=1e-3)


def test_comfort_gives_way_to_goals_that_can_be_met():
    (pose,) = poses(1)[:1]
    tree = Tree.of(pose.chain)
    alone, beside = (
        preferences_of([Goal(Point((0, 0, 1)), (*more, Effort(DOWN)))], tree, 1.0)[0].length
        for more in ((), (Orientation(Quaternion()),))
    )
    assert beside == pytest.approx(0.01 * alone)


def test_what_differs_from_frame_to_frame_is_refused_with_a_reason():
    (pose,) = poses(1)[:1]
    ball, point = Ball(Vector(), 1.0), Point((0, 0, 1))
    for one, other, reason in (
        ((Effort(DOWN),), (), "some frames only"),
        ((Effort(DOWN, 0.5),), (Effort(DOWN),), "is animated"),
        ((Avoid((ball,)),), (Avoid((ball, ball)),), "at some frames"),
    ):
        found = preferences_of([Goal(point, one), Goal(point, other)], Tree.of(pose.chain), 1.0)
        assert isinstance(found, Refusal)
        assert reason in found.reason
    assert preferences_of([Goal(point, (Effort(DOWN, 0.0),))], Tree.of(pose.chain), 1.0) == []


def test_what_a_library_has_no_form_for_is_refused_by_its_kind():
    class Own:
        weight, can_be_met = 1.0, False

    found = preferences_of([Goal(Point((0, 0, 1)), (Own(),))], Tree.of(poses(1)[0].chain), 1.0)
    assert found == Refusal("Own has no form for all frames at once")


def test_no_obstacles_are_no_task_and_rotations_that_are_the_same_one_column():
    (pose,) = poses(1)[:1]
    tree, point = Tree.of(pose.chain), Point((0, 0, 1))
    assert preferences_of([Goal(point, (Avoid(()),))] * 2, tree, 1.0) == []
    for wanted, columns in (([pose.rotations] * 3, 1), ([pose.rotations, pose.rotations[::-1]], 2)):
        (task,) = preferences_of([Goal(point, (Near(each),)) for each in wanted], tree, 1.0)
        assert task.rotations.shape == (len(pose), 4, columns)

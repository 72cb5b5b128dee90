# SPDX-License-Identifier: GPL-3.0-or-later
"""Tasks made of goals measure what the goals say of a pose."""

from random import Random

import numpy as np
import pytest
from mathutils import Matrix, Quaternion, Vector

from ik_triangulation.errors import TargetError
from ik_triangulation.goals import (
    Direction,
    Effort,
    Field,
    Goal,
    LookAt,
    Near,
    Orientation,
    Plane,
    Point,
    Pole,
    Ring,
    Sphere,
    Transformed,
)
from ik_triangulation.goals.from_goals import Refusal, are_formulas, tasks_of
from ik_triangulation.goals.orientation import missing_angle
from ik_triangulation.kinematics import Pose
from ik_triangulation.kinematics.batch import Geometry, Tree

from ..chains import random_base, random_chain, random_direction, random_rotation

COUNT = 12
SHAPES = Plane((0, 0, 0), (0, 0, 1)), Sphere((0, 0, 0), 0.7), Ring((0, 0, 0), (0, 1, 0), 0.5)


def poses(seed):
    random = Random(seed)
    chain = random_chain(seed, 4)
    return [Pose(chain, random_base(random), [random_rotation(random) for _ in chain.joints]) for _ in range(COUNT)]


def measured(poses, goals):
    tree = Tree.of(poses[0].chain)
    geometry = Geometry(tree, tree.states(poses))
    tasks = tasks_of(goals, poses[0].chain.reach)
    assert not isinstance(tasks, Refusal)
    return [task.measure(geometry).off for task in tasks]


def moved(random, shape, scale):
    frame = Matrix.LocRotScale(random_direction(random), random_rotation(random), Vector((scale,) * 3))
    return Transformed(shape, frame)


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("shape", SHAPES, ids=lambda shape: type(shape).__name__)
def test_a_shape_in_spaces_that_move_is_as_far_away_as_the_target_itself(seed, shape):
    random, some = Random(seed), poses(seed)
    goals = [Goal(moved(random, shape, 1.5)) for _ in some]
    (off,) = measured(some, goals)
    away = [(goal.target.closest(pose.tip) - pose.tip).length for goal, pose in zip(goals, some, strict=True)]
    assert off == pytest.approx(away, abs=1e-5)


@pytest.mark.parametrize("shape", SHAPES, ids=lambda shape: type(shape).__name__)
def test_a_shape_in_sheared_and_unevenly_scaled_spaces_is_as_far_away_as_the_target_itself(shape):
    random, some = Random(11), poses(3)
    shears = (Matrix.Shear("XZ", 4, (random.uniform(-0.4, 0.4), 0.2)) for _ in some)
    goals = [
        Goal(Transformed(shape, moved(random, shape, 1.0).into @ shear @ Matrix.Diagonal((1.0, 1.7, 0.6, 1.0))))
        for shear in shears
    ]
    (off,) = measured(some, goals)
    away = [(goal.target.closest(pose.tip) - pose.tip).length for goal, pose in zip(goals, some, strict=True)]
    assert off == pytest.approx(away, abs=1e-4)


@pytest.mark.parametrize("seed", range(4))
def test_soft_goals_miss_what_the_scalar_ones_miss(seed):
    random, some = Random(seed), poses(seed)
    kinds = {
        Orientation: lambda: Orientation(random_rotation(random)),
        Direction: lambda: Direction(random_direction(random), axis=Vector((0.3, 1.0, 0.2))),
        Pole: lambda: Pole(3.0 * random_direction(random), 0.4),
    }
    for kind, make in kinds.items():
        soft = [make() for _ in some]
        goals = [Goal(Point(random_direction(random)), (each,)) for each in soft]
        place, off = measured(some, goals)
        away = [(goal.target.location - pose.tip).length for goal, pose in zip(goals, some, strict=True)]
        assert place == pytest.approx(away, abs=1e-5)
        if kind is Pole:
            missing = [
                next((abs(value) for value, _ in each.residuals(pose, [])), 0.0)
                for each, pose in zip(soft, some, strict=True)
            ]
        else:
            missing = [each.missing(pose) for each, pose in zip(soft, some, strict=True)]
        assert off == pytest.approx(missing, abs=1e-4)


def test_tolerances_are_those_of_each_goal():
    goals = [Goal(Point((0, 0, 1)), (), tolerance) for tolerance in (0.1, 0.2, 0.3)]
    (task,) = tasks_of(goals, 1.0)
    assert task.tolerance.tolist() == [0.1, 0.2, 0.3]


def test_what_has_no_form_on_arrays_is_refused_with_a_reason():
    point = Point((0, 0, 1))
    up = Vector((0, 0, 1))
    for goals, reason in (
        ([Goal(Field(lambda place: place))], "shape Field"),
        ([Goal(point, (Effort(-up),))], "comfort"),
        ([Goal(point, (Near([Quaternion()]),))], "comfort"),
        ([Goal(point), Goal(point, (Direction(up),))], "some frames only"),
        ([Goal(point), Goal(Plane((0, 0, 0), up))], "changes from frame to frame"),
        ([Goal(point, (Direction(up, weight=0.5),)), Goal(point, (Direction(up),))], "is animated"),
        ([Goal(point, (Direction(up),)), Goal(point, (Direction(up, axis=up),))], "direction is for another axis"),
        ([Goal(point, (LookAt(up),)), Goal(point, (LookAt(up, origin=up),))], "look is for another axis of the bone"),
        ([Goal(Transformed(Field(lambda place: place), Matrix()))], "shape Field"),
    ):
        assert reason in tasks_of(goals, 1.0).reason


def test_a_soft_goal_without_weight_asks_for_nothing():
    assert len(tasks_of([Goal(Point((0, 0, 1)), (Direction(Vector((0, 0, 1)), weight=0.0),))] * 2, 1.0)) == 1


def test_a_goal_that_rests_is_a_single_column():
    (task,) = tasks_of([Goal(Point((0, 0, 1)))] * 5, 1.0)
    assert task.target.place.shape == (3, 1)
    assert np.array_equal(task.target.place[:, 0], (0.0, 0.0, 1.0))


def test_a_shape_that_all_share_is_as_far_away_as_the_target_itself():
    some = poses(7)
    for shape in SHAPES:
        (off,) = measured(some, [Goal(shape)] * COUNT)
        assert off == pytest.approx([(shape.closest(pose.tip) - pose.tip).length for pose in some], abs=1e-5)


def test_only_a_shape_stretched_unevenly_is_no_formula():
    def tasks(*scale):
        return tasks_of([Goal(Transformed(SHAPES[1], Matrix.Diagonal((*scale, 1.0))))] * 2, 1.0)

    assert are_formulas(tasks(2.0, 2.0, 2.0))
    assert not are_formulas(tasks(2.0, 1.0, 2.0))
    assert not are_formulas(Refusal("none"))
    assert are_formulas([])


def test_the_largest_angle_to_what_is_wanted_is_missing():
    rotation, place = Quaternion((0.0, 0.0, 1.0), 0.5), Vector((1.0, 0.0, 0.0))
    half, ahead = Orientation(Quaternion((0.0, 0.0, 1.0), 0.8)), Direction(rotation @ Vector((0.0, 1.0, 0.0)))
    look = LookAt(place + Quaternion((0.0, 0.0, 1.0), 1.1) @ Vector((0.0, 2.0, 0.0)))
    assert missing_angle([half, ahead], place, rotation) == pytest.approx(0.3, abs=1e-5)
    assert missing_angle([half, look, ahead], place, rotation) == pytest.approx(0.6, abs=1e-5)
    assert missing_angle([Effort(Vector((0, 0, -1)))], place, rotation) is None


def test_a_point_that_is_nowhere_is_refused():
    with pytest.raises(TargetError, match=r"Target location \(.*\) is not finite"):
        Point((0.0, float("nan"), 1.0))

# SPDX-License-Identifier: GPL-3.0-or-later
"""Tasks measure what the scalar goals measure, and their rows are the derivatives of that."""

from dataclasses import replace
from random import Random

import numpy as np
import pytest
from mathutils import Matrix, Quaternion, Vector

from ik_triangulation.goals import Direction, Orientation, Pole
from ik_triangulation.goals.comfort import PoleTask
from ik_triangulation.goals.orientation import AlongTask, OrientTask
from ik_triangulation.goals.target_shapes import BatchTarget
from ik_triangulation.goals.task import PlaceTask
from ik_triangulation.kinematics import Free
from ik_triangulation.kinematics.batch import Geometry, Tree

from ..chains import mixed, random_base, random_chain, random_direction, random_rotation
from ..trees import HERE, ROUNDING, batch_of, drawn, places, poses_of, random_tree, rest_of, special
from .targets import SHAPES

COUNT = 6
LOOSE = np.array([1e-3])


def tasks_of(tree, seed, tip=0):
    """A task of every kind, with values of its own for each pose."""
    random = Random(seed)
    directions = np.array([random_direction(random)[:] for _ in range(COUNT)]).T
    turns = np.array([random_rotation(random).to_matrix() for _ in range(COUNT)], float).transpose(1, 2, 0)
    points = 2.0 * np.array([random_direction(random)[:] for _ in range(COUNT)]).T
    axis = np.array(random_direction(random)[:])[:, None]
    return {
        "place": PlaceTask(target=places(points), tolerance=LOOSE, tip=tip),
        "orientation": OrientTask(rotation=turns, length=0.7, tolerance=LOOSE, tip=tip),
        "direction": AlongTask(axis=axis, direction=directions, length=0.7, tolerance=LOOSE, tip=tip),
        "pole": PoleTask(
            location=3.0 * directions, angle=np.linspace(-2.0, 2.0, COUNT), length=0.7, tolerance=LOOSE, tip=tip
        ),
    }


every_task = pytest.mark.parametrize("name", ["place", "orientation", "direction", "pole"])


def rows_of(task, geometry):
    measured = task.measure(geometry)
    out = np.zeros((task.count, geometry.tree.columns, len(geometry.states)))
    task.rows(geometry, geometry.axes(), measured, out)
    return out, measured


def derivatives(task, tree, states, step=1e-6):
    """The decrease of the errors for a change of each column, by central differences; the states are free to move."""
    geometry = Geometry(tree, states)
    columns = []
    for column in range(tree.columns):
        ends = []
        for sign in (1.0, -1.0):
            change = np.zeros((tree.columns, len(states)))
            change[column] = sign * step
            ends.append(task.measure(Geometry(tree, tree.moved(states, geometry.frames, change))).errors)
        columns.append((ends[1] - ends[0]) / (2.0 * step))
    return np.array(columns).swapaxes(0, 1)


def inner_states(tree, seed):
    """States away from every bound, so that no change is shortened."""
    states = drawn(tree, rest_of(tree, COUNT), np.random.default_rng(seed), 0.6)
    middle = 0.5 * (np.maximum(tree.lower, -3.0) + np.minimum(tree.upper, 3.0))
    states.angles = middle + 0.8 * (states.angles - middle)
    return states


def trees():
    return [Tree.of(mixed(4, 7)), random_tree(3), random_tree(5, moves_root=True)]


every_tree = pytest.mark.parametrize("tree", trees(), ids=["chain", "tree", "tree that moves"])


@pytest.mark.parametrize("name", ["place", "orientation", "direction"])
@every_tree
def test_errors_shrink_along_the_rows(name, tree):
    states = inner_states(tree, 2)
    for tip in range(len(tree.tips)):
        task = at_goal(tasks_of(tree, 2, tip)[name], tree, states)
        rows, _ = rows_of(task, Geometry(tree, states))
        assert np.abs(rows - derivatives(task, tree, states)).max() < 1e-6


def at_goal(task, tree, states):
    """The same task with an angle that the states have reached already: farther away its error is not linear."""
    rotation = Geometry(tree, states).tip_rotation(task.tip)
    if isinstance(task, OrientTask):
        return replace(task, rotation=rotation.copy())
    if isinstance(task, AlongTask):
        return replace(task, direction=np.einsum("ijf,jk->if", rotation, task.axis))
    return task


@pytest.mark.parametrize("through", SHAPES.values(), ids=list(SHAPES))
@pytest.mark.parametrize(
    "tree", [Tree.of(random_chain(1, 5)), random_tree(5, moves_root=True)], ids=["chain", "tree that moves"]
)
def test_rows_of_a_shape_leave_out_the_motion_along_it(through, tree):
    states = inner_states(tree, 3)
    random = Random(3)
    shape = through(random_direction(random) * 8.0, random)
    target = BatchTarget(shape, HERE, np.zeros((3, 1)), np.ones(1))
    task = PlaceTask(target=target, tolerance=LOOSE)
    rows, _ = rows_of(task, Geometry(tree, states))
    assert np.abs(rows - derivatives(task, tree, states)).max() < 1e-4


def test_what_is_missing_is_what_the_scalar_goals_miss():
    for build in (mixed, special):
        chain = build(3, 6)
        tree, states = batch_of(chain, COUNT, 3)
        tasks, geometry = tasks_of(tree, 4), Geometry(tree, states)
        off = {name: task.measure(geometry).off for name, task in tasks.items()}
        for n, pose in enumerate(poses_of(chain, tree, states)):
            point = Vector(tasks["place"].target.place[:, n].tolist())
            assert off["place"][n] == pytest.approx((point - pose.tip).length, abs=10.0 * ROUNDING)
            rotation = Quaternion(_quaternion(tasks["orientation"].rotation[..., n]))
            assert off["orientation"][n] == pytest.approx(Orientation(rotation).missing(pose), abs=1e-3)
            along = tasks["direction"]
            direction = Direction(Vector(along.direction[:, n].tolist()), Vector(along.axis[:, 0].tolist()))
            assert off["direction"][n] == pytest.approx(direction.missing(pose), abs=1e-3)
            pole = Pole(Vector(tasks["pole"].location[:, n].tolist()), float(tasks["pole"].angle[n]))
            ((missing, _),) = pole.residuals(pose, ())
            assert off["pole"][n] == pytest.approx(abs(missing), abs=1e-3)


def _quaternion(matrix):
    return Matrix(matrix.tolist()).to_quaternion()


def test_a_direction_that_is_opposite_is_half_a_turn_off():
    tree = Tree.of(random_chain(1, 2, 1.0, [Free()] * 2))
    states = rest_of(tree, COUNT)
    axis = np.array([[0.0], [1.0], [0.0]])
    now = Geometry(tree, states).tip_rotation()[:, 1]
    for direction, wanted in ((now, 0.0), (-now, np.pi)):
        measured = AlongTask(axis=axis, direction=direction.copy(), length=2.0, tolerance=LOOSE).measure(
            Geometry(tree, states)
        )
        assert measured.off == pytest.approx(wanted, abs=1e-9)
        assert np.linalg.norm(measured.errors, axis=0) == pytest.approx(2.0 * wanted, abs=1e-9)


@every_task
def test_tasks_are_taken_pose_by_pose_and_keep_what_was_measured(name):
    tree, states = batch_of(mixed(4, 7), COUNT, 4)
    task, some = tasks_of(tree, 6)[name], np.array([4, 0, 5])
    geometry = Geometry(tree, states)
    whole, measured = rows_of(task, geometry)
    part, measured_part = rows_of(task.take(some), geometry.take(some))
    assert np.abs(part - whole[..., some]).max() < 1e-14
    assert np.abs(measured_part.errors - measured.take(some).errors).max() < 1e-14
    other = task.measure(Geometry(tree, drawn(tree, states, np.random.default_rng(1))))
    other.put(some, measured)
    assert np.array_equal(other.errors[:, some], measured.errors[:, some])
    assert np.array_equal(other.off[some], measured.off[some])


def test_priorities_are_changed_without_anything_else():
    tree = Tree.of(mixed(4, 7))
    for task in tasks_of(tree, 6).values():
        assert task.at_level(3).level == 3
        assert vars(task.at_level(3)) == {**vars(task), "level": 3}


def test_tolerances_are_shared_without_anything_else():
    for task in tasks_of(Tree.of(mixed(4, 7)), 6).values():
        nearer = task.within(0.1 * task.tolerance)
        assert nearer.tolerance == pytest.approx(0.1 * task.tolerance)
        assert vars(nearer) == {**vars(task), "tolerance": nearer.tolerance}


def test_a_base_that_is_the_same_for_all_serves_as_well():
    chain = mixed(2, 5)
    tree, states = batch_of(chain, COUNT, 2, moving=False)
    base = random_base(Random(1))
    assert states.root.shape[-1] == 1
    moved = states.like(tree.states([_at(chain, base)] * COUNT))
    task = PlaceTask(target=places(np.zeros((3, 1))), tolerance=LOOSE)
    assert task.measure(Geometry(tree, moved)).errors.shape == (3, COUNT)


def _at(chain, base):
    pose = chain.rest_pose()
    pose.base = base
    return pose

# SPDX-License-Identifier: GPL-3.0-or-later
"""What every task can do beside measuring: give a part of its poses, another rank or tolerance, and its goal's ways."""

from dataclasses import replace
from itertools import pairwise
from math import radians

import numpy as np
import pytest

from ik_triangulation.goals.comfort import EffortTask, NearTask
from ik_triangulation.goals.from_goals import CarriedTask
from ik_triangulation.goals.obstacles import AvoidTask, Axes, Balls, Blocks, ClearTask, Segments
from ik_triangulation.goals.orientation import LookTask
from ik_triangulation.goals.support import BalanceTask, FloorTask, Heel, HeelTask, Support, balance_task
from ik_triangulation.goals.task import FadedTask
from ik_triangulation.kinematics import Free
from ik_triangulation.kinematics.batch import Geometry, Tree
from ik_triangulation.kinematics.batch.algebra import compose, exponential, matrices, normalized

from ..chains import random_chain
from ..trees import drawn, rest_of
from .test_task import COUNT, derivatives, rows_of, tasks_of

LINKS = 4
TREE = Tree.of(random_chain(3, LINKS, 1.0, [Free()] * LINKS))
STATES = drawn(TREE, rest_of(TREE, COUNT), np.random.default_rng(7))
TOLERANCE = np.linspace(1e-3, 2e-3, COUNT)
SOME = np.array([4, 0, 5])


def units(seed, *shape):
    return normalized(np.random.default_rng(seed).normal(size=shape))


def heel():
    """The heel of a shin, the third link, that leans by other angles at each pose: flat, lifting and along with it."""
    heads = Geometry(TREE, STATES).heads
    shin = normalized(heads[2] - heads[3])
    across = normalized(np.cross(shin, units(3, 3, COUNT), axis=0))
    leans = np.radians([5.0, 19.0, 24.0, 30.0, 40.0, 60.0])
    upright = np.cos(leans) * shin - np.sin(leans) * np.cross(across, shin, axis=0)
    return Heel(knee=2, ankle=3, across=across, upright=upright)


def every_task():
    """A task of every kind, with values of its own for each pose wherever it takes them."""
    random = np.random.default_rng(5)
    points, made = random.normal(size=(3, COUNT)), tasks_of(TREE, 3)
    made = {name: replace(task, tolerance=TOLERANCE) for name, task in made.items()}
    near = normalized(random.normal(size=(LINKS, 4, COUNT)))
    segments = Segments(random.normal(size=(2, 3, COUNT)), random.normal(size=(2, 3, COUNT)))
    axes = Axes(segments, units(8, 2, 3, COUNT), np.array([0.0, 0.3]))
    frames = normalized(random.normal(size=(3, 3, COUNT)))
    volumes = [
        Balls(0.5 * points, np.linspace(0.5, 1.5, COUNT)),
        Blocks(0.3 * points, frames, np.full((3, COUNT), 0.6), np.linspace(0.0, 0.2, COUNT)),
    ]
    angle = {"length": 0.7, "tolerance": TOLERANCE}
    joints = np.arange(LINKS)
    corners = random.normal(size=(3, 3, COUNT)) + 4.0
    return made | {
        "look": LookTask(**angle, axis=units(2, 3, 1), point=3.0 * points, origin=np.array([[0.1], [0.2], [0.0]])),
        "floor": FloorTask(
            joints=joints,
            points=random.normal(size=(LINKS, 3)),
            up=units(9, 3, 1)[:, 0],
            heights=random.normal(size=(LINKS, COUNT)),
            tolerance=TOLERANCE,
        ),
        "balance": BalanceTask(
            masses=np.full(LINKS, 1.0 / LINKS),
            centres=random.normal(size=(LINKS, 3, 1)),
            support=Support.under(corners, units(4, 3, 1)[:, 0]),
            tolerance=TOLERANCE,
            present=np.array([1.0, 0.0, 1.0, 1.0, 1.0, 0.0]),
        ),
        "effort": EffortTask(**angle, up=units(6, 3, COUNT)),
        "near": NearTask(**angle, tree=TREE, rotations=near),
        "avoid": AvoidTask(**angle, volumes=volumes, joints=LINKS, reach=2.0),
        "clear": ClearTask(**angle, axes=axes, least=random.uniform(1.0, 2.0, (2, 2, COUNT)), joints=np.array([2, 3])),
        "heel": HeelTask(task=made["orientation"], heel=heel()),
        "carried": CarriedTask(
            task=made["place"], carriers={0: np.array([1.0, 1.0, 0, 0, 0, 0]), 1: np.array([0, 0, 0, 1.0, 1.0, 1.0])}
        ),
        "faded": FadedTask(task=made["place"], rest=0.3 * points, present=np.array([1.0, 1.0, 0.0, 1.0, 1.0, 0.0])),
    }


MADE = every_task()
each_task = pytest.mark.parametrize("task", MADE.values(), ids=list(MADE))


@each_task
def test_some_poses_have_the_errors_and_rows_that_they_have_among_all(task):
    geometry, part = Geometry(TREE, STATES), task.take(SOME)
    rows, measured = rows_of(task, geometry)
    few, of_few = rows_of(part, geometry.take(SOME))
    assert np.abs(measured.errors).max() > 0.01
    assert len(measured.errors) == task.count == part.count
    assert few == pytest.approx(rows[..., SOME], abs=1e-12)
    assert of_few.errors == pytest.approx(measured.errors[:, SOME], abs=1e-12)
    assert of_few.off == pytest.approx(measured.off[SOME], abs=1e-12)
    if not isinstance(task, EffortTask | NearTask):  # these are never off
        assert part.tolerance == pytest.approx(TOLERANCE[SOME])
    assert (part.tip, part.level) == (task.tip, task.level)


@each_task
def test_rank_and_tolerance_change_and_nothing_else(task):
    geometry = Geometry(TREE, STATES)
    other, tight = task.at_level(task.level + 1), task.within(0.1 * TOLERANCE)
    assert (other.level, tight.level) == (task.level + 1, task.level)
    assert tight.tolerance == pytest.approx(0.1 * TOLERANCE)
    assert other.tolerance is task.tolerance
    for changed in (other, tight):
        assert type(changed) is type(task)
        assert np.array_equal(changed.measure(geometry).errors, task.measure(geometry).errors)


def test_out_of_a_ball_it_goes_upwards_from_its_very_middle():
    depth, out = Balls(np.zeros((3, 1)), np.array([0.5])).depth(np.array([[[0.0, 0.3], [0.0, 0.0], [0.0, 0.4]]]))
    assert depth == pytest.approx(np.array([[0.5, 0.0]]))
    assert out[0] == pytest.approx(np.array([[0.0, 0.6], [0.0, 0.0], [1.0, 0.8]]))


def test_a_centre_of_mass_is_above_its_support_within_a_thousandth_of_the_size():
    support = MADE["balance"].support
    task = balance_task(np.array([1.0, 3.0]), np.zeros((2, 3)), support, 2.0)
    assert task.masses == pytest.approx([0.25, 0.75])
    assert (task.tolerance, task.support) == (pytest.approx([2e-3]), support)


@pytest.mark.parametrize("name", ["floor", "balance", "effort", "near", "avoid", "clear"])
def test_bounds_and_comfort_have_no_goal_that_goes_anywhere(name):
    assert MADE[name].ways(np.eye(3)[:, :, None], np.zeros((3, 1))).shape == (0,)


ROOT = matrices(exponential(np.random.default_rng(1).normal(size=(3, COUNT))))
PLACE = np.random.default_rng(2).normal(size=(3, COUNT))


def seen(points):
    """Points (3, F) seen from the root, one after the other."""
    return [ROOT[..., n].T @ (points[:, n] - PLACE[:, n]) for n in range(points.shape[1])]


def steps(places):
    return [float(np.linalg.norm(b - a)) for a, b in pairwise(places)]


def turns(rotations):
    """Angles [rad] from each matrix to the next."""
    traces = [np.trace(b @ a.T) for a, b in pairwise(rotations)]
    return [float(np.arccos(np.clip((trace - 1.0) / 2.0, -1.0, 1.0))) for trace in traces]


def test_ways_of_a_goal_are_those_that_the_root_sees():
    orientation = MADE["orientation"].rotation
    from_root = [ROOT[..., n].T @ orientation[..., n] for n in range(COUNT)]
    directions = MADE["direction"].direction
    wanted = {
        "place": steps(seen(MADE["place"].target.place)),
        "pole": steps(seen(MADE["pole"].location)),
        "look": steps(seen(MADE["look"].point)),
        "direction": [0.7 * way for way in steps([ROOT[..., n].T @ directions[:, n] for n in range(COUNT)])],
        "orientation": [0.7 * angle for angle in turns(from_root)],
    }
    wanted |= {"heel": wanted["orientation"], "faded": wanted["place"]}
    for name, ways in wanted.items():
        assert MADE[name].ways(ROOT, PLACE) == pytest.approx(ways, rel=1e-6), name


def test_ways_of_a_carried_goal_are_those_that_its_carrier_sees_and_none_where_that_changes():
    points = MADE["place"].target.place
    own, free = steps(points.T), steps(seen(points))
    assert MADE["carried"].ways(ROOT, PLACE) == pytest.approx([own[0], 0.0, 0.0, own[3], own[4]])
    loose = CarriedTask(task=MADE["place"], carriers={0: np.array([1.0, 1.0, 0, 0, 0, 1.0])})
    assert loose.ways(ROOT, PLACE) == pytest.approx([own[0], 0.0, free[2], free[3], 0.0])
    always = CarriedTask(task=MADE["place"], carriers={0: np.ones(1)})
    assert always.ways(ROOT, PLACE) == pytest.approx(own)
    resting = CarriedTask(task=MADE["place"], carriers={0: np.ones(1)}, rests={0: np.eye(3, 4)[..., None]})
    assert resting.ways(ROOT, PLACE) == pytest.approx(free)


def test_a_foot_is_turned_by_the_lift_of_its_heel_and_the_rows_are_its_derivatives():
    """At its goal, where errors are linear; the lift by its integral, from 20 to 34 degrees with a growing slope."""
    lifting, geometry = heel(), Geometry(TREE, STATES)
    angles = [0.0, 0.0, radians(4.0) ** 2 / radians(28.0), radians(10.0) ** 2 / radians(28.0)]
    angles += [radians(13.0), radians(33.0)]
    angle, slope = lifting.lift(geometry.heads)
    assert angle == pytest.approx(angles, abs=1e-9)
    assert slope == pytest.approx([0.0, 0.0, 4.0 / 14.0, 10.0 / 14.0, 1.0, 1.0], abs=1e-9)
    back = matrices(exponential(-lifting.across * angle))
    flat = compose(back, geometry.tip_rotation())
    task = HeelTask(task=replace(MADE["orientation"], rotation=flat), heel=lifting)
    rows, measured = rows_of(task, geometry)
    assert np.abs(measured.errors).max() < 1e-9
    assert np.abs(rows - derivatives(task, TREE, STATES)).max() < 1e-5
    assert lifting.turned(flat, geometry.heads) == pytest.approx(geometry.tip_rotation(), abs=1e-9)
    unbent = task.take(np.array([0, 1]))
    plain, _ = rows_of(unbent.task, geometry.take(np.array([0, 1])))
    assert np.array_equal(rows_of(unbent, geometry.take(np.array([0, 1])))[0], plain)


def test_nearness_has_the_axes_of_its_joint_as_rows():
    states = drawn(TREE, rest_of(TREE, COUNT), np.random.default_rng(3))
    task = replace(MADE["near"], rotations=TREE.rotations(states))
    rows, measured = rows_of(task, Geometry(TREE, states))
    assert np.abs(measured.errors).max() < 1e-9
    # A joint that turns takes along those beyond it, and what these miss: their own rotations stay.
    assert np.abs(rows - derivatives(task, TREE, states)).max() < 1e-5

# SPDX-License-Identifier: GPL-3.0-or-later
"""Goals of a tip that is pulled or retimed move in the world as asked, and nothing else does."""

from types import SimpleNamespace

import numpy as np
import pytest
from mathutils import Quaternion

from ik_triangulation.goals.from_goals import CarriedTask
from ik_triangulation.goals.orientation import LookTask
from ik_triangulation.jobs.edits.edited_shot import moved_tasks, retimed_states, retimed_tasks
from ik_triangulation.kinematics.batch import Geometry
from ik_triangulation.kinematics.batch.algebra import exponential, matrices, quaternions

from ...goals.test_task import COUNT, inner_states, tasks_of
from ...trees import body

TREE, TIP, JOINT = body(), 1, 2
STATES = inner_states(TREE, 4)
MADE = tasks_of(TREE, 3, tip=TIP)
LOOK = LookTask(
    axis=MADE["direction"].axis, point=MADE["place"].target.place, length=0.7, tolerance=np.array([1e-3]), tip=TIP
)
ON_ITS_OWN = {JOINT: np.ones(1)}


def shot(tasks):
    random = np.random.default_rng(2)
    worlds = np.zeros((4, 4, COUNT))
    worlds[:3, :3] = 2.0 * matrices(exponential(random.normal(size=(3, COUNT))))
    worlds[:3, 3], worlds[3, 3] = random.normal(size=(3, COUNT)), 1.0
    return SimpleNamespace(worlds=worlds, tree=TREE, shown=STATES, tasks=tasks, frames=range(1, COUNT + 1))


def in_world(given, points):
    return np.einsum("ijf,jf->if", given.worlds[:3, :3], points) + given.worlds[:3, 3]


def test_goals_are_moved_by_shares_of_an_offset_of_the_world():
    offset, shares = np.array((0.3, -0.2, 0.5)), np.linspace(0.0, 1.0, COUNT)
    carried = CarriedTask(task=MADE["place"], carriers=ON_ITS_OWN)
    given = shot([MADE["place"], LOOK, carried, MADE["orientation"], MADE["place"].at_level(2)])
    given.tasks[-1] = tasks_of(TREE, 3, tip=0)["place"]
    place, look, on_joint, orientation, other = moved_tasks(given, TIP, offset, shares)
    for before, after in ((given.tasks[0].target.place, place.target.place), (LOOK.point, look.point)):
        assert in_world(given, after) - in_world(given, before) == pytest.approx(offset[:, None] * shares)
    assert orientation is given.tasks[3]
    assert other is given.tasks[4]
    geometry = Geometry(TREE, STATES)
    missed = [task.measure(geometry).errors for task in (carried, on_joint)]
    ways = np.einsum("ijf,jf->if", given.worlds[:3, :3], missed[1] - missed[0])
    assert ways == pytest.approx(offset[:, None] * shares)


def test_goals_are_those_of_other_frames_and_between_them_on_the_way():
    tasks = [MADE["place"], MADE["orientation"], LOOK, MADE["direction"], tasks_of(TREE, 3, tip=0)["place"]]
    tasks.append(CarriedTask(task=MADE["place"], carriers={0: np.array([1.0, 1.0, 1, 0, 0, 0])}))
    given, sources = shot(tasks), [1.0, 1.5, 2.0, 4.5, 6.0, 9.0]
    place, orientation, look, direction, other, carried = retimed_tasks(given, TIP, sources)
    points = MADE["place"].target.place
    wanted = np.array(
        [points[:, 0], points[:, :2].mean(1), points[:, 1], points[:, 3:5].mean(1), points[:, 5], points[:, 5]]
    ).T
    for found in (place.target.place, look.point, carried.task.target.place):
        assert found == pytest.approx(wanted)
    assert other is tasks[4]
    assert direction.direction == pytest.approx(MADE["direction"].direction[:, [0, 0, 1, 4, 5, 5]])
    assert carried.carriers[0].tolist() == [1.0, 1.0, 1.0, 0.0, 0.0, 0.0]
    before, after = (quaternions(each.rotation).T for each in (MADE["orientation"], orientation))
    for n, (one, two) in enumerate([(0, 0), (0, 1), (1, 1), (3, 4), (5, 5), (5, 5)]):
        first, second = Quaternion(before[one]), Quaternion(before[two])
        middle = first.slerp(second if first.dot(second) >= 0.0 else -second, 0.5)
        assert abs(middle.dot(Quaternion(after[n]))) == pytest.approx(1.0, abs=1e-5)


def test_states_are_those_of_other_frames_with_the_frames_above_them_kept():
    frames, sources = range(10, 10 + COUNT), [10.0, 10.25, 13.0, 13.5, 15.0, 15.0]
    found = retimed_states(STATES, frames, sources)
    assert (found.root, found.held) == (STATES.root, STATES.held)
    for name in ("angles", "place"):
        before, after = getattr(STATES, name), getattr(found, name)
        assert after[:, 0] == pytest.approx(before[:, 0])
        assert after[:, 1] == pytest.approx(0.75 * before[:, 0] + 0.25 * before[:, 1])
        assert after[:, 3] == pytest.approx(0.5 * (before[:, 3] + before[:, 4]))
        assert after[:, 4] == pytest.approx(before[:, 5])
    one = STATES.take(slice(0, 1))
    assert np.array_equal(retimed_states(one, [1], [1.0]).angles, one.angles)
    assert np.linalg.norm(found.balls, axis=1) == pytest.approx(1.0)

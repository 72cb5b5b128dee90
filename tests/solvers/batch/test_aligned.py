# SPDX-License-Identifier: GPL-3.0-or-later
"""A body is moved as a whole to where its tips are nearest to their goals."""

from dataclasses import replace

import numpy as np
import pytest
from mathutils import Vector

from ik_triangulation.goals.orientation import AlongTask, LookTask
from ik_triangulation.goals.shapes import Plane
from ik_triangulation.goals.target_shapes import BatchTarget
from ik_triangulation.goals.task import PlaceTask
from ik_triangulation.kinematics import EulerLimits
from ik_triangulation.kinematics.batch import Geometry, Tree
from ik_triangulation.kinematics.batch.algebra import exponential, matrices, product, rotate
from ik_triangulation.kinematics.body import states_of
from ik_triangulation.solvers.batch.change import System
from ik_triangulation.solvers.batch.restarts import aligned, solve_cold, tells_tilt
from scripts.benchmarks import humanoid

from ...trees import body, drawn, orient_task, place_task, random_tree, rest_of, violation

LOOSE = np.array([1e-4])


def moved_whole(tree, states, seed=4):
    """The same poses, each moved and turned as a whole."""
    random, count = np.random.default_rng(seed), len(states)
    turn = exponential(random.normal(size=(3, count)))
    there = states.copy()
    there.balls[0] = product(turn, states.balls[0])  # the root of body() has no rest rotation
    there.place = states.place + 3.0 * random.normal(size=(3, count))
    return there


def bent(count=20):
    tree = body()
    return tree, drawn(tree, rest_of(tree, count), np.random.default_rng(1), 0.5)


def test_a_body_that_was_moved_as_a_whole_is_met_at_once():
    tree, states = bent()
    there = moved_whole(tree, states)
    tasks = [make(tree, there, tip) for tip in range(2) for make in (place_task, orient_task)]
    assert not System(tree, states, tasks).met.any()
    assert System(tree, aligned(tree, states, tasks), tasks).met.all()


@pytest.mark.parametrize("kind", ["along", "look"])
def test_directions_tell_the_turn_where_places_leave_it_open(kind):
    tree, states = bent()
    there = moved_whole(tree, states)
    geometry, axis = Geometry(tree, there), np.array([[0.0], [0.0], [1.0]])
    ways = rotate(geometry.tip_rotation(), np.broadcast_to(axis, (3, 20)))
    more = {"axis": axis, "length": 0.3, "tolerance": np.array([0.2])}
    if kind == "along":
        task = AlongTask(direction=ways, **more)
    else:
        task = LookTask(point=geometry.tip() + 100.0 * ways, **more)
    tasks = [*(place_task(tree, there, tip, tolerance=1e-3) for tip in range(2)), task]
    assert System(tree, aligned(tree, states, tasks), tasks).met.all()


def test_a_place_that_all_poses_share_is_taken_beside_a_plane():
    tree, states = bent()
    still, one = np.eye(3)[:, :, None], np.ones(1)
    point = BatchTarget(None, still, np.array([[0.4], [5.0], [1.0]]), one)
    plane = BatchTarget(Plane(Vector(), Vector((0.0, 1.0, 0.0))), still, np.array([[0.0], [5.0], [0.0]]), one)
    tasks = [PlaceTask(target=target, tolerance=LOOSE, tip=tip) for tip, target in enumerate((point, plane))]
    found = aligned(tree, states, tasks)
    assert System(tree, found, tasks).value.mean() < 0.1 * System(tree, states, tasks).value.mean()


def test_a_root_with_limits_turns_as_far_as_they_allow():
    free, (states,) = body(), [None]
    joints = [replace(free.joints[0], freedom=EulerLimits("XYZ", (-0.3,) * 3, (0.3,) * 3)), *free.joints[1:]]
    tree = Tree(joints, free.parents, free.tips, moves_root=True)
    states = drawn(tree, rest_of(tree, 30), np.random.default_rng(1), 0.5)
    there = drawn(tree, states, np.random.default_rng(2))
    tasks = [place_task(tree, there, tip) for tip in range(2)]
    found = aligned(tree, states, tasks)
    assert violation(tree, found) == 0.0
    assert System(tree, found, tasks).value.mean() < 0.3 * System(tree, states, tasks).value.mean()


def test_a_root_that_moves_up_and_down_only_does_so():
    free = body()
    tree = Tree(free.joints, free.parents, free.tips, True, free.tips[0].place.__class__((0.0, 0.0, 1.0)))
    states = drawn(tree, rest_of(tree, 5), np.random.default_rng(1), 0.5)
    there = moved_whole(tree, states)
    found = aligned(tree, states, [place_task(tree, there, tip) for tip in range(2)])
    assert np.array_equal(found.place[:2], states.place[:2])
    assert np.abs(found.place[2] - states.place[2]).min() > 0.01


def test_without_places_or_without_a_root_that_moves_nothing_changes():
    tree, states = bent(4)
    assert aligned(tree, states, [orient_task(tree, states)]) is states
    chain = random_tree(1)
    some = rest_of(chain, 4)
    assert aligned(chain, some, [place_task(chain, some)]) is some


def test_a_single_state_that_is_restarted_keeps_the_place_that_was_found_for_it():
    """One place for all restarts was never replaced: what was called reached stood elsewhere."""
    tree = body()
    goals = drawn(tree, rest_of(tree, 12), np.random.default_rng(0))
    for n in range(12):
        states = rest_of(tree, 1)
        tasks = [make(tree, goals.take([n]), tip) for tip in range(2) for make in (place_task, orient_task)]
        met, _ = solve_cold(tree, states, tasks)
        assert met.all()
        assert System(tree, states, tasks).met.all()


def test_states_that_share_a_place_get_their_own_where_it_moves():
    tree = body()
    states = rest_of(tree, 6)
    states.place = states.place[:, :1]
    goals = drawn(tree, rest_of(tree, 6), np.random.default_rng(0))
    tasks = [place_task(tree, goals, tip) for tip in range(2)]
    assert solve_cold(tree, states, tasks)[0].all()
    assert System(tree, states, tasks).met.all()
    assert np.abs(matrices(states.balls[0])).max() <= 1.0 + 1e-12


def test_a_tip_weighs_as_much_as_its_share():
    tree, states = bent()
    there, other = moved_whole(tree, states), moved_whole(tree, states, seed=5)
    tasks = [make(tree, there, 0) for make in (place_task, orient_task)]
    tasks += [make(tree, other, 1) for make in (place_task, orient_task)]
    missed = [System(tree, aligned(tree, states, tasks, of_tips=(1.0, s)), tasks[:2]).value.mean() for s in (1e-6, 1.0)]
    assert missed[0] < 1e-6 < missed[1]


def test_of_the_frames_of_a_motion_one_that_tells_another_turn_is_drawn_to_those_around_it():
    tree, states = bent()
    there = moved_whole(tree, states.take(np.zeros(20, np.intp)))
    still = there.take(np.zeros(20, np.intp))
    still.balls[0][:, 10] = there.balls[0][:, 7]
    still.place = there.place[:, [0] * 20]
    tasks = [make(tree, still, tip) for tip in range(2) for make in (place_task, orient_task)]
    begun = states.take(np.zeros(20, np.intp))
    alone, together = (aligned(tree, begun, tasks, smoothed=times) for times in (0, 32))
    turns = [1.0 - np.abs((each.balls[0][:, 9] * each.balls[0][:, 10]).sum()) for each in (alone, together)]
    assert turns[0] > 0.1
    assert turns[1] < 0.01


@pytest.mark.parametrize(
    ("places", "turns", "tilt"),
    [
        (("hand.L", "hand.R"), (), False),  # it hangs
        (("foot.L", "foot.R"), (), False),  # it steps
        (("hand.L",), ("hand.L", "foot.R"), False),
        (("hand.L",), ("head",), True),
        ((), ("head", "hand.L"), True),
        (("foot.L", "hand.R"), (), True),
        (("foot.L", "head"), (), True),
        (("hand.L", "head"), (), False),
        ((), (), False),
    ],
)
def test_the_lean_of_a_body_is_told_by_its_trunk_or_from_both_ends(places, turns, tilt):
    figure = humanoid.body()
    rest = humanoid.standing(figure)
    states, number = states_of([rest]), figure.number_of
    tasks = [place_task(figure.tree, states, number[name]) for name in places]
    tasks += [orient_task(figure.tree, states, number[name]) for name in turns]
    assert tells_tilt(figure.tree, [replace(task, level=1) for task in tasks]) == tilt
    assert tells_tilt(figure.tree, [place_task(figure.tree, states, number["hand.L"], level=0)]), "it is held"

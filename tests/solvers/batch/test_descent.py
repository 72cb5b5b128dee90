# SPDX-License-Identifier: GPL-3.0-or-later
"""Descents of many states: what they reach, what they keep, and that states do not influence one another."""

from random import Random

import numpy as np
import pytest
from mathutils import Matrix, Vector

from ik_triangulation.goals import Orientation, Point
from ik_triangulation.kinematics import Free, Hinge
from ik_triangulation.kinematics.batch import Geometry, Tree
from ik_triangulation.solvers import solve
from ik_triangulation.solvers.batch import descent
from ik_triangulation.solvers.batch.change import System
from ik_triangulation.solvers.batch.descent import Descent, at_one_level, descend, hold
from ik_triangulation.solvers.batch.restarts import solve_cold

from ...chains import limited, mixed, random_chain, random_limits, straight
from ...trees import (
    KINDS,
    batch_of,
    body,
    drawn,
    orient_task,
    place_task,
    places,
    poses_of,
    rest_of,
    special,
    stiffened,
    violation,
)

BUILDERS = {**KINDS, "special": special}
every_chain = pytest.mark.parametrize("build", BUILDERS.values(), ids=list(BUILDERS))


def near_and_far(tree, states, seed=11):
    """Other states: some a little way off, some anywhere."""
    share = np.where(np.arange(len(states)) % 2, 1.0, 0.02)
    return drawn(tree, states, np.random.default_rng(seed), share)


def tasks_towards(tree, there):
    """The place alone, place before orientation, and both alike."""
    both = [place_task(tree, there), orient_task(tree, there)]
    return both[:1], both, at_one_level(both)


@every_chain
def test_no_descent_leaves_the_limits_or_increases_the_value(build, long):
    for seed in range(4 if long else 1):
        tree, states = batch_of(build(seed, 6), 24, seed)
        for tasks in tasks_towards(tree, near_and_far(tree, states)):
            after = states.copy()
            before = System(tree, states, tasks).value
            met, value = descend(tree, after, tasks, Descent(iterations=20))
            assert violation(tree, after) == 0.0
            assert (value <= before).all()
            again = System(tree, after, tasks)
            assert np.allclose(value, again.value, rtol=1e-9, atol=1e-15)
            assert np.array_equal(met, again.met)


@every_chain
def test_targets_that_moved_a_little_are_reached(build):
    tree, states = batch_of(build(5, 7), 60, 5)
    there = drawn(tree, states, np.random.default_rng(2), 0.01)
    met, _ = descend(tree, states, [place_task(tree, there)])
    assert met.mean() > 0.95


@every_chain
@pytest.mark.parametrize("size", [7, 1000])
def test_chunks_of_any_size_give_the_same_result(build, size, monkeypatch):
    tree, states = batch_of(build(2, 6), 40, 2)
    for tasks in tasks_towards(tree, near_and_far(tree, states)):
        whole, parts = states.copy(), states.copy()
        met, value = descend(tree, whole, tasks, Descent(iterations=6))
        with monkeypatch.context() as patch:
            patch.setattr(descent, "CHUNK", size)
            met_in_parts, value_in_parts = descend(tree, parts, tasks, Descent(iterations=6))
        # Few states are solved by other operations than many, which round otherwise.
        assert np.allclose(value, value_in_parts, rtol=1e-4, atol=1e-9)
        assert (met == met_in_parts).all()
        assert np.abs(tree.rotations(whole) - tree.rotations(parts)).max() < 1e-4


def test_states_of_a_group_stop_once_one_of_them_is_met(monkeypatch):
    tree, states = batch_of(limited(1, 5), 1, 1, moving=False)
    count, group = 12, 4
    many = states.take(np.zeros(count, int))
    there = drawn(tree, many, np.random.default_rng(3), 0.5)
    start = many.copy()
    start.put(np.arange(0, count, group), there.take(np.arange(0, count, group)))  # the first of each is there already
    wanted = there.take(np.repeat(np.arange(0, count, group), group))
    task = place_task(tree, wanted)
    groups = np.repeat(np.arange(count // group), group)
    for chunk in (512, 3):
        monkeypatch.setattr(descent, "CHUNK", chunk)
        after = start.copy()
        met, _ = descend(tree, after, [task], groups=groups)
        assert np.flatnonzero(met).tolist() == [0, 4, 8]
        assert np.array_equal(after.angles, start.angles)


def test_a_least_number_of_steps_brings_met_states_nearer_still():
    tree, states = batch_of(random_chain(1, 5), 20, 1)
    there = drawn(tree, states, np.random.default_rng(1), 1e-3)
    task = place_task(tree, there, tolerance=0.1)
    before = System(tree, states, [task])
    assert before.met.all()
    waited = states.copy()
    descend(tree, waited, [task])
    assert np.array_equal(waited.balls, states.balls)
    met, value = descend(tree, states, [task], Descent(least=1))
    assert met.all()
    assert (value < 1e-3 * before.value).all()


def test_no_column_changes_by_more_than_the_largest_step():
    tree, states = batch_of(limited(2, 5), 30, 2)
    task = place_task(tree, drawn(tree, states, np.random.default_rng(12)))
    after = states.copy()
    descend(tree, after, [task], Descent(iterations=1, largest=0.1))
    assert 0.0 < np.abs(after.angles - states.angles).max() <= 0.1 + 1e-12


def test_iterations_and_stalls_bound_what_cannot_be_met():
    tree, states = batch_of(limited(2, 4), 20, 2)
    far = [place_task(tree, states)]
    far[0].target.place[:] = 100.0
    met, value = descend(tree, states, far)
    assert not met.any()
    assert np.isfinite(value).all()


@every_chain
def test_what_is_met_already_does_not_move(build):
    tree, states = batch_of(build(1, 6), 10, 1)
    after = states.copy()
    met, _ = descend(tree, after, tasks_towards(tree, states)[1])
    assert met.all()
    assert np.array_equal(after.angles, states.angles)
    assert np.array_equal(after.balls, states.balls)


def test_no_states_at_all_are_no_error():
    tree, states = batch_of(limited(1, 4), 2, 1)
    none = states.take(np.array([], int))
    met, value = descend(tree, none, [place_task(tree, states).take(np.array([], int))])
    assert (len(met), len(value)) == (0, 0)


def test_stiff_joints_turn_less():
    chain = straight((1.0, 1.0, 1.0, 1.0))
    stiff = stiffened(chain, Random(3))
    turned = []
    for each in (chain, stiff):
        tree = Tree.of(each)
        states = tree.states([each.rest_pose()] * 30)
        target = np.array([[1.0], [2.5], [0.5]]) + 0.2 * np.random.default_rng(1).normal(size=(3, 30))
        task = place_task(tree, states)
        task = task.__class__(target=places(target), tolerance=task.tolerance)
        met, _ = descend(tree, states, [task])
        assert met.all()
        turned.append(2.0 * np.arccos(np.clip(np.abs(states.balls[:, 0]), 0.0, 1.0)).mean(1))
    softest = min(joint.stiffness for joint in stiff.joints)
    hardest = max(range(4), key=lambda i: stiff.joints[i].stiffness)
    assert stiff.joints[hardest].stiffness > softest
    assert turned[1][hardest] < turned[0][hardest]


def test_a_place_is_exact_and_an_orientation_as_near_as_the_scalar_solver_gets_it():
    """A limb of three limited joints, whose place is reached but hardly ever with the orientation asked for."""
    random = Random(5)
    chain = random_chain(5, 3, 1.0, [random_limits(random) for _ in range(3)])
    tree, states = batch_of(chain, 30, 5, moving=False)
    there = drawn(tree, states, np.random.default_rng(4), 0.2)
    turned = drawn(tree, states, np.random.default_rng(9))
    tasks = [place_task(tree, there), orient_task(tree, turned)]
    starts = poses_of(chain, tree, states)
    after = states.copy()
    descend(tree, after, tasks)
    hold(tree, after, tasks)
    geometry = Geometry(tree, after)
    place, orientation = (task.measure(geometry) for task in tasks)
    reached = place.off <= tasks[0].tolerance
    assert reached.mean() > 0.9
    worse = []
    for n, start in enumerate(starts):
        target = Point(Vector(tasks[0].target.place[:, n].tolist()))
        rotation = Orientation(_quaternion(tasks[1].rotation[..., n]))
        found = solve(start, target, tolerance=1e-4 * chain.reach, soft=[rotation], follow=True)
        if found.reached and reached[n]:
            worse.append(orientation.off[n] - rotation.missing(found.pose))
    assert len(worse) > 20
    assert np.median(worse) < 0.02
    assert np.mean(np.array(worse) < 0.1) > 0.8


def _quaternion(matrix):
    return Matrix(matrix.tolist()).to_quaternion()


def test_levels_are_taken_away_without_anything_else():
    tree, states = batch_of(mixed(1, 4), 3, 1)
    both = [place_task(tree, states), orient_task(tree, states)]
    assert [task.level for task in at_one_level(both)] == [0, 0]


def body_goals(tree, there, held=1):
    """Place and orientation of both tips; the held one before the other."""
    return [make(tree, there, tip, 0 if tip == held else 1) for tip in range(2) for make in (place_task, orient_task)]


def test_a_body_reaches_feasible_goals_of_both_tips_nearby():
    tree = body()
    states = drawn(tree, rest_of(tree, 100), np.random.default_rng(1), 0.5)
    there = drawn(tree, states, np.random.default_rng(2), 0.1)
    met, _ = descend(tree, states, body_goals(tree, there))
    assert violation(tree, states) == 0.0
    assert met.mean() > 0.9


@pytest.mark.parametrize("seed", [0, 1])
def test_a_body_reaches_two_hundred_feasible_goals_from_rest_with_restarts(seed):
    tree = body()
    states = rest_of(tree, 200)
    goals = body_goals(tree, drawn(tree, states, np.random.default_rng(seed)))
    met, _ = solve_cold(tree, states, goals)
    assert met.all()
    assert System(tree, states, goals).met.all()
    assert violation(tree, states) == 0.0


@pytest.mark.parametrize("pull", [0.2, 0.6, 2.0])
def test_a_held_tip_stays_where_the_other_one_is_pulled_out_of_reach(pull):
    tree = body()
    states = drawn(tree, rest_of(tree, 200), np.random.default_rng(3))
    goals = body_goals(tree, states)
    goals[0].target.place[0] += pull
    before = System(tree, states, goals).measured[0].off
    descend(tree, states, goals)
    fine = hold(tree, states, goals)
    after = System(tree, states, goals)
    assert fine.all()
    assert (after.measured[0].off < before).all()
    assert after.measured[2].off.max() < 1e-6 + 1e-12  # of a reach of 1
    assert after.measured[3].off.max() < 3e-6
    assert violation(tree, states) == 0.0


def test_what_is_held_already_does_not_move():
    tree = body()
    states = drawn(tree, rest_of(tree, 5), np.random.default_rng(3))
    goals = body_goals(tree, states)
    goals[0].target.place[0] += 1.0
    before = states.copy()
    assert hold(tree, states, goals).all()
    assert np.array_equal(states.angles, before.angles)


def test_two_tips_on_one_joint_and_columns_that_move_neither_are_no_special_case():
    chain = random_chain(1, 3, 1.0, [Free(), Hinge((1.0, 0.0, 0.0), -2.0, 2.0), Free()])
    tip = Tree.of(chain).tips[0]
    tree = Tree([*chain.joints, chain.joints[2]], [-1, 0, 1, 0], [tip, tip])
    states = drawn(tree, rest_of(tree, 20), np.random.default_rng(5))
    idle = states.copy()
    there = drawn(tree, states, np.random.default_rng(6), 0.05)
    met, _ = descend(tree, states, [place_task(tree, there, 0), orient_task(tree, there, 1)])
    assert met.all()
    assert np.allclose(states.balls[-1], idle.balls[-1], atol=1e-12)  # the last joint leads to neither tip


def test_the_steps_of_each_state_are_counted():
    tree, states = batch_of(random_chain(1, 5), 20, 1)
    task = place_task(tree, near_and_far(tree, states))
    whole, counts = states.copy(), np.zeros(20, np.intp)
    descend(tree, whole, [task], steps=counts)
    for k in range(20):
        one, count = states.take([k]), np.zeros(1, np.intp)
        descend(tree, one, [task.take([k])], steps=count)
        assert count[0] == counts[k] > 0
    before = counts.copy()
    assert descend(tree, whole, [task], steps=counts)[0].all()
    assert (counts == before).all()  # what is met takes none

# SPDX-License-Identifier: GPL-3.0-or-later
"""The tasks of many states as one system."""

import numpy as np

from ik_triangulation.solvers.batch.change import System

from ...chains import mixed
from ...trees import batch_of, body, drawn, orient_task, place_task, rest_of


def of_chain():
    tree, states = batch_of(mixed(3, 6), 9, 3)
    there = drawn(tree, states, np.random.default_rng(1))
    return tree, states, [place_task(tree, there), orient_task(tree, there)]


def of_body():
    tree = body()
    states = drawn(tree, rest_of(tree, 9), np.random.default_rng(2))
    there = drawn(tree, states, np.random.default_rng(3))
    tasks = [place_task(tree, there, 0), orient_task(tree, there, 0), place_task(tree, there, 1, 1)]
    return tree, states, tasks


def test_the_value_weighs_urgent_errors_more_where_there_are_others():
    tree, states, (place, orient) = of_chain()
    squares = [(task.measure(System(tree, states, []).geometry).errors ** 2).sum(0) for task in (place, orient)]
    both, alone = System(tree, states, [place, orient]), System(tree, states, [place])
    assert np.allclose(both.value, 30.0 * squares[0] + squares[1])
    assert np.allclose(alone.value, squares[0])
    equal = System(tree, states, [place, orient.at_level(0)])
    assert np.allclose(equal.value, squares[0] + squares[1])


def test_states_are_met_if_every_task_is_within_its_tolerance():
    tree, states, (place, orient) = of_chain()
    there = drawn(tree, states, np.random.default_rng(1))
    assert System(tree, there, [place, orient]).met.all()
    assert not System(tree, states, [place, orient]).met.any()
    loose = orient_task(tree, there, tolerance=4.0)
    assert System(tree, states, [loose]).met.all()
    assert not System(tree, states, [place, loose]).met.any()


def test_a_small_change_takes_off_the_errors_that_the_rows_tell():
    for tree, states, _ in (of_chain(), of_body()):
        random = np.random.default_rng(5)
        there = drawn(tree, states, random, 1e-4)
        tasks = [place_task(tree, there, tip) for tip in range(len(tree.tips))]
        tasks += [orient_task(tree, there, tip) for tip in range(len(tree.tips))]
        now = System(tree, states, tasks)
        errors, rows = now.errors()[0], now.jacobian()
        step = np.array([np.linalg.lstsq(rows[..., n], errors[:, n], rcond=None)[0] for n in range(9)]).T
        after = now.after(step)
        left = np.linalg.norm(after.errors()[0], axis=0) / np.linalg.norm(errors, axis=0)
        free = np.abs(tree.moved(states, now.geometry.frames, step).angles - states.angles - step[: tree.angles])
        assert (left[(free < 1e-12).all(0)] < 0.05).all()


def test_some_states_are_taken_and_put_back_with_all_that_was_measured():
    some = np.array([0, 5, 7])
    for tree, states, tasks in (of_chain(), of_body()):
        first = System(tree, states.copy(), tasks)
        second = System(tree, drawn(tree, states, np.random.default_rng(8)), tasks)
        taken = second.take(some)
        first.put(some, second)
        for system, given in ((taken, [task.take(some) for task in tasks]), (first, tasks)):
            again = System(tree, system.states, given)
            assert np.allclose(system.value, again.value, rtol=1e-12)
            assert np.array_equal(system.met, again.met)
            assert np.abs(system.jacobian() - again.jacobian()).max() < 1e-12
            assert np.abs(system.errors()[0] - again.errors()[0]).max() < 1e-12


def test_states_are_met_where_it_is_urgent_by_the_tasks_of_the_first_level_alone():
    tree, states, (place, orient) = of_chain()
    there = drawn(tree, states, np.random.default_rng(1))
    tasks = [place.at_level(1), orient.at_level(2), place_task(tree, there, level=1)]
    mixed_states = there.copy()
    mixed_states.put(np.array([2, 5]), states.take([2, 5]))
    urgent = System(tree, mixed_states, tasks).urgent
    assert np.flatnonzero(~urgent).tolist() == [2, 5]
    assert System(tree, states, [orient_task(tree, there, tolerance=4.0).at_level(0), place.at_level(1)]).urgent.all()
    assert not System(
        tree, states, [place.at_level(0), orient_task(tree, there, tolerance=4.0).at_level(0)]
    ).urgent.any()

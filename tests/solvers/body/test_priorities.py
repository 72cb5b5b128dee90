# SPDX-License-Identifier: GPL-3.0-or-later
"""Goals of a humanoid that can be met are met; of others the held ones stay, and no hand is led away."""

import numpy as np
import pytest

from ik_triangulation.goals.task import Level
from ik_triangulation.kinematics.batch import Geometry
from ik_triangulation.solvers.batch.change import System
from ik_triangulation.solvers.body.priorities import BODY_ROUNDS, at_two_levels, held_of, nearer, solve_sets
from scripts.benchmarks import humanoid
from scripts.benchmarks.body_goals import HANDS, KINDS, goals_of, judge, reached_of, stands

FIGURE = humanoid.body()
TREE = FIGURE.tree


def some_states(count, seed=5):
    return humanoid.random_states(FIGURE, count, np.random.default_rng(seed))


def pulled(count, by, seed=7):
    """Poses, and goals of which those of the hands are pulled out of reach."""
    random = np.random.default_rng(seed)
    states = humanoid.random_states(FIGURE, count, random)
    tasks, ways = goals_of(FIGURE, states, "feet held, hands, look"), random.normal(size=(2, 3, count))
    ways *= by / np.linalg.norm(ways, axis=1, keepdims=True)
    moved = [task.to_points(task.target.place + way) for task, way in zip(tasks[:2], ways, strict=True)]
    return states, [*moved, *tasks[2:]]


@pytest.mark.parametrize("kind", KINDS)
def test_every_set_of_feasible_goals_is_met_from_a_stand(kind):
    tasks, states = goals_of(FIGURE, some_states(60), kind), stands(FIGURE, 60)
    assert solve_sets(TREE, states, tasks).all()
    judged = judge(FIGURE, states, tasks)
    assert reached_of(judged).all()
    assert judged[2].max() <= 0.0


@pytest.mark.parametrize("kind", KINDS)
def test_a_set_alone_is_met_as_well(kind):
    tasks = goals_of(FIGURE, some_states(6, 8), kind)
    for n in range(6):
        one, state = [task.take([n]) for task in tasks], stands(FIGURE, 1)
        assert solve_sets(TREE, state, one).all()
        assert reached_of(judge(FIGURE, state, one)).all()


@pytest.mark.parametrize("by", [0.2, 0.6, 2.0])
@pytest.mark.parametrize("rounds", [(), BODY_ROUNDS[:1]])
def test_feet_stay_and_hands_get_no_farther_than_they_were_pulled(by, rounds):
    states, tasks = pulled(40, by)
    met = solve_sets(TREE, states, tasks, rounds=rounds)
    far, turned, violation = judge(FIGURE, states, tasks)
    assert far[2:].max() < 1e-3
    assert turned[:2].max() < np.radians(0.5)
    assert (far[:2] * FIGURE.reach(HANDS[0]) <= by * (1.0 + 1e-6)).mean() > 0.98  # one may go for the other
    assert violation.max() <= 0.0
    assert not (met & ~reached_of((far, turned, violation))).any()


def test_goals_far_from_the_stand_give_way_to_held_feet_too():
    """From the stand the feet themselves have to be found first: more damping or a stiff merit left them off."""
    _, tasks = pulled(12, 2.0, 9)
    states = stands(FIGURE, 12)
    solve_sets(TREE, states, tasks, rounds=BODY_ROUNDS[:2])
    far, turned, _ = judge(FIGURE, states, tasks)
    assert far[2:].max() < 1e-3
    assert turned[:2].max() < np.radians(0.5)


def test_feet_that_far_pulls_lift_off_are_found_alone_and_hands_led_from_there():
    """Put right alone, feet would be left off by a tenth of the reach."""
    _, every = pulled(30, 5.0, 11)
    tasks, states = [task.take([3, 4, 6]) for task in every], stands(FIGURE, 3)
    solve_sets(TREE, states, tasks, rounds=BODY_ROUNDS[:1])
    far, turned, _ = judge(FIGURE, states, tasks)
    assert far[2:].max() < 1e-4
    assert turned[:2].max() < np.radians(0.5)
    assert far[:2].max() < 5.6, "not much more than they were pulled by"


def test_a_place_comes_before_an_orientation_that_cannot_be_had_with_it():
    states = some_states(30)
    tasks = goals_of(FIGURE, states, "four places with orientation")
    other = goals_of(FIGURE, some_states(30, 99), "four places with orientation")
    mixed = [task if task.level == Level.REACH else turn for task, turn in zip(tasks, other, strict=True)]
    solve_sets(TREE, states, mixed, rounds=())
    far, _, _ = judge(FIGURE, states, mixed)
    assert (far.max(0) < 1e-3).mean() > 0.9


def test_what_is_met_already_does_not_move():
    states = some_states(5)
    before = states.copy()
    assert solve_sets(TREE, states, goals_of(FIGURE, states, "feet held, hands, look")).all()
    assert np.array_equal(states.angles, before.angles)
    assert np.array_equal(states.place, before.place)


def test_the_same_goals_have_the_same_solution():
    tasks, found = goals_of(FIGURE, some_states(10), "four places with orientation"), []
    for _ in range(2):
        states = stands(FIGURE, 10)
        solve_sets(TREE, states, tasks, seed=3)
        found.append(states.angles)
    assert np.array_equal(*found)


def test_tasks_are_sorted_by_their_levels():
    tasks = goals_of(FIGURE, some_states(3), "feet held, hands, look")
    assert {task.level for task in held_of(tasks)} == {Level.HOLD}
    assert len(held_of(tasks)) == 4
    turned = goals_of(FIGURE, some_states(3), "four places with orientation")
    assert {task.level for task in at_two_levels(turned)} == {Level.REACH}


def test_far_places_come_nearer_and_near_ones_stay():
    states, stretch = some_states(4), 0.3 * TREE.size
    hand, *_, foot, _, _ = goals_of(FIGURE, states, "feet held, hands, look")
    geometry, far = Geometry(TREE, states), hand.to_points(hand.target.place + 10.0)
    moved = System(TREE, states, [nearer(geometry, far, stretch)]).measured[0].off
    assert moved == pytest.approx(stretch)
    assert nearer(geometry, hand, stretch) is hand
    assert nearer(geometry, foot, stretch) is foot

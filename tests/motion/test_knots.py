# SPDX-License-Identifier: GPL-3.0-or-later
"""Knots are solved by the limb's own method, each from the one before, near enough to guide the frames between."""

import numpy as np
import pytest

from ik_triangulation.cooperative import finished
from ik_triangulation.kinematics.batch import Geometry
from ik_triangulation.motion.knots import TaskKnots
from ik_triangulation.motion.tracking import knots_of

from .shots import CHAINS, Problem, feasible_places

FRAMES = 120


@pytest.mark.parametrize("chain", CHAINS.values(), ids=CHAINS)
@pytest.mark.parametrize("solver", ["TRIANGULATION", "CCD", "FABRIK", "GAUSS_NEWTON"])
def test_knots_are_within_a_tenth_of_the_reach_and_inside_the_limits(chain, solver):
    problem = Problem(chain, feasible_places(chain, 3, FRAMES), solver)
    knots = knots_of(problem.shot.ways, problem.shot.cuts, 0.4)[1:]
    states = finished(problem.method.follow(knots))
    away = np.linalg.norm(Geometry(problem.tree, states).tip() - problem.places[:, knots], axis=0)
    assert (away <= 0.101 * chain.reach).all()
    assert (states.angles >= problem.tree.lower).all()
    assert (states.angles <= problem.tree.upper).all()


def test_no_knots_are_no_states():
    problem = Problem(CHAINS["arm"], feasible_places(CHAINS["arm"], 3, FRAMES))
    assert len(finished(problem.method.follow(np.zeros(0, np.intp)))) == 0


def test_refining_a_free_chain_out_of_reach_stretches_it_towards_its_target():
    chain = CHAINS["free"]
    places = np.tile(np.array([[0.0], [2.0], [9.0]]), 20)
    problem = Problem(chain, places)
    frames = np.array([4, 5])
    states = finished(problem.method.refine(frames, problem.shot.frames.take(frames)))
    tip = Geometry(problem.tree, states).tip()
    assert np.linalg.norm(tip - places[:, :2], axis=0) == pytest.approx(np.hypot(2.0, 9.0) - chain.reach, abs=1e-4)


def test_a_part_is_led_from_its_own_first_frame():
    chain = CHAINS["arm"]
    problem = Problem(chain, feasible_places(chain, 3, FRAMES))
    knots = np.array([20, 30, 40])
    states = finished(problem.method.follow(knots))
    later = finished(problem.method.part(30, states.take([1])).follow(np.array([10])))
    assert np.allclose(later.angles[:, 0], states.angles[:, 2], atol=1e-6)


def test_the_calmest_method_is_its_own():
    chain = CHAINS["arm"]
    places = feasible_places(chain, 3, FRAMES)
    calmest = Problem(chain, places).method.calmest()
    assert calmest.calmest() is calmest


def descents(problem):
    """The method of limbs that have none of their own, for the same path."""
    return TaskKnots(problem.tree, problem.shot.tasks, problem.shot.frames, problem.shot.first)


@pytest.mark.parametrize("chain", CHAINS.values(), ids=CHAINS)
def test_descents_follow_a_path_too_and_refine_it_exactly(chain):
    problem = Problem(chain, feasible_places(chain, 3, FRAMES))
    method, knots = descents(problem), knots_of(problem.shot.ways, problem.shot.cuts, 0.4)[1:]
    states = finished(method.follow(knots))
    away = np.linalg.norm(Geometry(problem.tree, states).tip() - problem.places[:, knots], axis=0)
    assert (away <= 0.101 * chain.reach).all()
    refined = finished(method.refine(knots, states))
    off = np.linalg.norm(Geometry(problem.tree, refined).tip() - problem.places[:, knots], axis=0)
    assert (off <= problem.tolerance).mean() >= 0.9
    assert (off <= away + problem.tolerance).all()
    for each in (states, refined):
        assert (each.angles >= problem.tree.lower).all()
        assert (each.angles <= problem.tree.upper).all()
    assert len(finished(method.follow(knots[:0]))) == 0
    assert method.calmest() is method


def test_a_part_of_descents_is_led_from_its_own_first_frame_forwards_and_backwards():
    chain = CHAINS["arm"]
    problem = Problem(chain, feasible_places(chain, 3, FRAMES))
    method, knots = descents(problem), np.array([20, 30, 40])
    method.learn(np.linspace(0.0, 0.01, FRAMES))
    states = finished(method.follow(knots))
    later = finished(method.part(30, states.take([1])).follow(np.array([10])))
    assert np.allclose(later.angles[:, 0], states.angles[:, 2], atol=1e-9)
    back = finished(method.part(40, states.take([2]), -1).follow(np.array([10, 20])))
    away = np.linalg.norm(Geometry(problem.tree, back).tip() - problem.places[:, [30, 20]], axis=0)
    assert (away <= 0.101 * chain.reach + 0.01).all()


def test_descents_that_stick_stray_to_another_pose_and_out_of_reach_they_go_on():
    """A place straight behind a stretched chain, and one far beyond it, which is followed by what a frame may miss."""
    chain = CHAINS["free"]
    places = np.array([[0.0, 0.0, 0.0], [5.0, 2.0, 9.0], [0.0, 0.0, 0.0]])
    problem = Problem(chain, places)
    method = descents(problem)
    states = finished(method.follow(np.array([0, 1, 2])))
    off = np.linalg.norm(Geometry(problem.tree, states).tip() - places, axis=0)
    assert off[:2].max() < 0.101 * chain.reach
    assert off[2] == pytest.approx(9.0 - chain.reach, rel=0.1)
    method.learn(np.array([0.0, 1.0, 4.0]))
    assert method.part(1, states.take([1]))._off.tolist() == [1.0, 4.0]
    assert method.part(2, states.take([2]), -1)._off.tolist() == [4.0, 1.0, 0.0]

# SPDX-License-Identifier: GPL-3.0-or-later
"""All frames together: every frame that can be reached is, inside the limits, and both ends stay."""

import numpy as np
import pytest
from mathutils import Matrix, Quaternion, Vector

from ik_triangulation.cooperative import finished
from ik_triangulation.goals.orientation import OrientTask
from ik_triangulation.kinematics.batch import Geometry, Tree
from ik_triangulation.motion import tracking
from ik_triangulation.motion.jumps import turns_along, turns_of
from ik_triangulation.motion.knots import TaskKnots
from ik_triangulation.motion.tracking import Tracked, interpolated, knots_of, smooth, track
from ik_triangulation.solvers.batch.change import System

from .shots import CHAINS, Problem, feasible_places, smooth_states

every_chain = pytest.mark.parametrize("chain", CHAINS.values(), ids=CHAINS)
FRAMES = 120


@every_chain
@pytest.mark.parametrize("solver", ["TRIANGULATION", "GAUSS_NEWTON"])
def test_every_frame_of_a_feasible_path_is_reached_inside_the_limits(chain, solver):
    for seed in range(4):
        problem = Problem(chain, feasible_places(chain, seed, FRAMES), solver)
        path = problem.solved(track)
        assert path.met.all()
        assert (problem.errors(path.states) <= problem.tolerance).all()
        assert (path.states.angles >= problem.tree.lower).all()
        assert (path.states.angles <= problem.tree.upper).all()


@every_chain
def test_the_first_frame_stays_as_it_was_solved(chain):
    problem = Problem(chain, feasible_places(chain, 7, FRAMES))
    path = problem.solved(track)
    assert np.array_equal(path.states.angles[:, :1], problem.shot.first.angles)
    assert np.array_equal(path.states.balls[..., :1], problem.shot.first.balls)


def test_a_last_frame_that_is_to_stay_stays():
    chain = CHAINS["arm"]
    tree, states = Tree.of(chain), smooth_states(chain, 3, FRAMES)
    rotations = tree.rotations(states.take([FRAMES - 1]))[:, :, 0]
    last = chain.rest_pose()
    last.rotations[:] = map(Quaternion, rotations)
    problem = Problem(chain, feasible_places(chain, 3, FRAMES), last=last)
    path = problem.solved(track)
    assert path.met.all()
    assert np.array_equal(path.states.angles[:, -1:], tree.states([last]).angles)


@every_chain
def test_a_root_that_moves_is_followed(chain):
    places = feasible_places(chain, 5, FRAMES)
    bases = [
        Matrix.Translation((0.01 * k * chain.reach, 0.0, 0.0))
        @ Quaternion((0.3, 1.0, 0.2), 0.02 * k).to_matrix().to_4x4()
        for k in range(FRAMES)
    ]
    moved = np.array([bases[k] @ Vector(places[:, k]) for k in range(FRAMES)]).T
    problem = Problem(chain, moved, bases=bases)
    path = problem.solved(track)
    assert path.met.all()
    assert (problem.errors(path.states) <= problem.tolerance).all()


def test_a_free_chain_out_of_reach_is_stretched_towards_the_target():
    chain = CHAINS["free"]
    angles = np.linspace(0.0, 2.0, FRAMES)
    places = 1.3 * chain.reach * np.array([np.cos(angles), np.sin(angles), 0.2 * angles])
    problem = Problem(chain, places)
    path = problem.solved(track)
    assert not path.met.any()
    nearest = np.linalg.norm(places, axis=0) - chain.reach
    assert problem.errors(path.states)[1:] == pytest.approx(nearest[1:], abs=1e-5 * chain.reach)


def test_frames_out_of_reach_cost_no_other_frame_its_goal():
    chain = CHAINS["limits"]
    places = feasible_places(chain, 2, FRAMES)
    places[:, 40:70] *= 3.0 * chain.reach / np.linalg.norm(places[:, 40:70], axis=0)
    problem = Problem(chain, places)
    path = problem.solved(track)
    inside = np.ones(FRAMES, bool)
    inside[40:70] = False
    assert path.met[inside].all()
    assert not path.met[~inside].any()


def test_ends_that_are_out_of_reach_stay_as_they_were_solved():
    chain = CHAINS["arm"]
    places = feasible_places(chain, 2, FRAMES)
    for some in (slice(0, 12), slice(FRAMES - 12, FRAMES)):
        places[:, some] *= 3.0 * chain.reach / np.linalg.norm(places[:, some], axis=0)
    last = chain.rest_pose()
    last.project()
    problem = Problem(chain, places, last=last)
    path = problem.solved(track)
    assert path.met[12:-12].all()
    for k, end in ((0, problem.shot.first), (-1, problem.shot.last)):
        assert np.array_equal(path.states.angles[:, [k]], end.angles)


def test_the_path_is_not_averaged_across_a_jump_of_the_target():
    chain = CHAINS["free"]
    places = np.tile(np.array([[0.0], [3.0], [1.0]]), FRAMES)
    places[:, 60:] = np.array([[0.0], [-2.0], [2.0]])
    problem = Problem(chain, places)
    assert problem.shot.cuts.tolist() == [60]
    path = problem.solved(track)
    assert path.met.all()
    along = turns_along(problem.tree.rotations(path.states))
    assert along[60] > 0.3
    assert np.delete(along, 60).max() < 1e-3


def test_knots_are_a_share_of_the_reach_apart_and_not_too_many_frames():
    ways = np.full(101, 0.05)
    knots = knots_of(ways, np.zeros(0, np.intp), 0.4)
    assert (knots[0], knots[-1]) == (0, 100)
    assert set(np.diff(knots)[:-1].tolist()) <= {7, 8, 9}
    still = knots_of(np.zeros(101), np.zeros(0, np.intp), 0.4)
    assert np.diff(still).max() <= 32
    assert {49, 50} <= set(knots_of(ways, np.array([50]), 0.4).tolist())


@every_chain
def test_interpolation_stays_inside_the_limits_and_passes_the_knots(chain):
    tree, knots = Tree.of(chain), np.array([0, 10, 25, 60])
    found = smooth_states(chain, 1, 61, share=1.0).take(knots)
    states = interpolated(tree, knots, found, smooth_states(chain, 1, 61))
    assert (states.angles >= tree.lower).all()
    assert (states.angles <= tree.upper).all()
    assert tree.rotations(states)[..., knots] == pytest.approx(tree.rotations(found), abs=1e-12)


def test_smoothing_lessens_the_turns():
    problem = Problem(CHAINS["limits"], feasible_places(CHAINS["limits"], 4, FRAMES))
    path = problem.solved(track)
    states = path.states.copy()
    shaken = np.random.default_rng(0).normal(scale=0.02, size=states.angles.shape)
    states.angles = problem.tree.inside(states.angles + shaken)
    before = turns_along(problem.tree.rotations(states)).max()
    smooth(states, 20, problem.shot.cuts)
    assert turns_along(problem.tree.rotations(states)).max() < 0.7 * before


def test_frames_that_cannot_be_met_for_certain_are_not_searched(monkeypatch):
    """Beyond the reach, and around a frame whose search ended far from its goal; no frame is lost by it."""
    chain, count = CHAINS["arm"], 240
    places = feasible_places(chain, 4, count)
    share = np.where((np.arange(count) > 60) & (np.arange(count) < 180), 4.0, 1.0)
    problem = Problem(chain, places * share)
    searched, restart = [], tracking.restart

    def counted(tree, states, *args, **more):
        searched.append(len(states))
        return restart(tree, states, *args, **more)

    monkeypatch.setattr(tracking, "restart", counted)
    path = problem.solved(track)
    assert (path.met == (share == 1.0)).all()
    assert sum(searched) <= 30


@every_chain
def test_what_a_path_knows_of_its_frames_is_that_of_their_present_states(chain):
    problem = Problem(chain, feasible_places(chain, 2, FRAMES))
    path, other = problem.solved(track), smooth_states(chain, 5, FRAMES)
    assert np.array_equal(path.turns, turns_of(problem.tree, path.states))
    some = np.arange(30, 50)
    path.put(some, other.take(some), problem.shot.system(other.take(some), some))
    fresh = Tracked(problem.shot, path.states)
    assert np.array_equal(path.turns, turns_of(problem.tree, path.states))
    assert np.allclose(path.off, fresh.off)
    assert np.array_equal(path.met, fresh.met)
    measured = Tracked(problem.shot, path.states, problem.shot.system(path.states, slice(None)))
    assert np.array_equal(measured.off, fresh.off)
    assert np.array_equal(measured.value, fresh.value)


@pytest.mark.parametrize("search", [True, False])
def test_places_come_before_turns_that_cannot_be_had_with_them(search):
    """Of an arm whose hand is told to turn as in another motion; the turns are met as far as they can be."""
    chain = CHAINS["arm"]
    problem = Problem(chain, feasible_places(chain, 3, 40))
    tree, (place,) = problem.tree, problem.shot.tasks
    other = Geometry(tree, smooth_states(chain, 4, 40)).tip_rotation()
    turn = OrientTask(rotation=other, length=0.2, tolerance=np.array([0.01]), level=1)
    shot = problem.shot._replace(tasks=[place, turn])
    assert shot.has_priorities
    assert shot.urgent_alone().tasks == [place]
    assert not shot.urgent_alone().has_priorities
    method = TaskKnots(tree, shot.tasks, shot.frames, shot.first)
    path = finished(track(shot, method, search=search))
    assert path.urgent.all()
    assert (problem.errors(path.states) <= problem.tolerance).all()
    alone = finished(track(problem.shot, TaskKnots(tree, [place], shot.frames, shot.first)))
    off = [System(tree, each.states, [turn]).measured[0].off.mean() for each in (path, alone)]
    assert off[0] < 0.9 * off[1]


def test_a_single_frame_has_one_knot_and_all_frames_of_it_are_alike():
    assert knots_of(np.zeros(1), np.zeros(0, np.intp), 0.4).tolist() == [0]
    tree, states = Tree.of(CHAINS["cones"]), smooth_states(CHAINS["cones"], 1, 5)
    states.place = np.arange(15.0).reshape(3, 5)
    found = interpolated(tree, np.array([2]), states.take([2]), states)
    assert np.array_equal(tree.rotations(found), np.repeat(tree.rotations(states.take([2])), 5, -1))
    assert np.array_equal(found.place, states.place)

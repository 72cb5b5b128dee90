# SPDX-License-Identifier: GPL-3.0-or-later
"""Turns and jumps as arrays are those that the scalar rules find."""

from random import Random
from statistics import median

import numpy as np
import pytest
from mathutils import Quaternion

from ik_triangulation.kinematics import arrays
from ik_triangulation.motion import jumps
from ik_triangulation.motion.jumps import (
    EXPLAINED,
    apart,
    beyond_speed_of,
    jumps_of,
    leaps_of,
    standing_out,
    turns_along,
    turns_of,
    ways_of,
)
from ik_triangulation.motion.tracking import Tracked

from ..chains import random_rotation
from .shots import CHAINS, Problem, feasible_places, smooth_states


def wandering(seed, joints, frames):
    """Rotations that turn a little from frame to frame, and now and then a lot."""
    random = Random(seed)
    path = [[random_rotation(random) for _ in range(joints)]]
    for _ in range(frames - 1):
        share = 0.5 if random.random() < 0.1 else 0.02
        path.append([q.slerp(random_rotation(random), share * random.random()).normalized() for q in path[-1]])
    return path


def stands_out(along, k):
    """Three times the median of at least three of the six frames on either side; the first frame has no turn."""
    around = [*along[max(1, k - 6) : k], *along[k + 1 : k + 7]]
    return len(around) >= 3 and along[k] > 3.0 * median(around)


@pytest.mark.parametrize("seed", range(20))
def test_turns_and_what_stands_out_of_them_are_as_the_scalar_rules_say(seed):
    path = wandering(seed, 3, 40)
    arrays = np.moveaxis(np.array([[q[:] for q in frame] for frame in path]), 0, -1)
    along = turns_along(arrays)
    assert along == pytest.approx(jumps.turns(path), abs=2e-3)
    exact = along.tolist()
    assert standing_out(along, jumps.FEW).tolist() == jumps.jumps(exact)
    assert jumps.jumps(exact) == [k for k, angle in enumerate(exact) if angle > jumps.FEW and stands_out(exact, k)]


def test_too_few_frames_to_compare_with_are_no_jump():
    assert standing_out(np.array([0.0, 2.0, 0.1]), jumps.FEW).tolist() == []
    assert turns_along(np.zeros((2, 4, 1))).tolist() == [0.0]


def test_a_target_that_jumps_explains_a_turn_and_one_that_moves_on_does_not():
    places = feasible_places(CHAINS["free"], 3, 60)
    places[:, 30:] += np.array([[0.0], [0.0], [1.5]])
    shot = Problem(CHAINS["free"], places).shot
    assert shot.cuts.tolist() == [30]
    assert shot.ways[30] == pytest.approx(1.5 / 5.0, rel=0.2)
    along = np.full(60, 0.01)
    along[[20, 30]] = 0.5
    assert standing_out(along, jumps.FEW).tolist() == [20, 30]
    assert jumps_of(along, shot.ways, shot.cuts).tolist() == [20]
    along[30] = EXPLAINED * shot.ways[30] + 0.1
    assert jumps_of(along, shot.ways, shot.cuts).tolist() == [20, 30]


@pytest.mark.parametrize("name", CHAINS)
def test_turns_of_a_path_are_those_of_its_states_after_frames_are_replaced(name):
    chain = CHAINS[name]
    problem = Problem(chain, feasible_places(chain, 3, 60))
    path = Tracked(problem.shot, smooth_states(chain, 3, 60))
    before, other = path.turns, smooth_states(chain, 4, 60)
    kept = before.copy()
    for frames in (np.array([0, 10, 11]), np.array([59]), slice(20, 30)):
        path.put(frames, other.take(frames), problem.shot.system(other.take(frames), frames))
    assert path.turns == pytest.approx(turns_of(problem.tree, path.states), abs=1e-7)
    assert np.abs(path.turns - kept).max() > 1e-3
    assert np.array_equal(before, kept)


def test_a_goal_at_rest_makes_no_way_and_a_root_that_moves_does():
    chain = CHAINS["free"]
    problem = Problem(chain, np.tile(np.array([[0.0], [3.0], [1.0]]), 20))
    assert not problem.shot.ways.any()
    frames = problem.shot.frames
    place = np.linspace((0.0, 0.0, 0.0), (1.0, 0.0, 0.0), 20).T
    moving = type(frames)(frames.angles, frames.balls, frames.held, frames.root, place)
    ways = ways_of(problem.tree, moving, problem.shot.tasks)
    assert ways[1:] == pytest.approx(1.0 / 19.0 / chain.reach)
    assert leaps_of(ways).tolist() == []


def test_a_turn_of_half_a_sign_is_no_turn():
    q = Quaternion((0.5, 0.5, 0.5, 0.5))
    assert turns_along(np.array([[q[:], (-q)[:]]]).transpose(0, 2, 1)).tolist() == [0.0, 0.0]


@pytest.mark.parametrize("together", [1, 40, 10_000])
def test_turns_of_states_are_the_same_in_blocks_of_any_size(together, monkeypatch):
    chain = CHAINS["limits"]
    problem = Problem(chain, feasible_places(chain, 2, 50))
    states = smooth_states(chain, 2, 50)
    monkeypatch.setattr(arrays, "_TOGETHER", together)
    assert np.array_equal(turns_of(problem.tree, states), turns_along(problem.tree.rotations(states)))


def test_near_the_root_the_speed_explains_a_turn_and_far_from_it_does_not():
    """A single link that turns by half a radian as its end does, and one that turns while its end stays."""
    chain = CHAINS["free"]
    problem = Problem(chain, feasible_places(chain, 3, 8))
    states = problem.tree.states([problem.first]).take(np.zeros(8, np.intp))
    states.balls[0, :, 4:] = np.array(Quaternion((0.0, 0.0, 1.0), 0.5))[:, None]
    found = np.array([4])
    assert beyond_speed_of(problem.tree, states, np.full(8, 0.01), found).tolist() == [4]
    assert beyond_speed_of(problem.tree, states, np.full(8, 0.5), found).tolist() == []
    assert beyond_speed_of(problem.tree, states, np.full(8, 0.01), found[:0]).tolist() == []


def test_poses_apart_count_half_angles():
    first = np.array(Quaternion())[None, :, None]
    second = np.array(Quaternion((1.0, 0.0, 0.0), 1.0))[None, :, None]
    assert apart(first, second) == pytest.approx([1.0 - np.cos(0.5)])
    assert apart(first, -first) == pytest.approx([0.0])

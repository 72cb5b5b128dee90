# SPDX-License-Identifier: GPL-3.0-or-later
"""Hasty turns are spread over the frames around them, and no frame loses its goal."""

import numpy as np
import pytest

from ik_triangulation.cooperative import finished
from ik_triangulation.motion.jumps import turns_of
from ik_triangulation.motion.repair import ease, hasty_in
from ik_triangulation.motion.tracking import Tracked, corrected, track

from .shots import CHAINS, Problem, feasible_places, smooth_states

FRAMES = 80


def bent_at(chain, seed, frame):
    """A path that is met, of which one frame is bent another way than those around it."""
    problem = Problem(chain, feasible_places(chain, seed, FRAMES))
    path = problem.solved(track, 0.5)
    states = path.states.copy()
    other = smooth_states(chain, seed + 100, FRAMES).take([frame])
    states.angles[:, frame] = 0.6 * states.angles[:, frame] + 0.4 * other.angles[:, 0]
    balls = 0.6 * states.balls[..., frame] + 0.4 * other.balls[..., 0]
    states.balls[..., frame] = balls / np.linalg.norm(balls, axis=1, keepdims=True)
    return problem, finished(corrected(problem.shot, states, problem.method, search=False))


@pytest.mark.parametrize("chain", CHAINS.values(), ids=CHAINS)
def test_a_frame_bent_another_way_is_eased_and_every_goal_kept(chain):
    eased = 0
    for seed in range(6):
        problem, path = bent_at(chain, seed, 40)
        met, before = path.met.copy(), turns_of(problem.tree, path.states)
        given = path.states.copy()
        finished(ease(problem.shot, path, np.array([40])))
        after = turns_of(problem.tree, path.states)
        eased += after[28:54].max() < 0.9 * before[28:54].max()
        assert after.max() <= before.max() + 1e-9
        assert (path.met | ~met).all()
        assert np.array_equal(given.angles[:, [0, 20, -1]], path.states.angles[:, [0, 20, -1]])
        again = Tracked(problem.shot, path.states)
        assert np.allclose(again.value, path.value)
    assert eased >= 1


def test_without_hasty_turns_nothing_changes():
    problem = Problem(CHAINS["free"], feasible_places(CHAINS["free"], 0, FRAMES))
    path = problem.solved(track)
    given = path.states.balls.copy()
    finished(ease(problem.shot, path, np.zeros(0, np.intp)))
    assert np.array_equal(given, path.states.balls)


def test_frames_out_of_reach_and_a_first_frame_that_is_held_stay():
    chain = CHAINS["arm"]
    places = feasible_places(chain, 1, FRAMES)
    places[:, 30:40] *= 3.0
    problem = Problem(chain, places)
    path = problem.solved(track)
    missed, given = np.flatnonzero(~path.met), path.states.copy()
    assert len(missed)
    finished(ease(problem.shot, path, np.arange(1, FRAMES)))
    assert np.array_equal(given.angles[:, missed], path.states.angles[:, missed])
    assert np.array_equal(given.angles[:, 0], path.states.angles[:, 0])


def test_hasty_turns_are_those_the_speed_does_not_explain():
    problem, path = bent_at(CHAINS["free"], 2, 40)
    assert {40, 41} & set(hasty_in(problem.shot, path).tolist())
    problem.shot.ways[:] = 10.0
    assert not len(hasty_in(problem.shot, path))

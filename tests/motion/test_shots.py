# SPDX-License-Identifier: GPL-3.0-or-later
"""Shots: their parts and their way back are the same frames with the same goals."""

import numpy as np
import pytest

from ik_triangulation.motion.tracking import Tracked

from .shots import CHAINS, Problem, feasible_places, smooth_states


def test_a_path_that_is_turned_round_twice_is_the_same():
    places = feasible_places(CHAINS["free"], 3, 60)
    places[:, 30:] += np.array([[0.0], [0.0], [1.5]])
    shot = Problem(CHAINS["free"], places).shot
    assert shot.cuts.tolist() == [30]
    back = shot.backwards(shot.first)
    assert back.cuts.tolist() == [30]
    assert back.ways[1:] == pytest.approx(shot.ways[:0:-1])
    twice = back.backwards(shot.first)
    assert twice.cuts.tolist() == shot.cuts.tolist()
    assert twice.ways == pytest.approx(shot.ways)


@pytest.mark.parametrize("chain", CHAINS.values(), ids=CHAINS)
def test_frames_of_a_part_stand_to_their_goals_as_in_the_whole(chain):
    shot, states = Problem(chain, feasible_places(chain, 3, 60)).shot, smooth_states(chain, 3, 60)
    frames = np.arange(20, 45)
    whole = Tracked(shot, states.copy())
    part = Tracked(shot.part(frames, states.take([20]), None), states.take(frames))
    assert np.abs(part.off - whole.off[:, frames]).max() < 1e-12
    assert np.array_equal(part.met, whole.met[frames])
    assert whole.met.all()


def test_frames_that_are_replaced_stand_to_their_goals_as_those_that_replace_them():
    chain = CHAINS["arm"]
    shot, states = Problem(chain, feasible_places(chain, 3, 60)).shot, smooth_states(chain, 3, 60)
    frames, path = np.array([3, 4]), Tracked(shot, states.copy())
    others = states.take([40, 41])
    path.put(frames, others, shot.system(others, frames))
    assert path.off == pytest.approx(Tracked(shot, path.states).off)
    assert not path.met[frames].any()

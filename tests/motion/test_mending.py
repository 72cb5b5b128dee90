# SPDX-License-Identifier: GPL-3.0-or-later
"""Jumps are removed where the joints have room, a calmer path is never bought with a missed frame."""

from functools import cache

import numpy as np
import pytest

from ik_triangulation.motion.jumps import turns_along
from ik_triangulation.motion.repair import hasty_in, jumps_in, relaxed, track_without_jumps
from ik_triangulation.motion.tracking import track

from .shots import CHAINS, Problem, feasible_places

FRAMES = 160
SEEDS = range(8)


@cache
def solved_twice(chain, seed):
    """A problem of a feasible path, and its paths before and after jumps are removed."""
    problem = Problem(CHAINS[chain], feasible_places(CHAINS[chain], seed, FRAMES))
    return problem, problem.solved(track), problem.solved(track_without_jumps)


def largest_turn(problem, path):
    return float(turns_along(problem.tree.rotations(path.states)).max())


@pytest.mark.parametrize("chain", CHAINS)
def test_no_frame_is_lost_and_no_path_gets_wilder(chain, long):
    for seed in SEEDS if long else SEEDS[:5]:
        problem, before, after = solved_twice(chain, seed)
        assert after.met.all()
        assert len(jumps_in(problem.shot, after)) <= len(jumps_in(problem.shot, before))
        assert (after.states.angles >= problem.tree.lower).all()
        assert (after.states.angles <= problem.tree.upper).all()


def test_most_jumps_of_feasible_paths_are_removed(long):
    before = after = 0
    for problem, leaping, calm in (
        solved_twice(chain, seed) for chain in CHAINS for seed in (SEEDS if long else SEEDS[:5])
    ):
        before += len(jumps_in(problem.shot, leaping))
        after += len(jumps_in(problem.shot, calm))
    assert before >= (5 if long else 3)
    assert after <= before // 4


def test_a_calm_path_is_left_as_it_is():
    chain, calm = CHAINS["free"], 0
    for seed in SEEDS:
        problem = Problem(chain, feasible_places(chain, seed, FRAMES, spacing=40, share=0.4))
        first = problem.solved(track)
        if not len(hasty_in(problem.shot, first)):
            calm += 1
            assert np.array_equal(first.states.balls, problem.solved(track_without_jumps).states.balls)
    assert calm >= 3


def test_the_same_seed_gives_the_same_path():
    chain = CHAINS["arm"]
    paths = [Problem(chain, feasible_places(chain, 2, FRAMES)).solved(track_without_jumps) for _ in "ab"]
    assert np.array_equal(paths[0].states.angles, paths[1].states.angles)


@pytest.mark.parametrize("amount", [0.3, 1.0])
def test_smoothing_keeps_every_frame_at_its_goal(amount):
    chain = CHAINS["limits"]
    problem = Problem(chain, feasible_places(chain, 5, FRAMES))
    path = problem.solved(track)
    smooth = problem.solved(lambda shot, method: relaxed(shot, path, amount, method))
    assert smooth.met.all()
    assert np.array_equal(smooth.states.angles[:, 0], path.states.angles[:, 0])
    assert largest_turn(problem, smooth) <= largest_turn(problem, path) + 1e-6


def test_a_first_frame_that_may_change_does_not_force_a_jump(long):
    held = free = 0
    for name in ("arm", "hinges", "limits"):
        for seed in SEEDS if long else SEEDS[:2]:
            problem = Problem(CHAINS[name], feasible_places(CHAINS[name], seed, FRAMES, share=0.8))
            held += len(jumps_in(problem.shot, problem.solved(track_without_jumps)))
            problem.shot = problem.shot._replace(holds_first=False)
            path = problem.solved(track_without_jumps)
            assert path.met.all()
            free += len(jumps_in(problem.shot, path))
    assert free <= held


@pytest.mark.parametrize("chain", CHAINS.values(), ids=CHAINS)
def test_a_frame_that_was_met_stays_met_and_ends_that_are_held_stay(chain, long):
    for seed in SEEDS if long else SEEDS[:1]:
        places = feasible_places(chain, seed, FRAMES, share=0.8)
        places[:, 60:80] *= 1.5
        problem = Problem(chain, places)
        before = problem.solved(track)
        last = before.states.take([FRAMES - 1])
        problem.shot = problem.shot._replace(last=last)
        after = problem.solved(track_without_jumps)
        assert not (before.met & ~after.met).any()
        for end, held in ((0, problem.shot.first), (FRAMES - 1, last)):
            assert np.array_equal(after.states.angles[:, end], held.angles[:, 0])
            assert np.array_equal(after.states.balls[..., end], held.balls[..., 0])

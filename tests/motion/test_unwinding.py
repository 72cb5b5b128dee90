# SPDX-License-Identifier: GPL-3.0-or-later
"""A limb that changes over from frame to frame unwinds over many."""

import numpy as np

from ik_triangulation.cooperative import finished
from ik_triangulation.kinematics.batch.algebra import (
    conjugated,
    exponential,
    matrices,
    normalized,
    product,
    quaternions,
)
from ik_triangulation.motion.mending import avoidable_jumps
from ik_triangulation.motion.shots import Tracked
from ik_triangulation.motion.tracking import track
from ik_triangulation.motion.turns import turns_of
from ik_triangulation.motion.unwinding import unwind

from .shots import CHAINS, Problem, feasible_places

FRAMES, AT = 160, 80


def changed_over(problem, path, angle):
    """The path with all frames from one on turned about the line from root to tip, which leaves the tip where it is."""
    states = path.states.copy()
    root = np.array(problem.bases[0])[:3, 3]
    frames = matrices(normalized(np.array([problem.tree.joints[0].rest], float)[:, :, None]))[0]
    for k in range(AT, FRAMES):
        line = problem.places[:, k] - root - np.array(problem.tree.joints[0].offset)
        turn = exponential((angle * line / np.linalg.norm(line))[:, None])
        rest = quaternions(frames)
        local = product(product(conjugated(rest), turn), rest)
        states.balls[0, :, k] = product(local, states.balls[0, :, k : k + 1])[:, 0]
    return Tracked(problem.shot, states)


def test_a_jump_is_spread_over_the_frames_around_it_and_no_frame_is_lost():
    unwound = 0
    for seed in range(6):
        problem = Problem(CHAINS["free"], feasible_places(CHAINS["free"], seed, FRAMES, spacing=40, share=0.4))
        path = changed_over(problem, problem.solved(track), np.pi * 0.9)
        before = turns_of(problem.tree, path.states).max()
        if not path.met.all() or not len(avoidable_jumps(problem.shot, path)):
            continue
        finished(unwind(problem.shot, path, problem.method))
        assert path.met.all()
        assert turns_of(problem.tree, path.states).max() <= 0.5 * before
        unwound += 1
    assert unwound >= 3


def test_a_path_without_jumps_is_left_as_it_is():
    problem = Problem(CHAINS["free"], feasible_places(CHAINS["free"], 1, FRAMES, spacing=40, share=0.4))
    path = problem.solved(track)
    if not len(avoidable_jumps(problem.shot, path)):
        balls = path.states.balls.copy()
        finished(unwind(problem.shot, path, problem.method))
        assert np.array_equal(path.states.balls, balls)

# SPDX-License-Identifier: GPL-3.0-or-later
"""Other branches of a path run through poses that reach the knots, from the same ends."""

import numpy as np

from ik_triangulation.motion.jumps import turns_along
from ik_triangulation.motion.knots import other_branches
from ik_triangulation.motion.tracking import Tracked, knots_of, track

from .shots import CHAINS, Problem, feasible_places

FRAMES = 160


def test_other_branches_reach_the_knots_inside_the_limits_and_begin_where_the_path_does():
    for name in ("arm", "hinges", "cones"):
        chain = CHAINS[name]
        problem = Problem(chain, feasible_places(chain, 3, FRAMES))
        path = problem.solved(track)
        for way, states in zip((0.4, 0.15), other_branches(problem.shot, path), strict=True):
            knots = knots_of(problem.shot.ways, problem.shot.cuts, way)
            assert (problem.errors(states)[knots] <= problem.tolerance).all()
            assert (states.angles >= problem.tree.lower).all()
            assert (states.angles <= problem.tree.upper).all()
            assert np.allclose(states.angles[:, 0], path.states.angles[:, 0])


def test_a_path_that_is_thrown_onto_another_branch_is_led_back():
    chain = CHAINS["hinges"]
    problem = Problem(chain, feasible_places(chain, 1, FRAMES))
    path = problem.solved(track)
    broken = path.states.copy()
    broken.angles[:, 80:] = problem.tree.inside(-broken.angles[:, 80:])
    thrown = Tracked(problem.shot, broken)
    calm = min(turns_along(problem.tree.rotations(each)).max() for each in other_branches(problem.shot, thrown))
    assert calm < 0.5 * turns_along(problem.tree.rotations(broken)).max()

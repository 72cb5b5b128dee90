# SPDX-License-Identifier: GPL-3.0-or-later
"""A bake by a published method is that method at every frame, and only the frames around jumps are solved anew."""

import numpy as np
import pytest
from mathutils import Matrix, Quaternion, Vector

from ik_triangulation.cooperative import finished
from ik_triangulation.kinematics import Pose
from ik_triangulation.motion.jumps import turns_along
from ik_triangulation.motion.method import own_path
from ik_triangulation.motion.repair import jumps_in
from ik_triangulation.motion.tracking import Tracked
from ik_triangulation.solvers import SolverSettings, solve_goal

from .shots import CHAINS, Problem, feasible_places

FRAMES = 121
METHODS = (
    "TRIANGULATION",
    "TRIANGULATION_2007",
    "TRIANGULATION_CHEAPEST",
    "SINGLE_PASS",
    "CIRCULAR",
    "CCD",
    "GAUSS_NEWTON",
)


def alone(problem, solver):
    """Rotations (n, 4, F) that the method makes of every frame from the one before."""
    pose, found = problem.first, [problem.first]
    for k in range(1, FRAMES):
        begin = Pose(pose.chain, problem.bases[k], pose.rotations)
        pose = solve_goal(begin, problem.goal_at(k), SolverSettings(solver=solver), follow=True).pose
        found.append(pose)
    return problem.tree.rotations(problem.tree.states(found))


def apart(path, other):
    """Largest rotation of a joint from one path to another (F) [degrees]."""
    alike = np.minimum(1.0, np.abs(np.einsum("nif,nif->nf", path, other)).min(0))
    return np.degrees(2.0 * np.arccos(alike))


@pytest.mark.parametrize("solver", METHODS)
def test_frames_are_those_of_the_method_except_around_jumps_of_which_half_are_gone(solver):
    problem = Problem(CHAINS["free"], feasible_places(CHAINS["free"], 5, FRAMES), solver)
    wanted = alone(problem, solver)
    path = problem.solved(own_path)
    assert path.met.all()
    own = problem.tree.rotations(path.states)
    same = apart(wanted, own) < 0.1
    assert same[~path.mended].all()
    by_itself = Tracked(problem.shot, problem.tree.posed(wanted, problem.shot.frames))
    jumps = jumps_in(problem.shot, by_itself)
    far = np.abs(np.arange(FRAMES)[:, None] - jumps).min(1, initial=FRAMES) > 64
    assert not path.mended[far].any()
    assert 2 * len(jumps_in(problem.shot, path)) <= len(jumps)
    most, now = (np.degrees(turns_along(each).max()) for each in (wanted, own))
    assert now <= 1.05 * most + 0.5


def test_an_even_bend_stays_even():
    problem = Problem(CHAINS["free"], feasible_places(CHAINS["free"], 2, FRAMES), "CIRCULAR")
    rotations = problem.tree.rotations(problem.solved(own_path).states)
    bends = np.degrees(
        2.0 * np.arctan2(np.hypot(rotations[1:, 1], rotations[1:, 3]), np.hypot(*rotations[1:, 0:3:2].swapaxes(0, 1)))
    )
    assert np.ptp(bends, axis=0).max() < 0.1


def test_frames_that_the_method_misses_are_reached_and_counted():
    chain = CHAINS["arm"]
    problem = Problem(chain, feasible_places(chain, 3, FRAMES), "TRIANGULATION")
    rotations, steps = finished(problem.method.follow_all(np.arange(1, FRAMES), problem.shot.frames))
    assert rotations.shape == (3, 4, FRAMES - 1)
    assert (steps > 0).all()
    path = problem.solved(own_path)
    assert path.met.all()
    assert (problem.errors(path.states) <= problem.tolerance).all()


def test_no_frames_to_follow_are_none():
    problem = Problem(CHAINS["free"], np.repeat(np.array(Vector((1.0, 2.0, 0.5)))[:, None], 3, 1))
    assert finished(problem.method.follow_all(np.zeros(0, np.intp), problem.shot.frames))[0].shape == (5, 4, 0)


@pytest.mark.parametrize("moves", [False, True])
def test_frames_followed_together_are_each_one_pass_from_the_frame_before(moves):
    chain = CHAINS["free"]
    places = feasible_places(chain, 4, FRAMES)
    places[:, 40:60] = places[:, 40:41]  # held
    places[:, 70:75] *= (1.1 * chain.reach / np.linalg.norm(places[:, 70:75], axis=0)) ** (not moves)  # out of reach
    bases = [Matrix.Translation((0.001 * k, 0.0, 0.0)) @ Matrix.Rotation(0.003 * k, 4, "Z") for k in range(FRAMES)]
    problem = Problem(chain, places, bases=bases if moves else None)
    rotations, steps = finished(problem.method.follow_all(np.arange(1, FRAMES), problem.shot.frames))
    every = np.concatenate((problem.tree.rotations(problem.tree.states([problem.first])), rotations), -1)
    alone = []
    for k in range(1, FRAMES):
        begin = Pose(chain, problem.bases[k], [Quaternion(q) for q in every[:, :, k - 1]])
        alone.append(solve_goal(begin, problem.goal_at(k), SolverSettings(), follow=True).pose)
    assert apart(problem.tree.rotations(problem.tree.states(alone)), rotations).max() < 0.1
    assert not steps[40:59].any() or moves
    assert (steps[:39] > 0).all()

# SPDX-License-Identifier: GPL-3.0-or-later
"""The vectorised planar engine does what solve() does, only to many targets at once."""

from math import inf, nan, pi, radians

import numpy as np
import pytest
from mathutils import Matrix, Vector

from ik_triangulation.errors import ChainError, SettingError
from ik_triangulation.goals import Point
from ik_triangulation.kinematics import Pose
from ik_triangulation.solvers import solve
from scripts.reproduce.planar import CHUNK, Arms, planar_chain, solve_planar
from scripts.reproduce.planar_steps import STEPS

from ..chains import PAPER, straight
from ..modes import in_turn

EQUAL = (1.0,) * 5
every_method = pytest.mark.parametrize("solver", STEPS)


def pixels(size, radius=1.0):
    """Complex numbers on a square grid, those within `radius`."""
    at = (np.arange(size) + 0.5) / size * 2.0 - 1.0
    grid = radius * (at[None, :] + 1j * at[:, None])
    return grid[abs(grid) <= radius]


def one_by_one(start, targets, solver, tolerance, iterations):
    """What solve() makes of each target in the plane of x and y."""
    points = (Point(Vector((target.real, target.imag, 0.0))) for target in targets)
    return [
        solve(start, point, solver=solver, tolerance=tolerance, iterations=iterations, finish=False) for point in points
    ]


def agree(lengths, start, solver, size, iterations):
    """The shared promise: as many iterations on 99.5 % of the pixels, one more or less on the rest."""
    reach = sum(lengths)
    targets = pixels(size, reach)
    found = solve_planar(lengths, targets, STEPS[solver], 0.01 * reach, iterations)
    solutions = one_by_one(start, targets, solver, 0.01 * reach, iterations)
    counts = np.array([solution.iterations for solution in solutions])
    same = found.iterations == counts
    assert same.mean() >= 0.995
    assert abs(found.iterations - counts).max() <= 1
    assert (found.reached == [solution.reached for solution in solutions]).mean() >= 0.995
    # Where the counts agree so does the rest, but for what single precision makes of nearly straight links.
    costs = [solution.cost for solution in solutions]
    assert found.error[same] == pytest.approx(np.array([s.error for s in solutions])[same], abs=1e-4 * reach)
    assert found.total_angle[same] == pytest.approx(np.array([cost.total_angle for cost in costs])[same], abs=0.01)
    assert found.travel[same] == pytest.approx(np.array([cost.travel for cost in costs])[same], abs=5e-3 * reach)
    assert (found.turns == [cost.turns for cost in costs]).mean() >= 0.99


@pytest.mark.parametrize(
    ("solver", "lengths"), in_turn(STEPS, [EQUAL, (4.0, 2.0, 1.0, 1.0), (1.0, 5.0, 1.0), PAPER, (2.0,)])
)
def test_it_takes_as_many_iterations_as_the_scalar_solver(solver, lengths):
    agree(lengths, planar_chain(lengths).rest_pose(), solver, 26, 20)


@every_method
def test_it_takes_as_many_iterations_as_free_joints_along_blenders_bones(solver):
    """Bones along +Y that bend about their own X, laid along x and to bend about z."""
    chain = straight(EQUAL)
    base = Matrix(((0.0, 1.0, 0.0, 0.0), (0.0, 0.0, 1.0, 0.0), (1.0, 0.0, 0.0, 0.0), (0.0, 0.0, 0.0, 1.0)))
    start = Pose(chain, base, chain.rest_pose().rotations)
    assert (start.tip - Vector((5.0, 0.0, 0.0))).length == 0.0
    agree(EQUAL, start, solver, 26, 10)


def test_a_straight_chain_stays_where_the_target_is_on_its_last_link_as_the_scalar_solver_does():
    """A deadlock: from every joint the tip and the target lie in the same direction."""
    targets = np.array([4.1, 4.5, 4.9], dtype=complex)
    for iterations in (0, 1, 4, 20):
        found = solve_planar(EQUAL, targets, STEPS["CCD"], 0.05, iterations)
        solutions = one_by_one(planar_chain(EQUAL).rest_pose(), targets, "CCD", 0.05, iterations)
        assert found.iterations.tolist() == [solution.iterations for solution in solutions]
        assert not found.reached.any()
        assert found.error == pytest.approx(5.0 - targets.real)
        assert found.total_angle.tolist() == [0.0] * 3


@every_method
def test_a_target_out_of_reach_is_approached_as_the_scalar_solver_does(solver):
    targets = 6.0 * np.exp(1j * np.linspace(0.1, 3.0, 12))
    found = solve_planar(EQUAL, targets, STEPS[solver], 0.05, 30)
    solutions = one_by_one(planar_chain(EQUAL).rest_pose(), targets, solver, 0.05, 30)
    assert not found.reached.any()
    assert found.error == pytest.approx([solution.error for solution in solutions], abs=1e-3)
    # Near the least error single precision decides whether an iteration was still a gain.
    assert abs(found.iterations - [solution.iterations for solution in solutions]).max() <= 1


def test_two_turns_cost_what_the_hand_works_out():
    arms = Arms.straight((1.0, 1.0), 2)
    arms.turn(0, np.array([1j, 1j]))  # the tip goes from 2 to 2i
    arms.turn(1, np.exp(1j * np.array([radians(3.0), radians(90.0)])), np.array([True, False]))
    assert arms.places[:, 1] == pytest.approx([0.0, 1j, 2j], abs=1e-12)
    assert arms.costs[0].tolist() == [1.0, 1.0]  # 3 degrees are too little for a turn
    assert arms.costs[1] == pytest.approx([radians(93.0), pi / 2.0])
    assert arms.costs[2] == pytest.approx([2.0 * 2.0**0.5 + 2.0 * np.sin(radians(1.5)), 2.0 * 2.0**0.5])


@every_method
def test_links_keep_their_lengths_and_results_the_shape_of_the_targets(solver):
    targets = np.linspace(-1.0, 1.0, 60).reshape(4, 15) * (3.0 + 2.0j)
    found = solve_planar(EQUAL, targets, STEPS[solver], 1e-6, 30)
    assert [array.shape for array in found] == [(4, 15)] * len(found)
    arms = Arms.straight(EQUAL, 60)
    for _ in range(30):
        STEPS[solver](arms, targets.ravel())
    assert abs(np.diff(arms.places, axis=0)) == pytest.approx(np.ones((5, 60)), abs=1e-12)
    assert (arms.places[0] == 0.0).all()


def test_the_chunks_change_nothing():
    targets = np.resize(pixels(20, 5.0), CHUNK + 7)
    found = solve_planar(EQUAL, targets, STEPS["CCD"], 0.05, 6)
    alone = solve_planar(EQUAL, targets[-7:], STEPS["CCD"], 0.05, 6)
    for whole, part in zip(found, alone, strict=True):
        assert whole[-7:].tolist() == part.tolist()


def test_no_targets_have_no_results():
    assert [array.size for array in solve_planar(EQUAL, [], STEPS["CCD"])] == [0] * 6


@pytest.mark.parametrize("lengths", [(), (0.0, 0.0), (1.0, -1.0, 3.0), (nan,), (inf, 1.0)])
def test_lengths_that_make_no_chain_are_refused(lengths):
    with pytest.raises(ChainError, match="are no lengths of a chain"):
        solve_planar(lengths, [1.0], STEPS["CCD"])
    with pytest.raises(ChainError, match="are no lengths of a chain"):
        planar_chain(lengths)


def test_settings_that_mean_nothing_are_refused():
    with pytest.raises(SettingError, match="Tolerance nan"):
        solve_planar(EQUAL, [1.0], STEPS["CCD"], tolerance=nan)
    with pytest.raises(SettingError, match="-1 iterations"):
        solve_planar(EQUAL, [1.0], STEPS["CCD"], iterations=-1)

# SPDX-License-Identifier: GPL-3.0-or-later
"""One step solves its bounded problem, the urgent errors before the others."""

from itertools import product

import numpy as np
import pytest

from ik_triangulation.kinematics.batch import Geometry
from ik_triangulation.kinematics.batch.algebra import cross
from ik_triangulation.solvers.batch.change import System, bounded_change, point_change

from ...chains import random_chain
from ...trees import KINDS, batch_of, drawn, place_task

FAR = 1e9
SIZE = 1.0  # of the tree
SIZES = [(3, 5, 40), (5, 9, 40), (6, 12, 40), (9, 15, 40), (3, 5, 4), (6, 12, 4)]  # rows, columns, states


def problem(rows, columns, states, seed=0, levels=None, bound=FAR):
    """Random rows, errors, levels, bounds, compliance and damping."""
    random = np.random.default_rng(seed)
    of = np.zeros(rows, int) if levels is None else np.array(levels)
    high = np.full((columns, states), bound)
    low = -high
    compliance = random.uniform(0.1, 1.0, (columns, 1))
    damping = np.full(states, 1e-3)
    return [
        random.normal(size=(rows, columns, states)),
        random.normal(size=(rows, states)),
        of,
        low,
        high,
        compliance,
        damping,
        SIZE,
    ]


def level_by_level(rows, errors, levels, compliance, damping, wished):
    """Change of one state by elimination: each level in the null space of those before, the last one damped."""
    half = np.sqrt(compliance)
    scaled = rows * half
    change = wished / half
    space = np.eye(len(half))
    for level in np.unique(levels):
        those = scaled[levels == level]
        inside = those @ space
        last = level == levels.max()
        mu = damping * (those**2).sum() if last else 0.0
        size = len(those)
        wanted = errors[levels == level] - those @ change
        change = change + space @ inside.T @ np.linalg.solve(inside @ inside.T + mu * np.eye(size), wanted)
        space = space @ (np.eye(len(half)) - np.linalg.pinv(inside) @ inside)
    return change * half


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("wishes", [False, True])
def test_one_level_is_damped_least_squares(size, wishes):
    given = problem(*size, seed=1)
    rows, errors, levels, low, _high, compliance, damping, _size = given
    wished = np.random.default_rng(2).normal(size=low.shape) if wishes else None
    found = bounded_change(*given, wished)
    for n in range(size[2]):
        wish = wished[:, n] if wishes else np.zeros(size[1])
        wanted = level_by_level(rows[..., n], errors[:, n], levels, compliance[:, 0], damping[n], wish)
        assert np.abs(found[:, n] - wanted).max() < 1e-9


@pytest.mark.parametrize("size", SIZES[1:4])
@pytest.mark.parametrize("wishes", [False, True])
def test_two_levels_are_the_elimination_of_one_in_the_null_space_of_the_other(size, wishes):
    given = problem(*size, seed=3, levels=[0] * 3 + [1] * (size[0] - 3))
    rows, errors, levels, low, _high, compliance, damping, _size = given
    wished = np.random.default_rng(4).normal(size=low.shape) if wishes else None
    found = bounded_change(*given, wished)
    for n in range(size[2]):
        wish = wished[:, n] if wishes else np.zeros(size[1])
        wanted = level_by_level(rows[..., n], errors[:, n], levels, compliance[:, 0], damping[n], wish)
        assert np.abs(found[:, n] - wanted).max() < 1e-4 * max(1.0, np.abs(wanted).max())


def test_an_urgent_level_is_met_where_the_others_would_need_the_same_columns():
    given = problem(6, 4, 40, seed=5, levels=[0] * 3 + [1] * 3)
    found = bounded_change(*given)
    rows, errors = given[:2]
    left = errors - np.einsum("rkf,kf->rf", rows, found)
    assert np.median(np.abs(left[:3])) < 1e-3
    assert np.abs(left[:3]).max() < 0.05  # where the rows hardly depend on the columns
    assert np.median(np.abs(left[3:])) > 0.3


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("wishes", [False, True])
def test_no_column_leaves_its_bounds(size, wishes):
    for seed in range(5):
        given = problem(*size, seed=seed, bound=0.2)
        wished = np.random.default_rng(seed).normal(size=given[3].shape) if wishes else None
        found = bounded_change(*given, wished)
        assert (np.abs(found) <= 0.2 + 1e-12).all()


def cost(rows, errors, mu, compliance, change):
    """The cost that the step minimises, in one state."""
    left = errors - rows @ change
    return left @ left / mu + (change**2 / compliance).sum()


def by_brute_force(rows, errors, mu, compliance, low, high):
    """The least cost over all sets of columns at their bounds, in one state."""
    best, count = np.inf, len(low)
    for at in product((0, -1, 1), repeat=count):
        change = np.where(np.array(at) < 0, low, np.where(np.array(at) > 0, high, 0.0))
        free = np.array(at) == 0
        if free.any():
            some = rows[:, free]
            normal = some.T @ some / mu + np.diag(1.0 / compliance[free])
            change[free] = np.linalg.solve(normal, some.T @ (errors - rows @ change) / mu)
        if (change >= low - 1e-12).all() and (change <= high + 1e-12).all():
            best = min(best, cost(rows, errors, mu, compliance, change))
    return best


def test_the_active_set_is_near_the_best_of_all_sets():
    given = problem(3, 5, 60, seed=6, bound=0.4)
    rows, errors, _, low, high, compliance, damping, _size = given
    found = bounded_change(*given)
    ratios = []
    for n in range(60):
        mu = damping[n] * (rows[..., n] ** 2 * compliance[:, 0]).sum()
        each = rows[..., n], errors[:, n], mu, compliance[:, 0]
        least = by_brute_force(*each, low[:, n], high[:, n])
        ratios.append(cost(*each, found[:, n]) / least)
    ratios = np.array(ratios)
    assert ratios.min() > 1.0 - 1e-9
    assert np.median(ratios) < 1.0 + 1e-9, ratios
    assert (ratios < 1.05).mean() > 0.8, ratios


@pytest.mark.parametrize("rows", [3, 6])
def test_a_state_is_solved_alike_among_any_number_of_others(rows):
    count = 1500  # systems of more than 1000 are written out in another way
    rows, errors, levels, low, high, *others, damping, size = problem(rows, 7, count, seed=8, bound=0.05)
    whole = bounded_change(rows, errors, levels, low, high, *others, damping, size)
    for some in (slice(0, 700), slice(700, 1450), slice(1450, count)):
        parts = rows[..., some], errors[:, some], levels, low[:, some], high[:, some]
        assert np.abs(bounded_change(*parts, *others, damping[some], size) - whole[:, some]).max() < 1e-9
    velocities, levers = rows[:3].transpose(1, 0, 2)[:4], np.random.default_rng(9).normal(size=(2, 3, count))
    ends = low[:4], high[:4]
    whole = point_change(velocities, levers, errors[:3], *ends, damping, size, 0.6)
    for some in (slice(0, 700), slice(700, count)):
        parts = (each[..., some] for each in (velocities, levers, errors[:3], *ends, damping))
        assert np.abs(point_change(*parts, size, 0.6) - whole[:, some]).max() < 1e-9


def test_stiff_columns_do_less_and_immobile_ones_nothing():
    given = problem(3, 6, 30, seed=7)
    given[5] = np.array([1.0, 1.0, 1.0, 1e-4, 0.0, 0.0])[:, None]
    found = np.abs(bounded_change(*given))
    assert not found[4:].any()
    assert found[3].max() < 0.01 * found[:3].max()


@pytest.mark.parametrize("build", KINDS.values(), ids=list(KINDS))
def test_a_single_point_is_solved_as_by_the_general_step(build):
    tree, states = batch_of(build(3, 6), 50, 3)
    there = drawn(tree, states, np.random.default_rng(1), 0.02)
    now = System(tree, states, [place_task(tree, there)])
    largest, damping = 10.0, np.full(50, 1e-4)
    errors, levels = now.errors()
    low, high = np.full((2, tree.columns, 50), 10.0)
    low *= -1.0
    low[: tree.angles], high[: tree.angles] = tree.ranges(states, largest)
    wanted = bounded_change(now.jacobian(), errors, levels, low, high, tree.compliance, damping, tree.size)
    levers = now.geometry.tip() - now.geometry.heads
    velocities = cross(now.geometry.angle_axes(), levers[tree.at_columns])
    bounds = low[: tree.angles], high[: tree.angles]
    found = point_change(velocities, levers[tree.at_balls], errors, *bounds, damping, tree.size, largest)
    inside = (np.abs(wanted[: tree.angles] - low[: tree.angles]) > 1e-9).all(0)
    inside &= (np.abs(wanted[: tree.angles] - high[: tree.angles]) > 1e-9).all(0)
    assert inside.any()  # where bounds act, the damping of the two differs by the fixed columns
    assert np.abs(found - wanted)[:, inside].max() < 1e-9
    assert np.abs(found - wanted).max() < 0.05


def test_a_single_point_with_ball_joints_rotates_none_by_more_than_the_largest():
    tree, states = batch_of(random_chain(2, 4), 30, 2)
    geometry = Geometry(tree, states)
    levers = geometry.tip() - geometry.heads
    none = np.empty((0, 30))
    errors = 10.0 * np.random.default_rng(1).normal(size=(3, 30))
    found = point_change(np.empty((0, 3, 30)), levers, errors, none, none, np.full(30, 1e-6), tree.size, 0.25)
    assert np.linalg.norm(found.reshape(4, 3, 30), axis=1).max() < 0.25 + 1e-12


def test_a_tip_on_the_joint_gives_no_change_and_no_warning():
    rows, errors = np.zeros((3, 4, 30)), np.ones((3, 30))
    high = np.ones((4, 30))
    found = bounded_change(rows, errors, np.zeros(3, int), -high, high, np.ones((4, 1)), np.full(30, 1e-3), SIZE)
    assert not found.any()

# SPDX-License-Identifier: GPL-3.0-or-later
"""Solving of all targets of a map with Finish: what the method reaches by itself, then the finish for all at once."""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import replace
from typing import NamedTuple, TypeVar

import numpy as np
from mathutils import Vector

from ..cooperative import Work, relay
from ..goals import Goal, Point
from ..kinematics import Pose
from ..kinematics.arrays import Indices, Mask, Numbers
from ..kinematics.batch import Geometry, States, Tree
from ..kinematics.batch.algebra import conjugated, lengths, product, rotate, rotate_back
from ..kinematics.chain import LENGTH_ROUNDING
from ..kinematics.cost import SMALLEST_TURN
from ..solvers import SolverSettings, solve_goal
from .grid import Grid
from .own import Asked, Own, nothing_yet, own_part
from .search import Search

_APART = 0.02  # of the reach: targets so far apart go on from where the method has left them, those between from theirs
_AT_ONCE = 2048  # poses handed over or measured between two moments at which a job can be stopped
_OWN = 0.4  # share of the work that is the method's own, about
_Result = TypeVar("_Result")


class SolvedTargets(NamedTuple):
    """Results for F targets: arrays (F) as those of Metrics, lengths in Blender units."""

    iterations: Indices
    error: Numbers
    reached: Mask
    turns: Indices
    total_angle: Numbers
    travel: Numbers


def solve_targets(
    start: Pose, targets: Numbers, grid: Grid, settings: SolverSettings, tolerance: float
) -> Generator[float, None, SolvedTargets]:
    """Solve the targets (3, F) of a grid with Finish, each from the pose `start`; yields the share that is done.

    The method of the settings begins as in solve(). A target that it reaches by itself has its iterations and cost. The
    others are finished together: their iterations are those of the method and all steps of the finish, and their cost
    is that of one rotation of each joint, root first, from the start to the solution. So is the cost with Gauss-Newton,
    of which the finish consists. The chain has to be plain. Raises as solve() does.
    """
    first = Goal(Point(Vector(targets[:, 0])), tolerance=tolerance)
    solve_goal(start, first, replace(settings, iterations=0, finish=False))
    start = start.copy()
    start.project()
    tree, count = Tree.of(start.chain), targets.shape[1]
    begin = tree.states([start])
    asked = Asked(targets, tolerance, np.maximum(tolerance, _least(start, targets)))
    search = Search(tree, targets, begin, asked.enough, settings.iterations)
    apart, every = grid.coarse(_APART), np.arange(count)
    if settings.solver == "GAUSS_NEWTON":
        own = nothing_yet(start, tree, count)
        yield from relay(_hand_over(search, own, every), 0.0)
        yield from relay(search.descend(every, every, search.bounds), 0.0)
    else:
        own = yield from scaled(own_part(start, tree, asked, settings), 0.0, _OWN)
    reached = own.error <= tolerance
    if settings.solver != "GAUSS_NEWTON":
        beside = np.append(~reached, False)[grid.neighbours()].any(0)
        begun = np.flatnonzero(np.where(reached, beside, apart))
        yield from relay(_hand_over(search, own, begun), _OWN)
        search.error[reached] = own.error[reached]
    yield from scaled(search.finish(grid, settings.seed), _OWN, 1.0)
    nearer = np.flatnonzero(own.error < search.error)
    yield from relay(_hand_over(search, own, nearer), 1.0)
    each = []
    for at in range(0, count, _AT_ONCE):
        each.append(cost_from(tree, begin, search.states.take(slice(at, at + _AT_ONCE))))
        yield 1.0
    costs = (np.concatenate(parts) for parts in zip(*each, strict=True))
    pairs = zip((own.turns, own.total_angle, own.travel), costs, strict=True)
    return SolvedTargets(
        own.iterations + np.where(reached, 0, search.steps),
        search.error,
        search.error <= tolerance,
        *(np.where(reached, by_method, by_finish) for by_method, by_finish in pairs),
    )


def scaled(work: Generator[float, None, _Result], begin: float, end: float) -> Generator[float, None, _Result]:
    """Run work that yields shares from 0 to 1 as a part of a larger one, from its share `begin` to `end`."""
    while True:
        try:
            share = next(work)
        except StopIteration as stopped:
            result: _Result = stopped.value
            return result
        yield begin + (end - begin) * share


def _hand_over(search: Search, own: Own, those: Indices) -> Work[None]:
    """Let the search keep the poses of the method for these targets."""
    for at in range(0, len(those), _AT_ONCE):
        part = those[at : at + _AT_ONCE]
        search.keep(part, own.states(part))
        yield


def _least(start: Pose, targets: Numbers) -> Numbers:
    """Distances (F) below which no pose comes, by the lengths of the links alone, and their rounding."""
    nearest, farthest = start.chain.reaches[0]
    away = lengths(targets - np.array(start.head(0))[:, None])
    least: Numbers = np.maximum(away - farthest, nearest - away) + LENGTH_ROUNDING * start.chain.reach
    return least


def cost_from(tree: Tree, start: States, ends: States) -> tuple[Indices, Numbers, Numbers]:
    """Return turns, total angle [rad] and travel [Blender units] of F poses of a chain, as in kinematics.Cost.

    Each joint rotates once, root first, from its rotation in the one pose `start` to that in `ends`.
    """
    turn = product(conjugated(tree.rotations(start)), tree.rotations(ends))
    angles = 2.0 * np.arctan2(lengths(turn[:, 1:]), np.abs(turn[:, 0]))
    begun, ended = Geometry(tree, start), Geometry(tree, ends)
    place, travel = begun.tip(), np.zeros(len(ends))
    for before, after in zip(begun.frames, ended.frames, strict=True):
        still = rotate_back(
            before[:, :3], begun.tip() - before[:, 3]
        )  # the end effector as the joints after it hold it
        moved = rotate(after[:, :3], still) + after[:, 3]
        travel += lengths(moved - place)
        place = moved
    return (angles > SMALLEST_TURN).sum(0), angles.sum(0), travel

# SPDX-License-Identifier: GPL-3.0-or-later
"""Solving of all targets of a map with Finish: the published method target by target, its finish for all at once."""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from mathutils import Vector

from ..cooperative import relay
from ..goals import Goal, Point
from ..kinematics import Pose
from ..kinematics.arrays import Indices, Mask, Numbers
from ..kinematics.batch import Geometry, States, Tree
from ..kinematics.batch.algebra import conjugated, lengths, product, rotate, rotate_back
from ..kinematics.chain import LENGTH_ROUNDING
from ..kinematics.cost import SMALLEST_TURN
from ..solvers import SolverSettings, solve_goal
from ..solvers.finish import least_error
from ..solvers.iterate import iterate
from ..solvers.registry import SOLVERS
from .grid import Grid
from .search import Search

_LITTLE = 0.5  # relative decrease of the error by one step, below which Finish takes over, as in solve()
_APART = 0.02  # of the reach: targets so far apart go on from where the method has left them, those between from theirs
_OWN, _ALL = 0.6, 1000  # share of the work that is the method's own, and the parts of all work


class Solved(NamedTuple):
    """What was found for F targets: arrays (F) as those of Metrics, lengths in Blender units."""

    iterations: Indices
    error: Numbers
    reached: Mask
    turns: Indices
    total_angle: Numbers
    travel: Numbers


def solve_targets(
    start: Pose, targets: Numbers, grid: Grid, settings: SolverSettings, tolerance: float
) -> Generator[float, None, Solved]:
    """Solve the targets (3, F) of a grid with Finish, each from the pose `start`; yields the share that is done.

    The method of the settings begins as in solve(). A target that it reaches has its iterations and cost. The others
    are finished all at once: their iterations are those of the method and all steps of the finish, and their cost is
    that of one rotation of each joint, root first, from the start to the solution. Gauss-Newton, of which the finish
    consists, is done all at once from the beginning. The chain has to be plain. Raises as solve() does.
    """
    check = Goal(Point(Vector(targets[:, 0])), tolerance=tolerance)
    solve_goal(start, check, replace(settings, iterations=0, finish=False))
    tree = Tree.of(start.chain)
    begin = tree.states([start])
    root, (nearest, farthest) = np.array(start.head(0)), start.chain.reaches[0]
    away = lengths(targets - root[:, None])
    least = np.maximum(away - farthest, nearest - away)
    enough = np.maximum(tolerance, least + LENGTH_ROUNDING * start.chain.reach)
    search = Search(tree, targets, begin, enough, settings.iterations)
    coarse = grid.coarse(_APART)
    own = _Own(start, search, settings, tolerance)
    if settings.solver == "GAUSS_NEWTON":
        every = np.arange(targets.shape[1])
        search.keep(every, search.states)
        yield from relay(search.descend(every, every, search.bounds), 0.0)
    else:
        for number, target in enumerate(targets.T):
            own.solve(number, Vector(target))
            yield _OWN * number / len(own.error)
        own.hand_over(coarse, grid.neighbours())
    yield from relay(search.finish(grid, settings.seed), _OWN)
    own.improve()
    return own.solved(begin)


class _Own:
    """What the method reaches by itself, target by target."""

    def __init__(self, start: Pose, search: Search, settings: SolverSettings, tolerance: float) -> None:
        count = search.targets.shape[1]
        self.start, self.search, self.settings, self.tolerance = start, search, settings, tolerance
        self.error, self.reached = np.full(count, np.inf), np.zeros(count, bool)
        self.iterations, self.turns = np.zeros(count, np.intp), np.zeros(count, np.intp)
        self.total_angle, self.travel = np.zeros(count), np.zeros(count)
        self._poses: dict[int, Any] = {}

    def solve(self, number: int, place: Vector) -> None:
        """Take the steps of the method, as solve() does before its finish."""
        settings, target = self.settings, Point(place)
        pose = self.start.copy()
        pose.project()
        before = (place - pose.tip).length
        step = SOLVERS[settings.solver].begin()
        error, count = iterate(step, pose, target, self.tolerance, min(settings.iterations, 1))
        if self.tolerance < error <= _LITTLE * before:
            enough = max(self.tolerance, least_error(pose, target) + LENGTH_ROUNDING * pose.chain.reach)
            error, more = iterate(step, pose, target, enough, settings.iterations - count, 1, _LITTLE)
            count += more
        self.error[number], self.iterations[number] = error, count
        self._poses[number] = pose.rotations
        if error <= self.tolerance:
            self.reached[number] = True
            cost = pose.cost
            self.turns[number], self.total_angle[number], self.travel[number] = (
                cost.turns,
                cost.total_angle,
                cost.travel,
            )

    def hand_over(self, coarse: Mask, neighbours: Indices) -> None:
        """Give the search what it begins from: targets that lie far apart, and those reached beside others."""
        missed = np.append(~self.reached, False)
        beside = missed[neighbours].any(0) & self.reached
        self._keep(np.flatnonzero(beside | (coarse & ~self.reached)))
        self.search.error[self.reached] = self.error[self.reached]

    def improve(self) -> None:
        """Keep the method's poses that are nearer than what the search found."""
        self._keep(np.flatnonzero(np.isfinite(self.error) & ~self.reached & (self.error < self.search.error)))

    def _keep(self, those: Indices) -> None:
        poses = [Pose(self.start.chain, self.start.base, self._poses[number]) for number in those.tolist()]
        if poses:
            self.search.keep(those, self.search.tree.states(poses))

    def solved(self, begin: States) -> Solved:
        """Everything that was found."""
        search, own = self.search, self.reached
        turns, total_angle, travel = cost_from(search.tree, begin, search.states)
        return Solved(
            self.iterations + np.where(own, 0, search.steps),
            np.where(own, self.error, search.error),
            own | (search.error <= self.tolerance),
            np.where(own, self.turns, turns),
            np.where(own, self.total_angle, total_angle),
            np.where(own, self.travel, travel),
        )


def cost_from(tree: Tree, start: States, ends: States) -> tuple[Indices, Numbers, Numbers]:
    """Return turns, total angle [rad] and travel [Blender units] of F poses of a chain, as in kinematics.Cost.

    Each joint rotates once, root first, from its rotation in the one pose `start` to that in `ends`.
    """
    turn = product(conjugated(tree.rotations(start)), tree.rotations(ends))
    angles = 2.0 * np.arctan2(lengths(turn[:, 1:]), np.abs(turn[:, 0]))
    begun, ended = Geometry(tree, start), Geometry(tree, ends)
    place, travel = begun.tip(), np.zeros(len(ends))
    for before, after in zip(begun.frames, ended.frames, strict=True):
        still = rotate_back(before[:, :3], begun.tip() - before[:, 3])  # the end effector as the joints after it hold it
        moved = rotate(after[:, :3], still) + after[:, 3]
        travel += lengths(moved - place)
        place = moved
    return (angles > SMALLEST_TURN).sum(0), angles.sum(0), travel

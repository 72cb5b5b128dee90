# SPDX-License-Identifier: GPL-3.0-or-later
"""Solving of all targets of a map, which lie on a grid: what the method reaches by itself, then the finish.

Finish for the targets of a map, all at once: bounded Gauss-Newton, from the poses of neighbours, and restarts.

Where one target is reached, those beside it are mostly reached from its pose. So restarts are needed only to find a
region, not each target in it: they are made on a grid as coarse as the tolerance allows, and what they find spreads to
the neighbours until nothing changes.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator
from dataclasses import dataclass, replace
from itertools import product
from typing import NamedTuple, TypeVar

import numpy as np
from mathutils import Vector

from ..cooperative import Work, relay
from ..goals import Goal, Point
from ..goals.target_shapes import BatchTarget
from ..goals.task import PlaceTask
from ..kinematics import Pose
from ..kinematics.arrays import Indices, Mask, Numbers
from ..kinematics.batch import Geometry, States, Tree
from ..kinematics.batch.algebra import conjugated, lengths, rotate, rotate_back
from ..kinematics.batch.algebra import product as quaternion_product
from ..kinematics.batch.tree import joined
from ..kinematics.pose import LENGTH_ROUNDING, SMALLEST_TURN
from ..solvers import SolverSettings, solve_goal
from ..solvers.batch.descent import Descent, descend
from ..solvers.batch.own_steps import STEPS, Walk, WalkedChain, walk_on
from ..solvers.batch.restarts import restart
from ..solvers.solve import take_own_steps

_GAIN = 1e-4  # of the reach: decrease of a distance that is passed on to the neighbours
# Starts for each target that is missed, and of the reach: how far apart such targets are. What a start finds for one of
# them spreads to all around it, so that the many starts of a round count for all targets between.
_ROUNDS = ((8, 0.02), (24, 0.04), (64, 0.08))
_LAST = 0.04  # of the reach, likewise, for the last steps towards targets out of reach
_CLOSE, _MORE = 2.0, 32  # distance, beside the one that is enough, of targets that are tried so many times more
_STALL = 4  # steps without progress that end a descent from a neighbour's pose or from a restart
_COLUMNS_AT_ONCE = 5120  # columns of all states that are solved between two moments at which a job can be stopped
_LEAST_STATES = 128  # states

_JOINTS_AT_ONCE = 2560  # joints of all poses that are rotated between two moments at which a job can be stopped
_FEW = 16  # poses, likewise

_APART = 0.02  # of the reach: targets so far apart go on from where the method has left them, those between from theirs
_POSES_AT_ONCE = 2048  # poses handed over or measured between two moments at which a job can be stopped
_OWN = 0.4  # share of the work that is the method's own, about
_Result = TypeVar("_Result")


@dataclass(frozen=True)
class Grid:
    """Cells of a square or a cube, in order; `mask` tells which of them hold a target, `spacing` is their distance.

    `spacing` is a share of the reach.
    """

    mask: Mask
    spacing: float

    def neighbours(self) -> Indices:
        """Number of the target in each of the cells around a target (8 or 26, F); -1 where there is none."""
        padded = np.pad(self.mask, 1)
        numbers = np.full(padded.shape, -1, np.intp)
        numbers[padded] = np.arange(np.count_nonzero(self.mask))
        cells = np.nonzero(padded)
        shifts = [shift for shift in product((-1, 0, 1), repeat=self.mask.ndim) if any(shift)]
        return np.array(
            [numbers[tuple(cell + step for cell, step in zip(cells, shift, strict=True))] for shift in shifts]
        )

    def coarse(self, distance: float) -> Mask:
        """Targets (F) of the widest grid whose cells are at most `distance` apart, a share of the reach; at least all
        targets of this grid.
        """
        stride = max(1, int(distance / self.spacing))
        cells = np.nonzero(self.mask)
        chosen: Mask = np.all([cell % stride == stride // 2 for cell in cells], axis=0)
        return chosen


class Search:
    """F targets (3, F), armature space, and the best state found for each.

    `error` (F) is its distance [Blender units], infinite before a first state is kept; `done` (F) tells whether that is
    at most `enough` (F), `steps` (F) counts the steps of Gauss-Newton. `start` is the state in which all begin.
    """

    def __init__(self, tree: Tree, targets: Numbers, start: States, enough: Numbers, iterations: int) -> None:
        self.tree, self.targets, self.enough = tree, targets, enough
        self.states = start.take(np.zeros(targets.shape[1], np.intp))
        self.bounds = Descent(iterations=iterations)
        self.short = Descent(iterations=iterations, stall=_STALL)
        count = targets.shape[1]
        self.tips, self.error = np.zeros((3, count)), np.full(count, np.inf)
        self.steps = np.zeros(count, np.intp)
        unturned = BatchTarget(None, np.eye(3)[:, :, None], targets, np.ones(1))
        self._task = PlaceTask(target=unturned, tolerance=enough)

    @property
    def done(self) -> Mask:
        """Targets that are near enough."""
        near: Mask = self.error <= self.enough
        return near

    def descend(self, those: Indices, begins: Indices, bounds: Descent) -> Work[Indices]:
        """Descend to targets from the states of the targets `begins`; returns those that came nearer."""
        nearer = []
        for part in self._parts(len(those)):
            here, start = those[part], self.states.take(begins[part])
            made = np.zeros(len(here), np.intp)
            descend(self.tree, start, [self._task.take(here)], bounds, steps=made)
            np.add.at(self.steps, here, made)
            nearer.append(self.keep(here, start))
            yield
        return np.concatenate(nearer) if nearer else those[:0]

    def restart(self, those: Indices, count: int, seed: int, bounds: Descent) -> Work[Indices]:
        """Descend from `count` states drawn within the limits for each target; returns those that came nearer."""
        nearer = []
        for number, part in enumerate(self._parts(len(those), count)):
            here = those[part]
            states, value = self.states.take(here), self.error[here] ** 2
            met = np.zeros(len(here), bool)
            draw, made = [seed, count, number], np.zeros(len(here), np.intp)
            task, rounds = self._task.take(here), (count,)
            restart(self.tree, states, [task], met, value, seed=draw, rounds=rounds, bounds=bounds, steps=made)
            np.add.at(self.steps, here, made)
            nearer.append(self.keep(here, states))
            yield
        return np.concatenate(nearer) if nearer else those[:0]

    def spread(self, neighbours: Indices, changed: Indices) -> Work[None]:
        """Try targets from the states of neighbours that have `changed`, until nothing changes any more.

        A neighbour serves if its target is reached, or if its state is nearer to the target than that which it has.
        """
        gain = _GAIN * self.tree.size
        while len(changed):
            fresh = np.zeros(len(self.error) + 1, bool)  # the last one is no target: number -1
            fresh[changed] = True
            done = self.done
            open_ = np.flatnonzero(~done)
            around = neighbours[:, open_]
            some = fresh[around].any(0)
            open_, around = open_[some], around[:, some]
            if not len(open_):
                return
            away = np.sqrt(((self.tips[:, around] - self.targets[:, None, open_]) ** 2).sum(0))
            serves = fresh[around] & (done[around] | (away < self.error[open_] - gain))
            away = np.where(serves, away, np.inf)
            best = away.argmin(0)
            every = np.arange(len(open_))
            useful = np.isfinite(away[best, every])
            here, begins = open_[useful], around[best, every][useful]
            before = self.error[here]
            yield from self.descend(here, begins, self.short)
            changed = here[self.error[here] < before - gain]

    def keep(self, here: Indices, states: States) -> Indices:
        """Keep the states that are nearer to the targets `here`; returns which targets these are."""
        tips = Geometry(self.tree, states).tip()
        error = np.sqrt(((self.targets[:, here] - tips) ** 2).sum(0))
        nearer = np.flatnonzero(error < self.error[here])
        kept = here[nearer]
        self.states.put(kept, states.take(nearer))
        self.tips[:, kept], self.error[kept] = tips[:, nearer], error[nearer]
        return kept

    def _parts(self, count: int, tries: int = 1) -> Iterator[slice]:
        """Slices of `count` targets, each with its tries."""
        size = max(1, max(_LEAST_STATES, _COLUMNS_AT_ONCE // max(1, self.tree.columns)) // tries)
        for begin in range(0, count, size):
            yield slice(begin, begin + size)

    def finish(self, grid: Grid, seed: int) -> Generator[float, None, None]:
        """Bring all targets of a grid as near as possible, from the states kept so far; yields the share done."""
        neighbours, every = grid.neighbours(), np.arange(len(self.error))
        begun = np.isfinite(self.error)
        stage = 1.0 / (3.0 + len(_ROUNDS))
        yield from relay(self.descend(every[begun & ~self.done], every[begun & ~self.done], self.bounds), 0.0)
        yield from relay(self.spread(neighbours, every[begun]), stage)
        for number, (count, distance) in enumerate(_ROUNDS, 2):
            missed = np.flatnonzero(~self.done & grid.coarse(distance))
            nearer = yield from relay(self.restart(missed, count, seed, self.short), number * stage)
            yield from relay(self.spread(neighbours, nearer), number * stage)
        close = self.error < _CLOSE * self.enough
        missed = np.flatnonzero(~self.done & (grid.coarse(_LAST) | close))
        nearer = yield from relay(self._settle(missed), 1.0 - stage)
        yield from relay(self.spread(neighbours, nearer), 1.0 - stage)
        close = ~self.done & (self.error < _CLOSE * self.enough) & grid.coarse(_ROUNDS[0][1])
        nearer = yield from relay(self.restart(np.flatnonzero(close), _MORE, seed, self.bounds), 1.0 - stage)
        yield from relay(self.spread(neighbours, nearer), 1.0 - stage)

    def _settle(self, those: Indices) -> Work[Indices]:
        """Go on while that brings targets nearer: towards one out of reach every step gains little."""
        nearer = []
        while len(those):
            before = self.error[those]
            yield from self.descend(those, those, self.bounds)
            those = those[self.error[those] < before - _GAIN * self.tree.size]
            nearer.append(those)
        return np.unique(np.concatenate(nearer)) if nearer else those


class Own(NamedTuple):
    """Results for F targets: arrays (F), lengths in Blender units; the cost is that of kinematics.Cost.

    `states` gives the poses of targets with these numbers.
    """

    error: Numbers
    iterations: Indices
    turns: Indices
    total_angle: Numbers
    travel: Numbers
    states: Callable[[Indices], States]


class MapTargets(NamedTuple):
    """Targets (3, F), and the distances [Blender units] that are near enough: at first, and after one step (F)."""

    targets: Numbers
    tolerance: float
    enough: Numbers


def own_part(start: Pose, tree: Tree, wanted: MapTargets, settings: SolverSettings) -> Generator[float, None, Own]:
    """Take the steps of the method from `start`, as solve() does before its finish; yields the share done."""
    step = STEPS.get(settings.solver)
    if step is None:
        return (yield from _one_by_one(start, tree, wanted, settings))
    begin = tree.states([start])
    walked, size = WalkedChain(start.chain, begin, tree), max(128, _JOINTS_AT_ONCE // len(start.chain.joints))
    walks: list[Walk] = []
    errors, counts = [], []
    for at in range(0, wanted.targets.shape[1], size):
        part = slice(at, at + size)
        walk, error, count = walk_on(
            walked, step, wanted.targets[:, part], wanted.tolerance, wanted.enough[part], settings.iterations
        )
        walks.append(walk)
        errors.append(error)
        counts.append(count)
        yield at / wanted.targets.shape[1]
    states = joined([walk.states() for walk in walks])
    turns, angle, travel = (np.concatenate([walk.arrays[n] for walk in walks]) for n in (3, 4, 5))
    return Own(np.concatenate(errors), np.concatenate(counts), turns, angle, travel, states.take)


def nothing_yet(start: Pose, tree: Tree, count: int) -> Own:
    """The start for every target, without a step."""
    every, begin = np.zeros(count, np.intp), tree.states([start])
    zeros = np.zeros(count)
    return Own(np.full(count, np.inf), every, every, zeros, zeros, lambda those: begin.take(every[those]))


def _one_by_one(start: Pose, tree: Tree, wanted: MapTargets, settings: SolverSettings) -> Generator[float, None, Own]:
    """The same by the scalar method."""
    count = wanted.targets.shape[1]
    poses: list[list] = []
    rows = []
    for number, place in enumerate(wanted.targets.T):
        pose = start.copy()
        pose.project()
        own = take_own_steps(pose, Goal(Point(Vector(place)), (), wanted.tolerance), settings)
        cost = pose.cost
        rows.append((own.error, own.steps, cost.turns, cost.total_angle, cost.travel))
        poses.append(pose.rotations)
        if number % _FEW == 0:
            yield number / count

    def states(those: Indices) -> States:
        return tree.states([Pose(start.chain, start.base, poses[number]) for number in those.tolist()])

    error, steps, turns, angle, travel = (np.array(values) for values in zip(*rows, strict=True))
    return Own(error, steps, turns, angle, travel, states)


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
    wanted = MapTargets(targets, tolerance, np.maximum(tolerance, _least(start, targets)))
    search = Search(tree, targets, begin, wanted.enough, settings.iterations)
    apart, every = grid.coarse(_APART), np.arange(count)
    if settings.solver == "GAUSS_NEWTON":
        own = nothing_yet(start, tree, count)
        yield from relay(_hand_over(search, own, every), 0.0)
        yield from relay(search.descend(every, every, search.bounds), 0.0)
    else:
        own = yield from scaled(own_part(start, tree, wanted, settings), 0.0, _OWN)
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
    for at in range(0, count, _POSES_AT_ONCE):
        each.append(cost_from(tree, begin, search.states.take(slice(at, at + _POSES_AT_ONCE))))
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
    for at in range(0, len(those), _POSES_AT_ONCE):
        part = those[at : at + _POSES_AT_ONCE]
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
    turn = quaternion_product(conjugated(tree.rotations(start)), tree.rotations(ends))
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

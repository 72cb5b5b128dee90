# SPDX-License-Identifier: GPL-3.0-or-later
"""Finish for the targets of a map, all at once: bounded Gauss-Newton, from the poses of neighbours, and restarts.

Where one target is reached, those beside it are mostly reached from its pose. So restarts are needed only to find a
region, not each target in it: they are made on a grid as coarse as the tolerance allows, and what they find spreads to
the neighbours until nothing changes.
"""

from __future__ import annotations

from collections.abc import Generator, Iterator

import numpy as np

from ..cooperative import Work, relay
from ..goals.batch import BatchTarget, PlaceTask
from ..kinematics.arrays import Indices, Mask, Numbers
from ..kinematics.batch import Geometry, States, Tree
from ..solvers.batch.descent import Descent, descend
from ..solvers.batch.restarts import restart
from .grid import Grid

_GAIN = 1e-4  # of the reach: decrease of a distance that is passed on to the neighbours
# Starts for each target that is missed, and of the reach: how far apart such targets are. What a start finds for one of
# them spreads to all around it, so that the many starts of a round count for all targets between.
_ROUNDS = ((8, 0.02), (24, 0.04), (64, 0.08))
_LAST = 0.04  # of the reach, likewise, for the last steps towards targets out of reach
_CLOSE, _MORE = 2.0, 32  # distance, beside the one that is enough, of targets that are tried so many times more
_STALL = 4  # steps without progress that end a descent from a neighbour's pose or from a restart
_AT_ONCE = 5120  # columns of all states that are solved between two moments at which a job can be stopped
_LEAST_AT_ONCE = 128  # states


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
        """Slices of `count` targets with so many tries each."""
        size = max(1, max(_LEAST_AT_ONCE, _AT_ONCE // max(1, self.tree.columns)) // tries)
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

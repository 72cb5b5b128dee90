# SPDX-License-Identifier: GPL-3.0-or-later
"""Tracking of a path by knots, as one batch, and the residuals of its frames.

Some frames are solved one from the other, and those between them at once. Source: none. Frames at which the goal has
moved by a share of the reach, the knots, are solved first. Coordinates are interpolated between them inside their
bounds, averaged over about the distance of two knots, and all frames are brought to their goals by bounded Gauss-Newton
as one batch. Frames that are still missed are tried from frames that are not, then by restarts. Frames are the last
axis of every array.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, Protocol

import numpy as np

from ..cooperative import Work
from ..goals.task import PlaceTask, Task
from ..kinematics.arrays import Columns, Indices, Mask, Numbers, blocks
from ..kinematics.batch import Geometry, States, Tree
from ..kinematics.batch.algebra import lengths, normalized, signs_along
from ..kinematics.batch.tree import joined
from ..solvers.batch.change import System
from ..solvers.batch.descent import PRECISE, at_one_level, descend, hold, precisely
from ..solvers.batch.restarts import ROUNDS, restart
from .jumps import turns_from, turns_of

KNOT_WAY = 0.5  # share of the reach that the goal moves from one knot to the next
_MANY, _SHORT_WAY = 60, 0.4  # joints of a chain that folds over a longer distance, and that distance
_FARTHEST = 32  # frames between two knots
_SEARCHED = (16, 8)  # of so many missed frames in a row that may be met one is searched by all restarts
_TRUSTED = 0.5  # share of the distance to which the restarts come that the goal may move before it may be met
_NEARER = 0.02  # of the reach: less is not worth another pose for a frame that is missed anyway
_AT_ONCE = 2048  # frames between two looks at what the user does
_SEARCHED_AT_ONCE = 16  # and frames that are searched
_ROUND = (8, 24)  # restarts of every frame that is missed
_NEARER_BESIDE = 1e-3  # the same for the pose of a frame beside it, which is not another one for both
_SPREADING = 16  # times that poses spread from frame to frame
_NEIGHBOURS = 4  # times that missed frames are tried from those beside them


class KnotSolver(Protocol):
    """The method by which the knots are solved, one from the other."""

    def follow(self, frames: Indices) -> Work[States]:
        """Solve frames from the pose of the first frame on, each from the one before."""

    def learn(self, off: Numbers) -> None:
        """Take for granted that frames cannot come nearer to their places than these distances (F)."""

    def refine(self, frames: Indices, states: States) -> Work[States]:
        """Solve frames, each from its own state."""

    def calmest(self) -> KnotSolver:
        """The method that rotates the joints least from knot to knot; the same object if this one does."""

    def part(self, begin: int, first: States, step: int = 1) -> KnotSolver:
        """The method for the frames from `begin` on, of which the `first` has this state; with a `step` of -1 back."""


class Tracked:
    """A path: `states` of all frames, and their residuals.

    `met` (F) tells which are within tolerance, `urgent` (F) which are so in the tasks of the most urgent level, `value`
    (F) is the weighted sum of squared errors, `off` (t, F) how far each task is off, in its own unit. `steps` (F) are
    those of the method, or of Gauss-Newton that brought each frame to its goal from the knots beside it. `mended` (F)
    tells which are not those of the method that was chosen, although it solves every frame.
    """

    def __init__(self, tracking: Tracking, states: States, measured: System | None = None) -> None:
        """`measured` are the same states with the tasks, where they are known."""
        count = len(states)
        self._tree = tracking.tree
        self._turns: Numbers | None = None
        self._replaced = list[Indices]()  # frames whose turns are those of other states
        self.states, self.met, self.value = states, np.empty(count, bool), np.empty(count)
        self.urgent = np.empty(count, bool)
        self.off = np.empty((len(tracking.tasks), count))
        self.steps, self.mended = np.zeros(count, np.intp), np.zeros(count, bool)
        for frames in blocks(count, len(tracking.tree.joints)) if measured is None else ():
            some = states.take(frames)
            self.put(frames, some, tracking.system(some, frames))
        if measured is not None:
            self.put(slice(None), states, measured)

    @property
    def turns(self) -> Numbers:
        """Largest rotation [rad] of a joint to each frame from the one before (F); 0 for the first."""
        if self._turns is None:
            self._turns = turns_of(self._tree, self.states)
        elif self._replaced:
            frames = np.unique(np.concatenate(self._replaced))
            after = np.union1d(frames[frames > 0], frames[frames < len(self.states) - 1] + 1)
            rotations = (self._tree.rotations(self.states.take(each)) for each in (after - 1, after))
            self._turns = self._turns.copy()
            self._turns[after] = turns_from(*rotations)
        self._replaced.clear()
        return self._turns

    def take(self, frames: Indices) -> Tracked:
        """Those of the frames, whose residuals are not measured again."""
        some = Tracked.__new__(Tracked)
        some._tree, some._turns, some._replaced = self._tree, None, []
        some.states, some.met, some.value = self.states.take(frames), self.met[frames], self.value[frames]
        some.urgent, some.off = self.urgent[frames], self.off[:, frames]
        some.steps, some.mended = np.zeros(len(frames), np.intp), np.zeros(len(frames), bool)
        return some

    def put(self, frames: Columns, states: States, other: System | Tracked) -> None:
        """Replace frames by states, with their residuals in a system or a path of their own."""
        off = other.off if isinstance(other, Tracked) else np.array([each.off for each in other.measured])
        if isinstance(other, Tracked):
            self.steps[frames] += other.steps
        self.states.put(frames, states)
        self._replaced.append(np.arange(len(self.met))[frames])
        self.met[frames], self.value[frames], self.off[:, frames] = other.met, other.value, off
        self.urgent[frames] = other.urgent


class Tracking(NamedTuple):
    """A path to track, of a shot of one tip that is to keep its ends.

    `frames` has the root's frame and the locked joints at every frame, and any rotations; `first` and, if the last
    frame is to stay as it is, `last` are single states. `ways` are those of the goal, as shares of the reach, and
    `cuts` the frames at which another motion begins. Unless `holds_first`, the first frame may get another pose where
    that spares the path a jump.
    """

    tree: Tree
    frames: States
    tasks: Sequence[Task]
    first: States
    last: States | None
    ways: Numbers
    cuts: Indices
    holds_first: bool = True

    @property
    def has_priorities(self) -> bool:
        """Whether some goals are more urgent than others."""
        return len({task.level for task in self.tasks}) > 1

    def urgent_alone(self) -> Tracking:
        """The same frames with the goals of the most urgent level only."""
        first = min(task.level for task in self.tasks)
        return self._replace(tasks=[task for task in self.tasks if task.level == first])

    def goals(self, frames: Columns) -> list[Task]:
        """The tasks of some frames."""
        return [task.take(frames) for task in self.tasks]

    def precise_goals(self, frames: Columns) -> list[Task]:
        """The same with a share of their tolerances, so that the tip does not trail."""
        return precisely(self.tree, self.goals(frames))

    def system(self, states: States, frames: Columns) -> System:
        """States of some frames with their tasks."""
        return System(self.tree, states, self.goals(frames))

    def part(self, frames: Indices, first: States, last: States | None) -> Tracking:
        """Frames in a row without a cut among them, of which the first, and maybe the last, have these states."""
        some, ways = self.frames.take(frames), self.ways[frames]
        return Tracking(self.tree, some, self.goals(frames), first, last, ways, np.zeros(0, np.intp))

    def backwards(self, first: States) -> Tracking:
        """The same path from its last frame, which has this state, to its first."""
        back, count = slice(None, None, -1), len(self.frames)
        ways, cuts = np.concatenate(([0.0], self.ways[:0:-1])), (count - self.cuts)[back]
        return Tracking(self.tree, self.frames.take(back), self.goals(back), first, None, ways, cuts)


def track(
    tracking: Tracking, method: KnotSolver, way: float = KNOT_WAY, seed: int = 0, search: bool = True
) -> Work[Tracked]:
    """Solve all frames, with knots every `way` of the reach; `search` as in corrected()."""
    tree, count = tracking.tree, len(tracking.frames)
    knots = knots_of(tracking.ways, tracking.cuts, way)
    held = tracking.last is not None and count > 1
    found = [tracking.first, (yield from method.follow(knots[1 : len(knots) - held]))]
    if tracking.last is not None and held:
        found.append(tracking.last)
    states = interpolated(tree, knots, joined(found), tracking.frames)
    width = int(np.median(np.diff(knots))) if len(knots) > 1 else 0
    _average(states, width // 2, _spans(tracking.cuts, count))
    yield
    return (yield from corrected(tracking, states, method, seed, search))


def corrected(
    tracking: Tracking, states: States, method: KnotSolver, seed: int = 0, search: bool = True
) -> Work[Tracked]:
    """Bring all frames to their goals from these states, which are changed; with `search` from others as well."""
    tree, count = tracking.tree, len(states)
    states.put([0], tracking.first)
    if tracking.last is not None:
        states.put([count - 1], tracking.last)
    inner, steps = np.arange(1, count - (tracking.last is not None)), np.zeros(count, np.intp)
    for begin in range(0, len(inner), _AT_ONCE):
        part = inner[begin : begin + _AT_ONCE]
        some = states.take(part)
        taken = np.zeros(len(part), np.intp)
        descend(tree, some, at_one_level(tracking.precise_goals(part)), steps=taken)
        states.put(part, some)
        steps[part] = taken
        yield
    result = Tracked(tracking, states)
    result.steps = steps
    missed = inner[~result.met[inner]]
    if len(missed) and search:
        yield from meet_missed(tracking, result, missed, method, seed)
    elif len(missed) and tracking.has_priorities:
        prioritise(tracking, result, missed)
        yield
    return result


def knot_way(tree: Tree) -> float:
    """Share of the reach that the goal may move from one knot to the next."""
    return KNOT_WAY if len(tree.joints) < _MANY else _SHORT_WAY


def knots_of(ways: Numbers, cuts: Indices, way: float) -> Indices:
    """Frames whose goal is about `way` of the reach apart, both ends, and the frames on both sides of each cut."""
    count = len(ways)
    if count == 1:
        return np.zeros(1, np.intp)
    steps = np.maximum(ways[1:] / way, 1.0 / _FARTHEST)
    steps[cuts - 1] = 0.0
    total = np.concatenate(([0.0], np.cumsum(steps)))
    passed = np.searchsorted(total, np.arange(0.0, total[-1]))
    return np.unique(np.concatenate((passed, cuts - 1, cuts, [0, count - 1]))).astype(np.intp)


def _spans(cuts: Indices, count: int) -> tuple[Indices, Indices]:
    """First and last frame of the motion that each frame belongs to."""
    begins = np.concatenate(([0], cuts))
    ends = np.concatenate((cuts - 1, [count - 1]))
    motion = np.searchsorted(cuts, np.arange(count), side="right")
    return begins[motion], ends[motion]


def interpolated(tree: Tree, knots: Indices, found: States, frames: States) -> States:
    """Interpolate between the knots: angles linearly, so that they stay inside their bounds, ball joints by nlerp."""
    every = np.arange(len(frames))
    if len(knots) == 1:
        return found.take(np.zeros(len(frames), np.intp)).like(frames)
    before = np.clip(np.searchsorted(knots, every, side="right") - 1, 0, len(knots) - 2)
    share = (every - knots[before]) / (knots[before + 1] - knots[before])

    def mixed(values: Numbers) -> Numbers:
        between: Numbers = values[..., before] * (1.0 - share) + values[..., before + 1] * share
        return between

    balls = found.balls
    balls = normalized(mixed(balls * signs_along(balls)[:, None])) if tree.balls else balls[..., before]
    return States(mixed(found.angles), balls, frames.held, frames.root, frames.place)


def _average(states: States, half: int, spans: tuple[Indices, Indices]) -> None:
    """Average over time, in place, over `half` frames on either side, fewer near the ends of each motion."""
    every = np.arange(len(states))
    radius = np.minimum(half, np.minimum(every - spans[0], spans[1] - every))

    def averaged(values: Numbers) -> Numbers:
        sums = np.concatenate((np.zeros((*values.shape[:-1], 1)), np.cumsum(values, -1)), -1)
        mean: Numbers = (sums[..., every + radius + 1] - sums[..., every - radius]) / (2 * radius + 1)
        return mean

    if half > 0:
        states.angles, states.balls = averaged(states.angles), normalized(averaged(states.balls))


def smooth(states: States, times: int, cuts: Indices) -> None:
    """Average every frame with those before and after it, in place, `times` times; ends of motions stay."""
    first, last = _spans(cuts, len(states))
    inner = np.flatnonzero((first < np.arange(len(states))) & (np.arange(len(states)) < last))
    for _ in range(times):
        for values in (states.angles, states.balls):
            values[..., inner] = 0.5 * values[..., inner] + 0.25 * (values[..., inner - 1] + values[..., inner + 1])
        states.balls = normalized(states.balls)


def meet_missed(tracking: Tracking, result: Tracked, missed: Indices, method: KnotSolver, seed: int) -> Work[None]:
    """Try frames that are missed: alone, from frames that are met, and by restarts; in place."""
    tree = tracking.tree
    if tree.is_chain and not tree.angles and len(tracking.tasks) == 1:  # out of reach: the method itself is the optimum
        some = yield from method.refine(missed, result.states.take(missed))
        result.put(missed, some, tracking.system(some, missed))
        return
    missed = yield from _from_others(tracking, result, missed)
    searched, open_ones = np.zeros(0, np.intp), missed
    for distance in _SEARCHED:
        chosen = np.setdiff1d(open_ones[_every(open_ones, distance)], searched)
        yield from _searched(tracking, result, chosen, ROUNDS, seed)
        searched = np.union1d(searched, chosen)
        open_ones = _undecided(tracking, result, missed, searched)
    missed = yield from _from_others(tracking, result, missed, searched)
    yield from _searched(tracking, result, np.intersect1d(missed, open_ones), _ROUND, seed)
    missed = missed[~result.met[missed]]
    yield from _from_neighbours(tracking, result, missed)
    missed = missed[~result.met[missed]]
    if len(missed) and tracking.has_priorities:
        prioritise(tracking, result, missed)
        yield
        yield from _meet_urgent(tracking, result, missed[~result.urgent[missed]], method, seed)


def _meet_urgent(tracking: Tracking, result: Tracked, missed: Indices, method: KnotSolver, seed: int) -> Work[None]:
    """Search for poses that meet the most urgent goals alone, as the search for all of them found none; in place."""
    if not len(missed) or not tracking.tree.angles:
        return
    alone = tracking.urgent_alone()
    other = Tracked(alone, result.states.copy())
    yield from meet_missed(alone, other, missed, method, seed)
    found = missed[other.met[missed]]
    if len(found):
        some = other.states.take(found)
        result.put(found, some, tracking.system(some, found))
        prioritise(tracking, result, found)


def meet_like(tracking: Tracking, result: Tracked, other: Tracked, method: KnotSolver, seed: int) -> Work[None]:
    """Solve missed frames that another path meets; where that fails, keep its states if they are better; in place."""
    missed = np.flatnonzero(~result.met)
    sought = missed[other.met[missed]] if tracking.tree.angles else missed
    if len(sought):
        yield from meet_missed(tracking, result, sought, method, seed)
    missed = missed[~result.met[missed]]
    if len(missed):
        _keep(tracking, result, missed, other.states.take(missed))


def _undecided(tracking: Tracking, result: Tracked, missed: Indices, searched: Indices) -> Indices:
    """Missed frames that may be met, although some of them were `searched`.

    A point that is farther from the root than the chain is long cannot be met. From one frame to another the least
    distance to a point changes by the way of the point at most, as the root sees it, so around a frame whose search
    ended far from its goal no frame can be met either.
    """
    missed, searched = missed[~result.met[missed]], searched[~result.met[searched]]
    (task, *others) = tracking.tasks
    if others or not isinstance(task, PlaceTask) or task.target.shape is not None or tracking.tree.held:
        return missed
    way = np.cumsum(tracking.ways) * tracking.tree.size
    tolerance = np.broadcast_to(task.tolerance, len(way))
    heads = Geometry(tracking.tree, result.states.take(missed)).heads[0]
    near = lengths(task.take(missed).target.place - heads) <= tracking.tree.size + tolerance[missed]
    gaps = np.abs(way[missed][:, None] - way[searched])
    apart = (gaps >= _TRUSTED * (result.off[0, searched] - tolerance[searched])).all(1)
    return np.asarray(missed[apart & near], np.intp)


def prioritise(tracking: Tracking, result: Tracked, missed: Indices) -> None:
    """Meet the most urgent goals alone where not all can be met, and approach the others as far as possible."""
    some, tasks = result.states.take(missed), tracking.precise_goals(missed)
    descend(tracking.tree, some, tasks)
    hold(tracking.tree, some, tracking.goals(missed), share=PRECISE)
    system = tracking.system(some, missed)
    kept = system.urgent | ~result.urgent[missed]
    result.put(missed[kept], some.take(kept), system.take(kept))


def _searched(tracking: Tracking, result: Tracked, frames: Indices, rounds: Sequence[int], seed: int) -> Work[Indices]:
    """Restart missed frames in place; returns the ones that remain missed."""
    for begin in range(0, len(frames), _SEARCHED_AT_ONCE):
        part = frames[begin : begin + _SEARCHED_AT_ONCE]
        some, tasks = result.states.take(part), at_one_level(tracking.goals(part))
        restart(tracking.tree, some, tasks, result.met[part], result.value[part], seed=seed, rounds=rounds)
        _keep(tracking, result, part, some)
        yield
    return frames[~result.met[frames]]


def _every(missed: Indices, distance: int) -> Mask:
    """Every `distance`-th of the frames of each row of successive ones, and the last of the row."""
    if not len(missed):
        return np.zeros(0, bool)
    row = np.concatenate(([0], np.cumsum(np.diff(missed) > 1)))
    first = np.searchsorted(row, row)
    last = np.searchsorted(row, row, side="right") - 1
    place = np.arange(len(missed))
    chosen: Mask = ((place - first) % distance == 0) | (place == last)
    return chosen


def _from_others(
    tracking: Tracking, result: Tracked, missed: Indices, searched: Indices | None = None
) -> Work[Indices]:
    """Solve frames that are missed from the pose of the nearest frame that is met or was searched; returns the rest."""
    every = missed
    for _ in range(_NEIGHBOURS):
        missed, good = missed[~result.met[missed]], np.flatnonzero(result.met)
        if searched is not None:
            missed, good = np.setdiff1d(missed, searched), np.union1d(good, searched)
        if not len(missed) or not len(good):
            break
        after = np.clip(np.searchsorted(good, missed), 0, len(good) - 1)
        before = np.maximum(after - 1, 0)
        nearest = np.where(np.abs(good[after] - missed) < np.abs(missed - good[before]), good[after], good[before])
        some = result.states.take(nearest).like(result.states.take(missed))
        taken = np.zeros(len(missed), np.intp)
        descend(tracking.tree, some, at_one_level(tracking.precise_goals(missed)), steps=taken)
        result.steps[missed] += taken
        yield
        if not _keep(tracking, result, missed, some):
            break
    return every[~result.met[every]]


def _from_neighbours(tracking: Tracking, result: Tracked, missed: Indices) -> Work[None]:
    """Go on from frame to frame with poses that are nearer than those beside them, in place."""
    for _ in range(_SPREADING):
        changed = False
        for step in (-1, 1):
            beside = np.clip(missed + step, 0, len(tracking.frames) - 1)
            some = result.states.take(beside).like(result.states.take(missed))
            nearer = np.sqrt(tracking.system(some, missed).value)
            better = np.flatnonzero(nearer < np.sqrt(result.value[missed]) - _NEARER_BESIDE * tracking.tree.size)
            if len(better):
                some, frames = some.take(better), missed[better]
                descend(tracking.tree, some, at_one_level(tracking.precise_goals(frames)))
                system = tracking.system(some, frames)
                kept = system.urgent | ~result.urgent[frames]
                result.put(frames[kept], some.take(kept), system.take(kept))
                changed = changed or bool(kept.any())
            yield
        missed = missed[~result.met[missed]]
        if not changed or not len(missed):
            return


def _keep(tracking: Tracking, result: Tracked, frames: Indices, some: States) -> bool:
    """Keep other poses of frames where they are met, or clearly nearer; return whether any is met now."""
    system, urgent = tracking.system(some, frames), result.urgent[frames]
    before = np.sqrt(result.value[frames])
    better = system.met | (np.sqrt(system.value) < before - _NEARER * tracking.tree.size)
    better = (better & ~urgent) | (system.urgent & (better | ~urgent))
    result.put(frames[better], some.take(better), system.take(better))
    return bool(system.met.any())

# SPDX-License-Identifier: GPL-3.0-or-later
"""Places that a body cannot reach together with its other goals, replaced by the farthest ones that it can.

A goal out of reach would drag all others along, as all of them are one least-squares level. So the body is solved
without it first; from where that leaves the tip it moves along the straight line to its goal, until something else
would be missed. Solved with these places, everything can be met. To a goal that the body itself carries no leaning
leads: the line there begins where the limb is as long as then, towards the goal, and is carried along. Source: none.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import pairwise
from math import radians, sqrt, tau
from typing import Any

import numpy as np

from ..goals.from_goals import CarriedTask
from ..goals.orientation import OrientTask
from ..goals.task import FadedTask, Level, PlaceTask, Task
from ..kinematics.arrays import Columns, Indices, Mask, Numbers, averaged_in_time
from ..kinematics.batch import Geometry, States, Tree
from ..kinematics.batch.algebra import compose, dot, exponential, lengths, matrices, rotate_back
from ..solvers.batch.change import System
from ..solvers.batch.descent import Descent, descend
from ..solvers.body.flexing import flexed
from ..solvers.body.priorities import at_two_levels

_DESCENT = Descent(iterations=7, stall=2, tries=2)
_ONWARDS = Descent(iterations=12, stall=2, tries=2)  # from a pose that is near
_PRECISE = 0.1  # of their tolerances, to which the other goals are still met
_BEYOND = 1.02  # of its limb's reach: distance from which on a place may be out of reach
_LEAN = 1.5  # of the body's size: reach that the rest of a body adds to that of a straight limb, at most
_BETWEEN = np.arange(0.125, 1.0, 0.125)  # shares of what is left, solved at once: few poses cost what one does
_TOGETHER, _ALONE = 3, 2  # rounds of these for all far tips at once, and for each
_DOUBT = 2.0  # times the shortest distance that is missed: tried again, as from nearer by it may be met
_HALF = radians(90.0)  # turn from which on it may be nearer to the one before the other way round
_TURNS = 4  # halvings of the turns of far tips
_MOVED, _FRAMES = 0.15, 8  # of the size: path of any tip, and frames, between two of the frames that are solved
_INSIDE = 0.99  # of its reach: limb that counts as straight
_SHORT = 0.03  # of the body's size: last part of a line that is left out, as it stretches limbs by large turns
_STUCK = 0.05  # of its limb's reach: motion of a tip that cannot go straight, as one with a locked elbow
_SOFT = 0.5  # of what is missing: the same, at most
_RISE, _AROUND = 0.05, 2  # of the size: largest change of a distance a frame; frames on either side of a mean
_STRIDE = 0.02  # of the size: the least that a tip moves in a frame as it leaves or enters the reach
_SMOOTHED = 2  # averagings of turns
_DENT = 0.005  # of the size: path that is shorter than those around it by more is tried again


def far_tips(tree: Tree, reference: States, tasks: Sequence[Task]) -> dict[int, Mask]:
    """Return the tips whose places cannot be reached, each with the frames (F) where that is so.

    Only places beyond the limb in its reference pose are considered. Where several cannot be reached together it is
    those that cannot be reached alone, else the farthest one.
    """
    begin, shares = Geometry.of(tree, reference), dict[int, Numbers]()
    for task in tasks:
        if is_reach(task):
            limb = tree.tips[task.tip]
            place = begin.tip(task.tip) + task.measure(begin).errors
            shares[task.tip] = lengths(place - begin.heads[limb.first]) / max(limb.reach, 1e-9)
    beyond = np.any([share > _BEYOND for share in shares.values()], 0)
    some = np.flatnonzero(beyond)
    if not len(some):
        return {}
    some = some[~_met_between(tree, reference, tasks, some)]
    found = {tip: np.zeros(len(reference), bool) for tip, share in shares.items() if (share[some] > _BEYOND).any()}
    for tip, far in found.items() if len(found) > 1 else ():
        own = [task for task in tasks if task.level == Level.HOLD or (task.tip == tip and is_reach(task))]
        suspect = some[shares[tip][some] > _BEYOND]
        far[suspect] = ~_met_between(tree, reference, own, suspect)
    unexplained = some[~np.any([far[some] for far in found.values()], 0)] if found else some
    if len(unexplained):
        tips = list(found)
        worst = np.argmax([shares[tip][unexplained] for tip in tips], 0)
        for number, tip in enumerate(tips):
            found[tip][unexplained[worst == number]] = True
    return {tip: far for tip, far in found.items() if far.any()}


def is_reach(task: Task) -> bool:
    """Tell whether a task is a place for a tip to reach, of its own or carried by the body."""
    bare = task.task if isinstance(task, CarriedTask) else task
    return isinstance(bare, PlaceTask) and task.level != Level.HOLD


def without(tasks: Sequence[Task], tips: Mapping[int, Any]) -> list[Task]:
    """Return the tasks without those of tips that reach too far."""
    return [task for task in tasks if task.level == Level.HOLD or task.tip not in tips]


def drawn_in(
    tree: Tree, states: States, tasks: Sequence[Task], far: Mapping[int, Mask], bounds: Sequence[Task] = ()
) -> list[Task] | None:
    """Return the tasks with places and rotations of far tips drawn in to where all goals are met, within `bounds`.

    A tip that cannot follow the straight line to its goal, as its limb is stretched aside, follows the one that leads
    there from where its limb begins. None if it cannot do that either.

    `states` (F) are solved without these tips, `far` has the frames (F) at which each is out of reach.
    """
    straight = _DrawnIn(tree, states, tasks, far, bounds).tasks()
    return straight or _DrawnIn(tree, states, tasks, far, bounds, outwards=True).tasks()


class _DrawnIn:
    """Lengths [Blender units] of far tips' paths along the lines from where they are without their goals, at F frames.

    A path that ends short of what can be reached would make the tip step inwards where its goal leaves the reach, which
    is a large turn there. So lengths are precise; they are found at K frames, which are as far apart as the tips move,
    and interpolated.
    """

    def __init__(
        self,
        tree: Tree,
        states: States,
        tasks: Sequence[Task],
        far: Mapping[int, Mask],
        bounds: Sequence[Task],
        outwards: bool = False,
    ) -> None:
        self._tree, self._tasks, self._far = tree, tasks, far
        self._places: dict[int, Any] = {task.tip: task for task in tasks if is_reach(task) and task.tip in far}
        begin = Geometry(tree, states)
        self._carried = {tip: each.frame(begin) for tip, each in self._places.items() if isinstance(each, CarriedTask)}
        self._begin = {tip: begin.tip(tip) for tip in far}
        self._outwards = outwards or len(self._carried) == len(self._places)
        self._lines = {tip: task.measure(begin).errors for tip, task in self._places.items()}
        for tip, line in self._lines.items():
            if self._outwards or tip in self._carried:  # from where the limb is as long as now
                first = begin.heads[tree.tips[tip].first]
                goal = self._begin[tip] + line
                long, far_away = lengths(self._begin[tip] - first), lengths(goal - first)
                self._lines[tip] = (goal - first) * np.maximum(1.0 - long / np.maximum(far_away, 1e-300), 0.0)
                self._begin[tip] = goal - self._lines[tip]
        self._whole = {tip: lengths(line) for tip, line in self._lines.items()}
        self._straight = {tip: self._limb_way(begin, tip) for tip in far}
        self._most = {
            tip: np.where(far[tip], np.minimum(whole, self._straight[tip] + _LEAN * tree.size), whole)
            for tip, whole in self._whole.items()
        }
        ends = [begin.tip(tip) for tip in range(len(tree.tips)) if tip not in far]
        ends += [self._on_line(tip, self._most[tip]) for tip in far]
        self._knots = _apart(ends, np.flatnonzero(np.any(list(far.values()), 0)), tree.size)
        self._states = states.take(self._knots).copy()
        self._states.own_places()
        others = [*without(tasks, far), *bounds]
        self._others = [task.within(_PRECISE * task.tolerance).take(self._knots) for task in others]

    def tasks(self) -> list[Task] | None:
        """Find the longest paths, smooth them in time, and turn the tips as far as that leaves."""
        found = self._longest({tip: np.zeros(len(self._knots)) for tip in self._far}, list(self._far), _TOGETHER)
        if len(self._far) > 1:
            for tip in self._far:
                found = self._longest(found, [tip], _ALONE)
        if not self._outwards and any(found[tip].max() < _STUCK * self._tree.tips[tip].reach for tip in self._far):
            return None
        found = self._without_dents(found)
        frames = np.arange(len(next(iter(self._far.values()))))
        ways = {tip: self._smoothed(tip, np.interp(frames, self._knots, way)) for tip, way in found.items()}
        places = [task for tip in self._far for task in self._place(tip, ways[tip])]
        return [*without(self._tasks, self._far), *places, *self._turned(places)]

    def _limb_way(self, begin: Geometry, tip: int) -> Numbers:
        """Ways (F) along the line of a tip up to which its limb reaches while all else stays where it is."""
        limb, line = self._tree.tips[tip], self._lines[tip]
        way = _direction(line)
        from_limb = self._begin[tip] - begin.heads[limb.first]
        along = dot(way, from_limb)
        left = np.maximum((_INSIDE * limb.reach) ** 2 - dot(from_limb, from_limb) + along**2, 0.0)
        return np.clip(np.sqrt(left) - along, 0.0, self._whole[tip])

    def _longest(self, ways: dict[int, Numbers], tips: Sequence[int], rounds: int) -> dict[int, Numbers]:
        """Lengthen the paths (K) of some tips, by the same length, as far as all goals are met."""
        knots, low = self._knots, np.zeros(len(self._knots))
        left = [self._most[tip][knots] - ways[tip] for tip in tips]
        straight: Numbers = np.array([self._straight[tip][knots] - ways[tip] for tip in tips]).max(0)
        high: Numbers = np.max(left, 0)
        to_end: Mask = np.array([self._most[tip][knots] >= self._whole[tip][knots] for tip in tips]).all(0)
        for number in range(rounds):
            more: Numbers = low + _BETWEEN[:, None] * (high - low)
            open_ends = np.broadcast_to(low < high, more.shape)
            if number == 0:  # all of it too, as it may be reached after all, and what the limbs can by themselves
                more = np.concatenate((more, [np.clip(straight, low, high), high]))
                open_ends = np.concatenate((open_ends, [low < high, (low < high) & to_end]))
            tried = dict(ways)
            for tip, most in zip(tips, left, strict=True):
                tried[tip] = ways[tip] + np.minimum(more, most)
            row, knot = np.nonzero(open_ends)
            met = np.zeros(more.shape, bool)
            met[row, knot] = self._descend_ways(tried, row, knot, more)
            low = np.maximum(low, np.where(met, more, -np.inf).max(0))
            unmet = np.where(open_ends & ~met & (more > low), more, high[None]).min(0)
            high = np.minimum(high, low + _DOUBT * (unmet - low))
        return ways | {tip: ways[tip] + np.minimum(low, most) for tip, most in zip(tips, left, strict=True)}

    def _descend_ways(self, ways: Mapping[int, Numbers], row: Indices, knot: Indices, more: Numbers) -> Mask:
        """Try distances (r, K), or (K) for all rows, at these rows and knots (n) at once; return where they are met.

        A knot takes the state of the longest one (`more`) that is met there.
        """
        if not len(row):
            return np.zeros(0, bool)
        every = {tip: np.broadcast_to(way, more.shape)[row, knot] for tip, way in ways.items()}
        goals = [task.take(knot) for task in self._others]
        goals += [self._point(tip, every[tip], self._knots[knot]) for tip in self._far]
        tried = self._states.take(knot).copy()
        descend(self._tree, tried, at_two_levels(goals), _ONWARDS)
        met = System(self._tree, tried, goals).met
        some = np.flatnonzero(met)
        longest = some[np.argsort(more[row, knot][some], kind="stable")]
        best = dict(zip(knot[longest].tolist(), longest.tolist(), strict=True))
        if best:
            self._states.put(np.array(list(best), np.intp), tried.take(np.array(list(best.values()), np.intp)))
        return met

    def _without_dents(self, ways: dict[int, Numbers]) -> dict[int, Numbers]:
        """Lengthen paths (K) that are shorter than those around them where possible, from the states of these."""
        most = {tip: self._most[tip][self._knots] for tip in ways}
        filled = {tip: np.minimum(_filled(way), most[tip]) for tip, way in ways.items()}
        short = np.any([filled[tip] > ways[tip] + _DENT * self._tree.size for tip in ways], 0)
        dents, full = np.flatnonzero(short), np.flatnonzero(~short)
        if not len(dents) or not len(full):
            return ways
        nearest = full[np.abs(full[None] - dents[:, None]).argmin(1)]
        states = self._states.copy()
        self._states.put(dents, self._states.take(nearest))
        met = self._descend([*self._others, *self._points(filled)], dents)
        self._states.put(dents[~met], states.take(dents[~met]))
        for tip, way in ways.items():
            way[dents[met]] = filled[tip][dents[met]]
        return ways

    def _descend(self, tasks: Sequence[Task], some: Indices) -> Mask:
        """Bring `some` of the states (K) to tasks where these can be met; return where."""
        goals = [task.take(some) for task in tasks]
        tried = self._states.take(some).copy()
        descend(self._tree, tried, at_two_levels(goals), _ONWARDS)
        met = System(self._tree, tried, goals).met
        self._states.put(some[met], tried.take(np.flatnonzero(met)))
        return met

    def _points(self, ways: Mapping[int, Numbers]) -> list[Task]:
        """The tasks of the far tips to go so far (K) along their lines."""
        return [self._point(tip, ways[tip], self._knots) for tip in self._far]

    def _point(self, tip: int, way: Numbers, at: Columns = slice(None)) -> Any:
        """The task of a tip to go so far along its line, `at` some of the frames."""
        task, place = self._places[tip].take(at), self._on_line(tip, way, at)
        if not isinstance(task, CarriedTask):
            return task.to_points(place)
        frame, own = self._carried[tip][..., at], task.task
        assert isinstance(own, PlaceTask)
        return replace(task, task=own.to_points(rotate_back(frame[:, :3], place - frame[:, 3])))

    def _on_line(self, tip: int, way: Numbers, at: Columns = slice(None)) -> Numbers:
        """Places (3, n) so far along the line of a tip, as the body is without it."""
        share = np.minimum(way / np.maximum(self._whole[tip][at], 1e-300), 1.0)
        found: Numbers = self._begin[tip][:, at] + self._lines[tip][:, at] * share
        return found

    def _smoothed(self, tip: int, way: Numbers) -> Numbers:
        """A path (F) without steps in time, nowhere longer; as it is where the goal is reached."""
        far = self._far[tip] & (way < self._whole[tip])
        if not far.any():
            return way
        short = np.minimum(_SHORT * self._tree.size, _SOFT * (self._whole[tip] - way))
        least = np.where(far, np.maximum(way - short, 0.0), np.inf)
        for order in (range(1, len(way)), range(len(way) - 2, -1, -1)):
            for f in order:
                least[f] = min(least[f], least[f - order.step] + _RISE * self._tree.size)
        calm = np.where(far, _calmed(least), self._whole[tip])
        return self._unhurried(tip, calm, self._whole[tip] - calm > _DENT * self._tree.size)

    def _unhurried(self, tip: int, way: Numbers, far: Mask) -> Numbers:
        """The path (F) with frames out of reach no farther from those beside them than the tip moves within reach.

        A tip that springs from its goal to the edge of the reach, or back, unbends all of the body at once.
        """
        way, far_frames = way.copy(), far.tolist()
        begin, lines = self._begin[tip].T, _direction(self._lines[tip]).T
        for order in (range(len(way)), range(len(way) - 1, -1, -1)):
            place, stride = np.full(3, np.nan), np.inf
            for f in order:
                before, from_before = place, begin[f] - place
                if far_frames[f] and np.isfinite(stride):
                    along = -float(from_before @ lines[f])
                    left = stride**2 - float(from_before @ from_before) + along**2
                    way[f] = min(way[f], max(along + sqrt(max(left, 0.0)), 0.0))
                place = begin[f] + lines[f] * way[f]
                if not far_frames[f]:
                    moved = float(np.linalg.norm(place - before))
                    stride = max(moved, _STRIDE * self._tree.size) if f != order[0] else np.inf
        return way

    def _place(self, tip: int, way: Numbers) -> list[Task]:
        """The tasks of the place of a tip: its own goal, and where that is out of reach a point on the line to it."""
        task, point = self._places[tip], self._point(tip, way)
        if isinstance(task, PlaceTask) and task.target.shape is None:
            return [point.to_points(np.where(self._far[tip], point.target.place, task.target.place))]
        nothing, far = np.zeros((task.count, 1)), self._far[tip].astype(float)
        return [FadedTask(task=each, rest=nothing, present=on) for each, on in ((task, 1.0 - far), (point, far))]

    def _turned(self, places: Sequence[Task]) -> list[Task]:
        """The tasks of the rotations of far tips, as large a share of each as can be met at these places."""
        turns = [task for task in self._tasks if task.tip in self._far and not is_reach(task)]
        turns = [task for task in turns if task.level != Level.HOLD]
        if not turns:
            return []
        knots, every = self._knots, np.arange(len(self._knots))
        goals, some = [*self._others, *(task.take(knots) for task in places)], [task.take(knots) for task in turns]
        self._descend(goals, every)
        measured = System(self._tree, self._states, some).measured
        left = [_unwound(task, each.errors.copy()) for task, each in zip(some, measured, strict=True)]
        low, high = np.zeros(len(knots)), np.ones(len(knots))
        for number in range(_TURNS + 1):
            tried = high if number == 0 else 0.5 * (low + high)
            met = self._descend([*goals, *self._shares(some, left, tried)], every)
            low, high = np.where(met, tried, low), np.where(met, high, tried)
        far = np.any(list(self._far.values()), 0)
        frames = np.arange(len(far))
        share = np.where(far, np.interp(frames, knots, low), 1.0)
        smooth = np.where(share < 1.0, np.minimum(averaged_in_time(share, _SMOOTHED), share), share)
        whole = [np.array([np.interp(frames, knots, row) for row in each]) for each in left]
        return self._shares(turns, whole, smooth)

    def _shares(self, turns: Sequence[Task], left: Sequence[Numbers], share: Numbers) -> list[Task]:
        """Tasks of such shares (F) of the turns that are left."""
        return [_less(task, (1.0 - share) * each) for task, each in zip(turns, left, strict=True)]


def _less(task: Task, rest: Numbers) -> Task:
    """Return a task of a turn without the `rest` (r, F) of its errors, which may be more than half a turn."""
    if isinstance(task, OrientTask):
        return replace(task, rotation=compose(matrices(exponential(-rest / task.length)), task.rotation))
    return FadedTask(task=task, rest=rest, present=np.ones(1))


def _unwound(task: Task, errors: Numbers) -> Numbers:
    """Return the errors (r, K) of a turn with each rotation vector the way round that is nearer to the one before."""
    if isinstance(task, OrientTask):
        for before, each in pairwise(errors.T):  # views, in place
            turn = float(np.linalg.norm(each))
            other = each * (1.0 - tau * task.length / max(turn, 1e-300))
            if turn > _HALF * task.length and np.linalg.norm(other - before) < np.linalg.norm(each - before):
                each[:] = other
    return errors


def _direction(line: Numbers) -> Numbers:
    """Directions of lines (3, F), zero of those without length."""
    return line / np.maximum(lengths(line), 1e-300)


def _calmed(least: Numbers) -> Numbers:
    """Lengths (F) without steps in time that are nowhere longer than these, averages of the least around each frame."""
    around = np.pad(_windows(least, np.inf).min(1), _AROUND, mode="edge")
    calm: Numbers = np.lib.stride_tricks.sliding_window_view(around, 2 * _AROUND + 1).mean(1)
    return np.minimum(calm, least)


def _filled(way: Numbers) -> Numbers:
    """Lengths (F) without what is shorter than those before and after it, the least of the greatest around each."""
    filled: Numbers = _windows(_windows(way, -np.inf).max(1), np.inf).min(1)
    return filled


def _windows(values: Numbers, outside: float) -> Numbers:
    """The values around each (F, w), those before the first and after the last one being `outside`."""
    padded = np.pad(values, _AROUND, constant_values=outside)
    return np.lib.stride_tricks.sliding_window_view(padded, 2 * _AROUND + 1)


def _apart(places: Sequence[Numbers], frames: Indices, size: float) -> Indices:
    """Return those of the `frames` between which no place (3, F) moves farther than a part of the size.

    Both ends of every run of consecutive frames are among them.
    """
    moved = np.max([lengths(np.diff(place[:, frames])) for place in places], 0) / (_MOVED * size)
    steps = np.where(np.diff(frames) > 1, 1.0, np.clip(moved, 1.0 / _FRAMES, 1.0))
    total = np.concatenate(([0.0], np.cumsum(steps)))
    kept = np.diff(np.floor(total + 1e-9), prepend=-1.0) > 0.0
    gaps = np.flatnonzero(np.diff(frames) > 1)
    kept[[-1, *gaps, *(gaps + 1)]] = True
    return frames[kept]


def _met_between(tree: Tree, reference: States, tasks: Sequence[Task], frames: Indices) -> Mask:
    """Return at which of the frames a descent from the reference meets all tasks.

    It is solved at frames as far apart as the goals move, and at those between them only where these differ.
    """
    begin = Geometry(tree, reference)
    goals = [
        begin.tip(task.tip) + task.measure(begin).errors
        for task in tasks
        if is_reach(task) or isinstance(task, PlaceTask)
    ]
    knots = _apart(goals, frames, tree.size)
    met = np.interp(frames, knots, _met(tree, reference, tasks, knots))
    between = np.flatnonzero((met > 0.0) & (met < 1.0))
    met[between] = _met(tree, reference, tasks, frames[between]) if len(between) else 0.0
    return met > 0.5


def _met(tree: Tree, reference: States, tasks: Sequence[Task], frames: Indices) -> Mask:
    """Tell at which of the frames a descent from the reference meets all tasks."""
    begin = reference.take(frames).copy()
    begin.own_places()
    states, goals = flexed(tree, begin, begin), [task.take(frames) for task in tasks]
    descend(tree, states, at_two_levels(goals), _DESCENT)
    return System(tree, states, goals).met

# SPDX-License-Identifier: GPL-3.0-or-later
"""The goals of a body by priority, and the settling of its posture within what they leave.

Hard priorities of a body's goals: tips that are held, places to reach, orientations. One step of solvers.batch.change
weighs all levels below the first alike, and a descent trades them for each other; so what cannot all be met is
descended again level by level, and last of all held tips are put right: it is this, not the damping of a step, that
makes them hard.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ...goals.comfort import PoleTask
from ...goals.support import BalanceTask
from ...goals.task import FadedTask, Level, PlaceTask, Task, unwrapped
from ...kinematics.arrays import Indices, Mask, Numbers, smoothstep
from ...kinematics.batch import Geometry, States, Tree
from ...kinematics.batch.algebra import lengths
from ..batch.change import System
from ..batch.descent import Descent, descend, hold
from ..batch.restarts import solve_cold
from ..natural.posture import Posture, Relaxation
from .flexing import body_compliance, flexed

BODY_ROUNDS = (4, 12, 24, 64)  # restarts of every set of goals that is still missed
HELD_SHARE = 0.01  # of their tolerances, to which held tips are put right
_STRETCH, _STRETCHES = 0.3, 8  # of the reach: way of a tip at a time where holding sticks, and how many times
BODY_DESCENT = Descent(stall=4)
_WAY = Descent(iterations=20)

POSTURE_GAIN = 0.4  # share of the way to the reference in one step: with all of it knees and elbows overshoot
_CORRECTION = Descent(iterations=30, stall=4)
_BALANCING = Descent(iterations=8, stall=4)  # what takes longer is at the edge of what can be met
_FADE = 5  # frames over which balance fades out
_EDGE = 0.1  # of its tolerance, up to which balance is brought back
_OUTSIDE = 1e3  # cost of a centre of mass that is as far outside as the tree is large, beside radians


def at_two_levels(tasks: Sequence[Task]) -> list[Task]:
    """The tasks at two levels: those of held tips, and all others."""
    return [task.at_level(min(task.level, Level.REACH)) for task in tasks]


def held_of(tasks: Sequence[Task]) -> list[Task]:
    """The tasks of held tips."""
    return [task for task in tasks if task.level == Level.HOLD]


def solve_sets(
    tree: Tree,
    states: States,
    tasks: Sequence[Task],
    *,
    seed: int = 0,
    rounds: Sequence[int] = BODY_ROUNDS,
    bounds: Descent = BODY_DESCENT,
) -> Mask:
    """Solve sets of goals, one a column, from wherever the states are, in place; return which are met (F).

    Of those that are not met, held tips are where they have to be if that is possible at all, and the others as near as
    that leaves. Without `rounds` of restarts they are led there from where they are, without a leap.
    """
    start = states.copy()
    unmet = np.flatnonzero(~System(tree, states, tasks).met)
    states.put(unmet, flexed(tree, states.take(unmet), start.take(unmet)))
    if rounds:
        met, _ = solve_cold(tree, states, at_two_levels(tasks), seed=seed, rounds=rounds, bounds=bounds)
    else:
        met, _ = descend(tree, states, at_two_levels(tasks), bounds)
    missed = np.flatnonzero(~met)
    if len(missed):
        some = states.take(missed)
        give_way(tree, some, start.take(missed), [task.take(missed) for task in tasks], seed, rounds, bounds)
        states.put(missed, some)
    return met


def give_way(
    tree: Tree,
    states: States,
    start: States,
    tasks: Sequence[Task],
    seed: int,
    rounds: Sequence[int],
    bounds: Descent,
) -> None:
    """Bring states whose goals cannot all be met as near to them as their priorities allow, in place."""
    held = held_of(tasks)
    if held and len(held) < len(tasks):
        fine = hold(tree, states, held, share=HELD_SHARE)
        stuck = np.flatnonzero(~fine)
        if len(stuck) and rounds:
            goals = [task.take(stuck) for task in tasks]
            states.put(stuck, _from_held(tree, start.take(stuck), goals, seed, rounds, bounds))
    urgent = [task for task in tasks if task.level <= Level.REACH]
    if len(urgent) < len(tasks):
        nearer = states.copy()
        descend(tree, nearer, urgent, bounds)
        _accept(tree, states, nearer, urgent)


def _accept(tree: Tree, states: States, tried: States, tasks: Sequence[Task]) -> Mask:
    """Put held tips right in states that were tried, and keep those that are nearer to their goals, in place."""
    held = held_of(tasks)
    fine = hold(tree, tried, held, share=HELD_SHARE) if held else np.ones(len(states), bool)
    better: Mask = fine & (_missing(tree, tried, tasks) < _missing(tree, states, tasks))
    states.put(better, tried.take(better))
    return better


def _missing(tree: Tree, states: States, tasks: Sequence[Task]) -> Numbers:
    return System(tree, states, [task for task in tasks if task.level != Level.HOLD]).value


def _from_held(
    tree: Tree, start: States, tasks: Sequence[Task], seed: int, rounds: Sequence[int], bounds: Descent
) -> States:
    """States solved for the held tips alone, then led towards the others in short stretches."""
    held, states = held_of(tasks), start
    solve_cold(tree, states, held, seed=seed, rounds=rounds, bounds=bounds)
    hold(tree, states, held, share=HELD_SHARE)
    for _ in range(_STRETCHES):
        tried, geometry = states.copy(), Geometry.of(tree, states)
        descend(tree, tried, at_two_levels([nearer(geometry, task, _STRETCH * tree.size) for task in tasks]), _WAY)
        if not _accept(tree, states, tried, tasks).any():
            break
    return states


def nearer(geometry: Geometry, task: Task, stretch: float) -> Task:
    """The same task with a place at most a `stretch` from where its tip is; other tasks as they are."""
    if not isinstance(task, PlaceTask) or task.level == Level.HOLD:
        return task
    way = task.measure(geometry).errors
    far = lengths(way)
    if (far <= stretch).all():
        return task
    return task.to_points(geometry.tip(task.tip) + way * np.minimum(1.0, stretch / np.maximum(far, 1e-300)))


def settle(
    tree: Tree,
    states: States,
    reference: States,
    tasks: Sequence[Task],
    steady: BalanceTask | None,
    steps: int,
) -> None:
    """Bring states nearer to a reference and their centres of mass above the support, in place, where goals allow.

    A state is changed only if it stays as near to its goals; what was met stays met.
    """
    posture, compliance = Posture(tree, reference), body_compliance(tree)
    relaxation = Relaxation(posture=posture, compliance=compliance, gain=POSTURE_GAIN)
    every = [*tasks, steady] if steady else list(tasks)
    tried = relaxation.run(tree, states, every, steps)
    exactly(tree, tried, tasks, steady)
    now, before = (System(tree, each, tasks) for each in (tried, states))
    better = _cost(posture, compliance, tried, steady) < _cost(posture, compliance, states, steady)
    better &= now.met | (~before.met & (now.value <= before.value))
    states.put(better, tried.take(better))


def exactly(
    tree: Tree,
    states: States,
    tasks: Sequence[Task],
    steady: BalanceTask | None = None,
    bounds: Descent = _CORRECTION,
    frames: Indices | None = None,
) -> None:
    """Bring states that are near their goals to them, in place, held tips last of all.

    Where the centre of mass is outside its support it is brought there as well if all goals can be met with it. Where
    states are those of a motion, at `frames` (F), that fades out towards a frame at which they cannot: the trunk would
    leap there.
    """
    descend(tree, states, at_two_levels(tasks), bounds)
    firm = [task for task in tasks if not isinstance(unwrapped(task), PoleTask)]
    if len(firm) < len(tasks):  # a nearly straight limb hardly tells where it bends, and would not come to its place
        descend(tree, states, at_two_levels(firm), bounds)
    if held_of(tasks):
        hold(tree, states, tasks, share=HELD_SHARE)
    if steady is None:
        return
    level = steady.within(_EDGE * steady.tolerance)
    system = System(tree, states, [level])
    outside = np.flatnonzero(~system.met)
    if not len(outside):
        return
    met, some = _descended(tree, states, [*at_two_levels(tasks), level], outside)
    share = np.ones(len(states))
    if frames is not None and not met.all():
        share = smoothstep(np.abs(frames[:, None] - frames[outside[~met]]).min(1) / _FADE)
    whole = np.flatnonzero(met & (share[outside] == 1.0))
    between = outside[(share[outside] > 0.0) & (share[outside] < 1.0)]
    if len(between):
        rest = (1.0 - share) * system.measured[0].errors
        partly = FadedTask(task=level, rest=rest, present=np.ones(len(states)))
        met, fading = _descended(tree, states, [*at_two_levels(tasks), partly], between)
        states.put(between[met], fading.take(np.flatnonzero(met)))
    states.put(outside[whole], some.take(whole))


def _descended(tree: Tree, states: States, tasks: Sequence[Task], columns: Indices) -> tuple[Mask, States]:
    """Return which of some states (n) meet the tasks, balance among them, after a short descent, and these states."""
    some = states.take(columns)
    met, _ = descend(tree, some, [task.take(columns) for task in tasks], _BALANCING)
    return met, some


def _cost(posture: Posture, compliance: Numbers, states: States, steady: BalanceTask | None) -> Numbers:
    """Cost (F) of the turns off the reference, and of a centre of mass outside its support."""
    tree = posture.tree
    cost: Numbers = (posture.offsets(states) ** 2 / np.maximum(compliance, 1e-6)).sum(0)
    if steady:
        cost += _OUTSIDE * System(tree, states, [steady]).measured[0].off / tree.size
    return cost

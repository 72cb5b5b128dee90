# SPDX-License-Identifier: GPL-3.0-or-later
"""Solving of a body: from pose to pose along its goals, and for goals that are given at once."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import radians
from typing import NamedTuple

import numpy as np

from ...errors import ChainError, SettingError
from ...goals import Goal
from ...goals.from_goals import CarriedTask, TipGoal, balance_of, body_tasks, hold_tasks
from ...goals.orientation import LookTask, OrientTask
from ...goals.support import BalanceTask, FloorTask
from ...goals.task import Level, PlaceTask, Task
from ...kinematics import BodyPose
from ...kinematics.arrays import Numbers
from ...kinematics.batch import Geometry, States, Tree
from ...kinematics.body import poses_of_body, states_of
from ..batch.change import System, bounded_change
from ..batch.descent import Descent, descend, hold
from ..natural.looking import turned_to_look
from ..natural.posture import Posture
from .flexing import LEFT_STRAIGHT, body_compliance, errors_of_tips, flexed, inclination, inclined
from .floor import Floor, kept_above
from .priorities import BODY_ROUNDS, HELD_SHARE, at_two_levels, exactly, held_of, nearer, settle, solve_sets
from .reaching import reaching_of

_GAIN = 0.3  # of a step of posture: there are many in a drag
_DAMPING = 1e-3  # share of the trace, times error / size, as in a descent
_LARGEST = 0.6  # [rad] change of any column in one step
_STRETCH = 0.3  # of the tree's size: way of a tip in one move at most
# Of it: changes of what goals ask for, up to which they stay, and up to which their posture is the one before.
_STAYS, _SAME = 1e-5, 0.015
_DESCENT = Descent(iterations=1, stall=1, tries=1)  # out of reach more steps only cost time
_HOLDING = Descent(iterations=3, stall=1, tries=1)
_FIRMLY, _ALMOST = Descent(iterations=8, stall=2), 0.02  # for what misses by less than that share of the size

_SETTLED = 8  # steps of posture


class BodyFollower:
    """Poses of a body that go from one set of goals to the next, with what stays the same for all of them.

    `reference` are the poses made by hand, `held` the tasks of held tips, `steady` balance, and `floor` the bound below
    the body; each for as many poses.
    """

    def __init__(
        self,
        tree: Tree,
        reference: States,
        held: Sequence[Task],
        steady: BalanceTask | None,
        floor: Floor | None = None,
    ) -> None:
        self._tree, self._reference = tree, reference
        self._reaching = reaching_of(tree, reference, held, steady)
        self._amounts: Numbers | None = None  # of the basis of reaching, for the goals before
        self._held = [task.within(HELD_SHARE * task.tolerance) for task in held]
        self._steady = [steady] if steady else []
        self._floor = floor
        self._compliance = body_compliance(tree)
        self._begin = Geometry.of(tree, reference)
        # What goals ask for beyond the reference, as they last had a posture, and in the last move.
        self._asked: list[Numbers] = []
        self._last: list[Numbers] = []
        self._kept = Posture(tree, reference)
        self._inclines = np.zeros((len(tree.tips), 1))
        self._gave_way: int | None = None  # the tip that gave way before

    def moved(self, states: States, goals: Sequence[Task]) -> States:
        """The states for other goals, as near to them as priorities allow.

        One step with posture and balance; then what that leaves of the goals, and last held tips, without a leap.
        """
        tree, held = self._tree, self._held
        goals = self._floor.raised(goals) if self._floor else goals
        posture = self._posture(goals)
        if self._inclines.max() > LEFT_STRAIGHT:
            states = flexed(tree, states, self._reference)
        bounds = kept_above(self._floor, (), Geometry.of(tree, states))
        system = System(tree, states, [*held, *goals, *bounds, *self._steady])
        near = [*held, *(nearer(system.geometry, task, _STRETCH * tree.size) for task in goals), *bounds]
        states = self._relaxed(system, [*near, *self._steady], posture)
        met, _ = descend(tree, states, at_two_levels(near), _DESCENT)
        if not met.all():
            self._give_way(states, goals, near)
            if held:
                hold(tree, states, held, _HOLDING, 1.0)
        return states

    def _give_way(self, states: States, goals: Sequence[Task], near: Sequence[Task]) -> None:
        """Meet all goals but the place that is missed most, in place; that comes as near as the others leave it.

        A tip that gave way before does so until it is met again: after a step, others may miss by more.
        """
        measured = System(self._tree, states, goals).measured
        missed = {
            task.tip: float(off.off.max())
            for task, off in zip(goals, measured, strict=True)
            if isinstance(task, PlaceTask) and (off.off > task.tolerance).any()
        }
        if not missed:
            self._gave_way = None
            return
        far = max(missed, key=lambda tip: (tip == self._gave_way, missed[tip]))
        if missed[far] < _ALMOST * self._tree.size:  # it may be but the one step that was made which falls short
            tried = states.copy()
            if descend(self._tree, tried, at_two_levels(near), _FIRMLY)[0].all():
                states.put(slice(None), tried)
                self._gave_way = None
                return
        self._gave_way = far
        others = [task for task in near if task.level == Level.HOLD or isinstance(task, FloorTask) or task.tip != far]
        if len(others) > len(self._held):
            descend(self._tree, states, at_two_levels(others), _HOLDING)

    def _relaxed(self, system: System, near: Sequence[Task], posture: Posture) -> States:
        """The states of a system after a step towards tasks and, in what these leave free, towards a posture."""
        tree, states, geometry = self._tree, system.states, system.geometry
        for number, (wanted, task) in enumerate(zip(near, system.tasks, strict=True)):
            if wanted is not task:
                system.measured[number] = wanted.measure(geometry)
        high = np.full((tree.columns, len(states)), np.inf)
        low = -high
        low[: tree.angles], high[: tree.angles] = tree.ranges(states, np.inf)
        errors, levels = system.errors()
        damping = _DAMPING * np.minimum(1.0, np.sqrt((errors**2).sum(0)) / tree.size)
        wish = posture.columns(geometry, -_GAIN * posture.offsets(states))
        rows = system.jacobian()
        change = bounded_change(rows, errors, levels, low, high, self._compliance, damping, tree.size, wish)
        change *= _LARGEST / np.maximum(np.abs(change).max(0), _LARGEST)
        return tree.moved(states, geometry.frames, change)

    def _posture(self, goals: Sequence[Task]) -> Posture:
        """The posture for goals, as a body is solved for them: trunk and legs take part, straight limbs incline to
        bend.

        In a drag it changes slowly, so it is the one before until they have changed by a part of the size. Where goals
        stay it goes on to their own.
        """
        asked, before = [task.measure(self._begin).errors for task in goals], self._last
        self._last = asked
        size = self._tree.size
        if _change(asked, before) > _STAYS * size and _change(asked, self._asked) < _SAME * size:
            return self._kept
        tips = {task.tip for task in [*self._held, *goals]}
        states = self._reference
        if self._reaching:
            self._amounts = self._reaching.amounts(goals, self._amounts)
            states = self._reaching.posed(self._amounts, goals)
            tips.difference_update(self._reaching.tips)
        level = inclination(self._tree, errors_of_tips(Geometry.of(self._tree, states), goals))
        self._inclines = level
        self._asked, self._kept = asked, Posture(self._tree, inclined(self._tree, states, level, tips))
        return self._kept


def _change(now: Sequence[Numbers], before: Sequence[Numbers]) -> float:
    """Return the largest change of errors (r, F) of tasks; infinite if they are not those of the same tasks."""
    if [each.shape for each in now] != [each.shape for each in before]:
        return np.inf
    return max((float(np.abs(one - other).max()) for one, other in zip(now, before, strict=True)), default=0.0)


class TipResult(NamedTuple):
    """The distance of a tip from its goal [Blender units], and the angle [rad]; None where none was asked for.

    A tip that is not `reached` gave way by so much.
    """

    held: bool
    reached: bool
    error: float | None
    angle: float | None


class BodySolution(NamedTuple):
    """Result of solving a body. Goals that are not reached are a result, never an exception.

    `tips` has the result of each tip with a goal, `reached` tells whether all are reached. `outside` is the distance of
    the centre of mass from the area that the held tips support [Blender units], None without balance. `projected` tells
    whether the start was outside its limits and was moved inside first.
    """

    pose: BodyPose
    tips: dict[str, TipResult]
    reached: bool
    outside: float | None = None
    projected: bool = False


def solve_body(
    start: BodyPose,
    goals: Mapping[str, TipGoal],
    *,
    hold: Sequence[str] = (),
    balance: bool = False,
    reference: BodyPose | None = None,
    angle_tolerance: float = radians(1.0),
    seed: int = 0,
    follow: bool = False,
) -> BodySolution:
    """Move a body until each tip of `goals` has reached its goal, and those to `hold` stay where they are.

    Everything is in armature space; `start` is not changed. Priorities are hard: held tips, places to reach,
    orientations, directions and points to look at, then the `balance` of the centre of mass above the held tips, and
    with what freedom is left nearness to the `reference`, by default the start. Tips are held where the reference has
    them. The result is never farther from its goals than the start inside its limits, no joint leaves its limits, and
    the hips move only as the body allows. With `follow` the start counts as the solution for goals that have moved a
    little: no restarts are drawn with `seed`, so that the pose does not jump. The same arguments give the same result.

    Raises ChainError for tips that the body does not have and for a start that is not valid, SettingError for a tip
    that is to be held and to reach, and for a tolerance that is not valid, and TargetError for a goal that has no form
    for bodies.
    """
    body = start.body
    both = [name for name in hold if name in goals]
    if both:
        raise SettingError(f"Tip '{both[0]}' cannot be held and reach as well. Choose one of them.")
    if not angle_tolerance > 0.0:
        raise SettingError(f"Tolerance {angle_tolerance} is no angle. Give it one above zero.")
    for name in (*goals, *hold):
        body.tip(name)
    for goal in goals.values():
        if isinstance(goal, Goal) and not (goal.tolerance > 0.0 and goal.angle_tolerance > 0.0):
            raise SettingError(f"Tolerance {goal.tolerance} is not a distance. Give it a length above zero.")
    if len(start.rotations) != len(body.joints) or not np.isfinite(start.frames).all():
        raise ChainError("The start pose is not valid. Give it a rotation for each joint and a base of finite numbers.")
    made_by_hand = reference or start
    origin, inside = states_of([made_by_hand]), start.inside()
    frames = made_by_hand.frames[..., None]
    tasks = hold_tasks(body, hold, frames)
    tasks += body_tasks(body, {name: (goal,) for name, goal in goals.items()}, angle_tolerance)
    steady = balance_of(body, hold, frames) if balance else None
    states = states_of([inside])
    if tasks:
        states = _solved(body.tree, states, origin, tasks, steady, seed, follow)
    pose = poses_of_body(body, states)[0]
    tips = _results(body.tree, states, tasks, list(body.number_of))
    outside = None if steady is None else float(System(body.tree, states, [steady]).measured[0].off[0])
    return BodySolution(pose, tips, all(tip.reached for tip in tips.values()), outside, inside is not start)


def _solved(
    tree: Tree,
    states: States,
    reference: States,
    tasks: Sequence[Task],
    steady: BalanceTask | None,
    seed: int,
    follow: bool,
) -> States:
    """The solution from states inside the limits, no worse than they are."""
    start = states.copy()
    if follow:
        held = held_of(tasks)
        goals = [task for task in tasks if task.level > Level.HOLD]
        states = BodyFollower(tree, reference, held, steady).moved(states, goals)
    else:
        solve_sets(tree, states, tasks, seed=seed, rounds=(*BODY_ROUNDS[:1], sum(BODY_ROUNDS[1:])))
        compliance = body_compliance(tree)
        settle(tree, states, turned_to_look(tree, reference, tasks, compliance), tasks, steady, _SETTLED)
        level = turned_to_look(tree, reference, tasks, compliance, states)
        if level is not states:
            exactly(tree, level, tasks, steady)
            states = states if _worse(tree, level, states, tasks) else level
    return start if _worse(tree, states, start, tasks) else states


def _worse(tree: Tree, states: States, start: States, tasks: Sequence[Task]) -> bool:
    """Tell whether a result is farther from its goals than the start, the held ones first."""
    held = held_of(tasks)
    others = [task for task in tasks if task.level > Level.HOLD]
    if System(tree, states, tasks).met.all():
        return False
    for some in (held, others):
        if some:
            now, before = (System(tree, each, some) for each in (states, start))
            if now.met[0] and not before.met[0]:
                return False
            if not now.met[0] and now.value[0] != before.value[0]:
                return bool(now.value[0] > before.value[0])
    return False


def _results(tree: Tree, states: States, tasks: Sequence[Task], names: Sequence[str]) -> dict[str, TipResult]:
    """The result of each tip that has a goal."""
    system = System(tree, states, tasks)
    found: dict[str, TipResult] = {}
    for task, measured in zip(tasks, system.measured, strict=True):
        name = names[task.tip]
        before = found.get(name, TipResult(task.level == 0, True, None, None))
        off, met = float(measured.off[0]), bool(measured.off[0] <= task.tolerance[0])
        error, angle = before.error, before.angle
        kind = task.task if isinstance(task, CarriedTask) else task
        if isinstance(kind, PlaceTask):
            error = off
        elif isinstance(kind, OrientTask | LookTask) or angle is None or off > angle:
            angle = off
        found[name] = TipResult(before.held, before.reached and met, error, angle)
    return found

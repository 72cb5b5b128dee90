# SPDX-License-Identifier: GPL-3.0-or-later
"""solve_body(): one pose of a whole body for the goals of all its tips."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import radians
from typing import NamedTuple

import numpy as np

from ...errors import ChainError, SettingError
from ...goals import Goal
from ...goals.batch import BalanceTask, Level, LookTask, OrientTask, PlaceTask, Task
from ...goals.batch.carried import CarriedTask
from ...goals.batch.of_bodies import TipGoal, balance_of, body_tasks, hold_tasks
from ...kinematics import BodyPose
from ...kinematics.batch import States, Tree
from ...kinematics.body_pose import poses_of_body, states_of
from ..batch.system import System
from ..natural.looking import turned_to_look
from .following import BodyFollower
from .priorities import BODY_ROUNDS, held_of, solve_sets
from .settling import exactly, settle
from .stiffness import body_compliance

_SETTLED = 8  # steps of posture


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

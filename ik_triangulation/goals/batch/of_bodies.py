# SPDX-License-Identifier: GPL-3.0-or-later
"""Goals of a body's tips as tasks for many poses at once."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from math import radians
from typing import Any

import numpy as np
from mathutils import Vector

from ...errors import TargetError
from ...kinematics import Body
from ...kinematics.arrays import Numbers
from ...kinematics.batch.algebra import compose
from ..goal import Goal
from ..look_at import LookAt
from ..orientation import Direction, Orientation
from ..target import Anywhere
from .carried import CarriedKind, CarriedTask, check_carried
from .from_goals import RADIAN, Refusal, point_task, tasks_of
from .levels import Level
from .support import BalanceTask, Support, balance_task
from .task import OrientTask, Task

TipGoal = Goal | Orientation | Direction | LookAt
HELD, HELD_ANGLE = 1e-3, radians(0.5)  # of the limb's reach, and [rad]: what counts as held
MARGIN = 0.1  # share by which the area that feet support is made smaller


def body_tasks(body: Body, goals: Mapping[str, Sequence[TipGoal]], angle_tolerance: float) -> list[Task]:
    """Tasks for the goals of tips, for each tip a goal or one for each pose.

    A goal is a Goal, or an orientation, a direction or a point to look at alone, met within `angle_tolerance` [rad].
    Raises TargetError for goals that have no form for many poses.
    """
    tasks: list[Task] = []
    joints = {joint.name: number for number, joint in enumerate(body.joints)}
    carriers = {name: each[0].on for name, each in goals.items() if isinstance(each[0], Goal) and each[0].on}
    for name, on in carriers.items():
        if on not in joints or any(goal.on != on for goal in goals[name] if isinstance(goal, Goal)):
            raise TargetError(f"The goal of tip '{name}' hangs on '{on}', which is no joint of the body at all frames.")
    check_carried(body, carriers)
    for name, each in goals.items():
        number = body.number_of[body.tip(name).name]
        made = [_at_tip(task, number) for task in _tasks(body, name, each, angle_tolerance)]
        if name in carriers:
            made = [_carried(task, joints[carriers[name]], name) for task in made]
        tasks += made
    return tasks


def _carried(task: Task, joint: int, name: str) -> Task:
    if not isinstance(task, CarriedKind):
        raise TargetError(f"The goal of tip '{name}' hangs on the body itself, where it can have no pole. Remove that.")
    return CarriedTask(task=task, joint=joint)


def hold_tasks(body: Body, names: Sequence[str], frames: Numbers) -> list[Task]:
    """Tasks of keeping tips where they are, place and orientation, in poses whose joints have these frames.

    `frames` (n, 3, 4, F) are orientations of the joints with their heads, whether inside the limits or not.
    """
    tasks: list[Task] = []
    tree = body.tree
    for name in names:
        tip, number = body.tip(name), body.number_of[name]
        frame, rest = frames[tip.joint], np.array(tip.rotation.to_matrix(), float)[:, :, None]
        places, rotations = _point(frame, tip.place), compose(frame[:, :3], rest)
        tolerance = np.array([HELD * tree.tips[number].reach])
        tasks.append(replace(point_task(_once(places), tolerance), tip=number, level=Level.HOLD))
        length = RADIAN * tree.size
        angle = np.array([HELD_ANGLE])
        tasks.append(
            OrientTask(rotation=_once(rotations), length=length, tolerance=angle, tip=number, level=Level.HOLD)
        )
    return tasks


def balance_of(
    body: Body,
    names: Sequence[str],
    frames: Numbers,
    margin: float = MARGIN,
    influence: Mapping[str, Numbers] | None = None,
) -> BalanceTask | None:
    """The task of keeping the centre of mass above tips that stand where such frames have them; None without any.

    A tip supports as much of the area as its `influence` (F) says, from 0 to 1, and all of it by default.
    """
    if not names:
        return None
    points = [np.array([_point(frames[tip.joint], each) for each in tip.contacts]) for tip in map(body.tip, names)]
    present = np.ones(1)
    if influence and any((influence[name] < 1.0).any() for name in names):
        shares = np.array([influence[name] for name in names])
        present = (shares.max(0) > 0.0).astype(float)
        weights = np.where(present > 0.0, shares, 1.0)
        weights = (weights / weights.sum(0))[:, None]
        middle = sum(weight * each.mean(0) for weight, each in zip(weights, points, strict=True))
        points = [middle + share * (each - middle) for share, each in zip(shares, points, strict=True)]
    masses = np.array([segment.mass for segment in body.segments])
    centres = np.array([segment.centre[:] for segment in body.segments])
    support = Support.under(_once(np.concatenate(points)), np.array(body.up[:]), margin)
    return replace(balance_task(masses, centres, support, body.tree.size), present=present)


def _tasks(body: Body, name: str, goals: Sequence[TipGoal], angle_tolerance: float) -> Sequence[Task]:
    first = goals[0]
    reach = body.tree.size  # the same for all tips, so that their errors can be compared
    alone = not isinstance(first, Goal)
    wanted: list[Any] = [Goal(Anywhere(), (each,), 1.0, angle_tolerance) for each in goals] if alone else list(goals)
    if any(isinstance(soft, LookAt) and not _looks_alike(soft, goal) for goal in wanted for soft in wanted[0].soft):
        raise TargetError(f"Tip '{name}' looks along different axes. Give it one axis for all frames.")
    tasks = tasks_of(wanted, reach)
    if isinstance(tasks, Refusal):
        raise TargetError(
            f"The goal of tip '{name}' cannot be solved for a body: {tasks.reason}. Use a point or another simple "
            "shape, with at most an orientation, a direction and a pole."
        )
    return tasks


def _looks_alike(first: LookAt, goal: Goal) -> bool:
    """Tell whether a goal is to look along the same axis from the same place of the bone."""
    return any(
        isinstance(soft, LookAt) and (soft.axis, soft.origin) == (first.axis, first.origin) for soft in goal.soft
    )


def _point(frame: Numbers, point: Vector) -> Numbers:
    """A point of a joint's frames (3, 4, F), armature space."""
    x, y, z = point
    place: Numbers = frame[:, 0] * x + frame[:, 1] * y + frame[:, 2] * z + frame[:, 3]
    return place


def _at_tip(task: Any, number: int) -> Task:
    """A task as that of a tip: places before orientations."""
    moved: Task = replace(task, tip=number, level=Level.REACH if task.level == 0 else Level.TURN)
    return moved


def _once(values: Numbers) -> Numbers:
    """Values of each pose, poses last; only once if they are all the same."""
    return values[..., :1] if (values == values[..., :1]).all() else values

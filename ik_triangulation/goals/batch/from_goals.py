# SPDX-License-Identifier: GPL-3.0-or-later
"""Goals of many poses, given one by one, as tasks."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple, TypeGuard

import numpy as np

from ...kinematics.arrays import Numbers
from ...kinematics.batch.algebra import IDENTITY, lengths
from ..comfort import Effort, Near
from ..goal import Goal
from ..look_at import LookAt
from ..obstacles import Avoid
from ..orientation import Direction, Orientation
from ..pole import Pole
from ..shapes import Point
from ..target import Anywhere, Target
from ..transformed import Transformed
from .look import LookTask
from .pole_task import PoleTask
from .targets import BatchTarget, shape_is_batched
from .task import AlongTask, OrientTask, PlaceTask, Task

RADIAN = 0.3  # of the reach: the distance that counts as much as one radian
_UNIFORM = 1e-4  # relative difference of two scales that is no rounding


class Refusal(NamedTuple):
    """Why frames cannot be solved together; `reason` is the part of a sentence that users read after "because".

    It is `chosen` if settings say so: then nobody has to be warned.
    """

    reason: str
    chosen: bool = False


def tasks_of(goals: Sequence[Goal], reach: float) -> list[Task] | Refusal:
    """Tasks for a chain of this `reach`, a column for each goal; why not, if there is no form of them on arrays.

    The goals have to be of one kind: the same shape of target, in whatever space, and the same kinds of soft goals.
    """
    tasks: list[Task] = []
    if not all(type(goal.target) is Anywhere for goal in goals):
        target = _target([goal.target for goal in goals])
        if isinstance(target, Refusal):
            return target
        tasks.append(PlaceTask(target=target, tolerance=column([goal.tolerance for goal in goals])))
    kinds = {tuple(map(type, goal.soft)) for goal in goals}
    if len(kinds) > 1:
        return Refusal("an orientation, pole, comfort or obstacle counts at some frames only")
    angle = column([goal.angle_tolerance for goal in goals])
    for number, kind in enumerate(kinds.pop()):
        each: Any = [goal.soft[number] for goal in goals]
        name = NAMES.get(kind, kind.__name__)
        if kind not in _BUILD:
            return Refusal(f"{name} has no form for all frames at once")
        weights = {goal.weight for goal in each}
        if len(weights) > 1:
            return Refusal(f"the weight of the {name} is animated")
        if weights == {0.0}:
            continue
        built = _BUILD[kind](each, RADIAN * reach * each[0].weight, angle)
        if built is None:
            return Refusal(f"the {name} is for another axis of the bone from frame to frame")
        tasks.append(built)
    return tasks


def point_task(places: Numbers, tolerance: Numbers) -> PlaceTask:
    """The task of reaching the points (3, F or 1) within `tolerance` (F or 1) [Blender units]."""
    return PlaceTask(target=BatchTarget(None, IDENTITY, places, np.ones(1)), tolerance=tolerance)


def column(values: Sequence[float]) -> Numbers:
    column = np.array(values, float)
    return column[:1] if (column == column[0]).all() else column


def rows_of(vectors: Sequence[Any]) -> Numbers:
    """Vectors as columns (3, F), or (3, 1) if they are all the same."""
    rows = np.array([vector[:] for vector in vectors], float).T
    return rows[:, :1] if (rows == rows[:, :1]).all() else rows


def _target(targets: Sequence[Target]) -> BatchTarget | Refusal:
    first = targets[0]
    if all(type(target) is Point for target in targets):
        return BatchTarget(None, IDENTITY, rows_of([target.location for target in targets]), np.ones(1))
    if all(type(target) is Transformed and target.target is first.target for target in targets):
        return _moved(first.target, np.array([target.into.copy() for target in targets], float))
    if all(target is first for target in targets):
        if shape_is_batched(first):
            return BatchTarget(first, IDENTITY, np.zeros((3, 1)), np.ones(1))
        return _without_form(first)
    return Refusal("the shape of the target changes from frame to frame")


def _without_form(shape: Target) -> Refusal:
    return Refusal(f"a target of the shape {type(shape).__name__} has no form for all frames at once")


def _moved(shape: Target, frames: Numbers) -> BatchTarget | Refusal:
    """The shape in spaces (F, 4, 4)."""
    if not shape_is_batched(shape):
        return _without_form(shape)
    axes = np.moveaxis(frames[:, :3, :3], 0, -1)
    scales = lengths(axes.swapaxes(0, 1))  # of each axis (3, F)
    scale = scales.mean(0)
    if not (scale > 0.0).all():
        return Refusal("the target is scaled to zero")
    turn, place = axes / scale, np.ascontiguousarray(frames[:, :3, 3].T)
    square = np.einsum("ijf,ikf->jkf", turn, turn)
    if np.abs(square - IDENTITY).max() > _UNIFORM:
        return BatchTarget(shape, axes, place, np.ones(1), stretched=True)
    return BatchTarget(shape, turn, place, scale)


def are_formulas(tasks: list[Task] | Refusal) -> TypeGuard[list[Task]]:
    """Tell whether there are tasks, whose nearest points are known by formulas, without descent along a target."""
    return not isinstance(tasks, Refusal) and not any(
        isinstance(task, PlaceTask) and task.target.stretched for task in tasks
    )


def _orient(goals: Sequence[Orientation], length: float, tolerance: Numbers) -> OrientTask:
    matrices = np.array([goal.rotation.normalized().to_matrix() for goal in goals], float)
    return OrientTask(length=length, tolerance=tolerance, rotation=np.ascontiguousarray(np.moveaxis(matrices, 0, -1)))


def _along(goals: Sequence[Direction], length: float, tolerance: Numbers) -> AlongTask | None:
    if any(goal.axis != goals[0].axis for goal in goals):
        return None
    axis, direction = rows_of([goals[0].axis]), rows_of([goal.direction for goal in goals])
    return AlongTask(
        length=length, tolerance=tolerance, axis=axis / lengths(axis), direction=direction / lengths(direction)
    )


def _look(goals: Sequence[LookAt], length: float, tolerance: Numbers) -> LookTask | None:
    first = goals[0]
    if any((goal.axis, goal.origin, goal.up) != (first.axis, first.origin, first.up) for goal in goals):
        return None
    axis, up = rows_of([first.axis]), None if first.up is None else rows_of([first.up])
    points, origin = rows_of([goal.point for goal in goals]), rows_of([first.origin])
    return LookTask(length=length, tolerance=tolerance, axis=axis / lengths(axis), point=points, origin=origin, up=up)


def _pole(goals: Sequence[Pole], length: float, tolerance: Numbers) -> PoleTask:
    angle = column([goal.angle for goal in goals])
    return PoleTask(
        length=length, tolerance=tolerance, location=rows_of([goal.location for goal in goals]), angle=angle
    )


_BUILD: dict[type, Any] = {Orientation: _orient, Direction: _along, LookAt: _look, Pole: _pole}
NAMES: dict[type, str] = {
    Orientation: "orientation",
    Direction: "direction",
    LookAt: "look",
    Pole: "pole",
    Effort: "comfort",
    Near: "comfort",
    Avoid: "avoidance of obstacles",
}
BATCHED = Orientation, Direction, LookAt, Pole  # the soft goals with a form on arrays

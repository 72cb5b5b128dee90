# SPDX-License-Identifier: GPL-3.0-or-later
"""Goals of many poses of one chain as tasks on arrays."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from mathutils import Matrix, Vector

from ...kinematics import Chain
from ...kinematics.arrays import Numbers
from ..goal import Goal
from ..orientation import Direction, Orientation
from ..pole import Pole
from ..shapes import Point
from ..target import Target
from ..transformed import Transformed
from .targets import BatchTarget, shape_is_batched
from .task import AlongTask, OrientTask, PlaceTask, PoleTask, Task

ANGLE_LENGTH = 0.3  # of the reach: the distance that counts as much as an angle of one radian
_ONE, _UPRIGHT = np.ones(1), np.eye(3)[:, :, None]
BATCHED = Orientation, Direction, Pole  # the soft goals that have a formula on arrays


def place_task(goals: Sequence[Goal]) -> PlaceTask | None:
    """The task of the goals' targets, one for each pose.

    None for a target without a formula on arrays: a field, a shape scaled unequally, or several different shapes.
    """
    targets = [goal.target for goal in goals]
    tolerance = np.array([goal.tolerance for goal in goals])
    place = _points(targets) or _shaped(targets)
    return place and PlaceTask(target=place, tolerance=tolerance)


def soft_tasks(chain: Chain, goals: Sequence[Goal], angles: Numbers) -> list[Task] | None:
    """The tasks of the goals' orientations, directions and poles, met within `angles` (F or 1) [rad].

    Other soft goals, and those without weight, are left out. None where the goals are not of the same kinds.
    """
    wanted = [[each for each in goal.soft if isinstance(each, BATCHED) and each.weight] for goal in goals]
    if len({tuple(map(type, soft)) for soft in wanted}) > 1:
        return None
    most = max((each.weight for soft in wanted for each in soft), default=1.0)
    tasks: list[Task] = []
    for each in zip(*wanted, strict=True):
        length = ANGLE_LENGTH * chain.reach * each[0].weight / most
        task = _KINDS[type(each[0])](each, length, angles)
        if task is None:
            return None
        tasks.append(task)
    return tasks


def _points(targets: Sequence[Target]) -> BatchTarget | None:
    places = [target.location for target in targets if isinstance(target, Point)]
    return BatchTarget(None, _UPRIGHT, _columns(places), _ONE) if len(places) == len(targets) else None


def _shaped(targets: Sequence[Target]) -> BatchTarget | None:
    """One shape in as many spaces, each scaled uniformly."""
    shapes, spaces = [], []
    for target in targets:
        if isinstance(target, Transformed):
            if target.steps:
                return None
            shapes.append(target.target)
            spaces.append(target.into)
        else:
            shapes.append(target)
            spaces.append(Matrix())
    shape = shapes[0]
    if not shape_is_batched(shape) or any(other is not shape and other != shape for other in shapes):
        return None
    linear = np.moveaxis(np.array([space.to_3x3() for space in spaces], float), 0, -1)
    place = _columns([space.to_translation() for space in spaces])
    scale = np.sqrt((linear * linear).sum((0, 1)) / 3.0)
    return BatchTarget(shape, linear / scale, place, scale)


def _columns(vectors: Sequence[Vector]) -> Numbers:
    return np.ascontiguousarray(np.array(vectors, float).T)


def _orientation(goals: Sequence[Orientation], length: float, angles: Numbers) -> Task:
    rotations = np.array([goal.rotation.normalized().to_matrix() for goal in goals], float)
    return OrientTask(rotation=np.ascontiguousarray(np.moveaxis(rotations, 0, -1)), length=length, tolerance=angles)


def _direction(goals: Sequence[Direction], length: float, angles: Numbers) -> Task | None:
    axis = goals[0].axis.normalized()
    if any(goal.axis.normalized() != axis for goal in goals):
        return None
    direction = _columns([goal.direction.normalized() for goal in goals])
    return AlongTask(axis=_columns([axis]), direction=direction, length=length, tolerance=angles)


def _pole(goals: Sequence[Pole], length: float, angles: Numbers) -> Task:
    angle = np.array([goal.angle for goal in goals])
    return PoleTask(location=_columns([goal.location for goal in goals]), angle=angle, length=length, tolerance=angles)


_KINDS: dict[type, Callable[..., Task | None]] = {
    Orientation: _orientation,
    Direction: _direction,
    Pole: _pole,
}

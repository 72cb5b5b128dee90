# SPDX-License-Identifier: GPL-3.0-or-later
"""Soft goals of a whole chain, comfort and obstacles, given one by one for many poses, as tasks."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ...kinematics.batch import Tree
from ...kinematics.batch.algebra import lengths, normalized
from ..comfort import Effort, Near
from ..goal import Goal
from ..obstacles import Avoid
from ..soft import LOWER
from .avoid import AvoidTask, volumes_of
from .comfort import EffortTask, NearTask
from .from_goals import BATCHED, NAMES, RADIAN, Refusal, column, rows_of
from .task import Task

_OUTSIDE = 1e-3  # of the reach: depth in an obstacle that counts as outside
_AVOIDED, _COMFORT = 1, 2  # levels


def preferences_of(goals: Sequence[Goal], tree: Tree, reach: float) -> list[Task] | Refusal:
    """Tasks of the soft goals that are not about the end effector, a column for each goal; why not, if there are none.

    The goals have to have the same kinds of soft goals. Comfort ranks below what can be met, as goals.soft has it.
    """
    soft = [tuple(each for each in goal.soft if not isinstance(each, BATCHED)) for goal in goals]
    kinds = {tuple(map(type, each)) for each in soft}
    if len(kinds) > 1:
        return Refusal("comfort or obstacles count at some frames only")
    share = LOWER if any(each.can_be_met and each.weight > 0.0 for each in goals[0].soft) else 1.0
    tasks: list[Task] = []
    for number, kind in enumerate(kinds.pop()):
        each: Any = [found[number] for found in soft]
        weights = {goal.weight for goal in each}
        if kind not in _BUILD:
            return Refusal(f"{kind.__name__} has no form for all frames at once")
        if len(weights) > 1:
            return Refusal(f"the weight of {NAMES[kind]} is animated")
        if weights == {0.0}:
            continue
        length = RADIAN * reach * each[0].weight
        built = _BUILD[kind](each, length if kind is Avoid else share * length, tree, reach)
        if isinstance(built, Refusal):
            return built
        tasks += built
    return tasks


def _effort(goals: Sequence[Effort], length: float, tree: Tree, reach: float) -> list[Task]:
    down = rows_of([goal.down for goal in goals])
    return [EffortTask(length=length, tolerance=np.ones(1), level=_COMFORT, up=-down / lengths(down))]


def _near(goals: Sequence[Near], length: float, tree: Tree, reach: float) -> list[Task]:
    rotations = np.moveaxis(np.array([[each[:] for each in goal.rotations] for goal in goals], float), 0, -1)
    if (rotations == rotations[..., :1]).all():
        rotations = rotations[..., :1]
    wanted = normalized(np.ascontiguousarray(rotations))
    return [NearTask(length=length, tolerance=np.ones(1), level=_COMFORT, tree=tree, rotations=wanted)]


def _avoid(goals: Sequence[Avoid], length: float, tree: Tree, reach: float) -> list[Task] | Refusal:
    volumes = volumes_of([goal.obstacles for goal in goals])
    if volumes is None:
        return Refusal("an obstacle is scaled flat, or has another kind of volume, at some frames")
    if not volumes:
        return []
    tolerance, joints = column([_OUTSIDE]), len(tree.joints)
    return [AvoidTask(length=length, tolerance=tolerance, level=_AVOIDED, volumes=volumes, joints=joints, reach=reach)]


_BUILD: dict[type, Any] = {Effort: _effort, Near: _near, Avoid: _avoid}

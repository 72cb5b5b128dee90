# SPDX-License-Identifier: GPL-3.0-or-later
"""Arms as lengths that reach from their shoulders, and bodies that hang on their hands."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from ...goals.task import FadedTask, PlaceTask, Task, unwrapped
from ...kinematics.batch import Geometry, States, Tree
from ...kinematics.batch.algebra import lengths
from ...kinematics.body_anatomy import joints_between
from .flexing import two_part_limbs

COMFORTABLE = 0.95  # of an arm's length: distance up to which it reaches by itself
_PROJECTIONS = 16


class ReachingArm(NamedTuple):
    """The joint from which a tip reaches, the length with which it does, and whether an elbow makes that less."""

    anchor: int
    length: float
    bends: bool


def hung(tree: Tree, states: States, tasks: Sequence[Task]) -> States:
    """The states of a body that nothing holds, moved as a whole by no more than what its arms lack to their places.

    So who reaches for a bar raises the arms, and hangs below it where it is higher. Source: successive projections on
    balls about the places, Bregman 1965.
    """
    geometry = Geometry(tree, states)
    places = [task for task in tasks if is_place(task)]
    arms = [arm_of(tree, task.tip) for task in places]
    ways = [
        geometry.tip(task.tip) + task.measure(geometry).errors - geometry.heads[arm.anchor]
        for task, arm in zip(places, arms, strict=True)
    ]
    moved = np.zeros((3, len(states)))
    for _ in range(_PROJECTIONS):
        for way, arm in zip(ways, arms, strict=True):
            missing = way - moved
            far = lengths(missing)
            moved = moved + missing * np.maximum(1.0 - COMFORTABLE * arm.length / np.maximum(far, 1e-300), 0.0)
    return geometry.shifted(tree.root_ways.T @ (tree.root_ways @ moved)).states


def arm_of(tree: Tree, number: int) -> ReachingArm:
    tip = tree.tips[number]
    limb = next((limb for limb in two_part_limbs(tree) if tree.above[limb.end, tip.joint]), None)
    if limb is None:
        return ReachingArm(tip.first, tip.reach or tree.size, False)
    line = joints_between(tree.above, limb.upper, tip.joint)
    return ReachingArm(limb.upper, sum(tree.joints[j].offset.length for j in line) + tip.place.length, True)


def is_place(task: Task) -> bool:
    """Tell whether a task is a place, faded or not; one that the body carries along is none to lean to."""
    return isinstance(unwrapped(task, FadedTask), PlaceTask)

# SPDX-License-Identifier: GPL-3.0-or-later
"""Results of a published method without Finish: many targets at once, or one after the other."""

from __future__ import annotations

from collections.abc import Callable, Generator
from typing import NamedTuple

import numpy as np
from mathutils import Vector

from ..goals import Goal, Point
from ..kinematics import Pose
from ..kinematics.arrays import Indices, Numbers
from ..kinematics.batch import States, Tree
from ..kinematics.batch.states import joined
from ..solvers import SolverSettings
from ..solvers.batch.own_steps import STEPS, walk_on
from ..solvers.batch.walk import Walk, WalkedChain
from ..solvers.own_part import take_own_steps

_AT_ONCE = 2560  # joints of all poses that are rotated between two moments at which a job can be stopped
_FEW = 16  # poses, likewise


class Own(NamedTuple):
    """Results for F targets: arrays (F), lengths in Blender units; the cost is that of kinematics.Cost.

    `states` gives the poses of targets with these numbers.
    """

    error: Numbers
    iterations: Indices
    turns: Indices
    total_angle: Numbers
    travel: Numbers
    states: Callable[[Indices], States]


class Asked(NamedTuple):
    """Targets (3, F), and the distances [Blender units] that are near enough: at first, and after one step (F)."""

    targets: Numbers
    tolerance: float
    enough: Numbers


def own_part(start: Pose, tree: Tree, asked: Asked, settings: SolverSettings) -> Generator[float, None, Own]:
    """Take the steps of the method from `start`, as solve() does before its finish; yields the share done."""
    step = STEPS.get(settings.solver)
    if step is None:
        return (yield from _one_by_one(start, tree, asked, settings))
    begin = tree.states([start])
    walked, size = WalkedChain(start.chain, begin, tree), max(128, _AT_ONCE // len(start.chain.joints))
    walks: list[Walk] = []
    errors, counts = [], []
    for at in range(0, asked.targets.shape[1], size):
        part = slice(at, at + size)
        walk, error, count = walk_on(
            walked, step, asked.targets[:, part], asked.tolerance, asked.enough[part], settings.iterations
        )
        walks.append(walk)
        errors.append(error)
        counts.append(count)
        yield at / asked.targets.shape[1]
    states = joined([walk.states() for walk in walks])
    turns, angle, travel = (np.concatenate([walk.arrays[n] for walk in walks]) for n in (3, 4, 5))
    return Own(np.concatenate(errors), np.concatenate(counts), turns, angle, travel, states.take)


def nothing_yet(start: Pose, tree: Tree, count: int) -> Own:
    """The start for every target, without a step."""
    every, begin = np.zeros(count, np.intp), tree.states([start])
    zeros = np.zeros(count)
    return Own(np.full(count, np.inf), every, every, zeros, zeros, lambda those: begin.take(every[those]))


def _one_by_one(start: Pose, tree: Tree, asked: Asked, settings: SolverSettings) -> Generator[float, None, Own]:
    """The same by the scalar method."""
    count = asked.targets.shape[1]
    poses: list[list] = []
    rows = []
    for number, place in enumerate(asked.targets.T):
        pose = start.copy()
        pose.project()
        own = take_own_steps(pose, Goal(Point(Vector(place)), (), asked.tolerance), settings)
        cost = pose.cost
        rows.append((own.error, own.steps, cost.turns, cost.total_angle, cost.travel))
        poses.append(pose.rotations)
        if number % _FEW == 0:
            yield number / count

    def states(those: Indices) -> States:
        return tree.states([Pose(start.chain, start.base, poses[number]) for number in those.tolist()])

    error, steps, turns, angle, travel = (np.array(values) for values in zip(*rows, strict=True))
    return Own(error, steps, turns, angle, travel, states)

# SPDX-License-Identifier: GPL-3.0-or-later
"""The floor that a body stands on: the horizontal plane at the sole of the lower held foot, frame by frame.

Joints and reaching tips stay above it, the hips by a quarter of a leg; but not the fingers of a hand that reaches.
Goals below it are raised to it, so a hand stops at the floor. What the animation itself has lower may be as low as
that. Source: none.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from ...goals.support import FloorTask
from ...goals.task import Level, PlaceTask, Task
from ...kinematics import Body
from ...kinematics.arrays import Columns, Indices, Mask, Numbers
from ...kinematics.batch import Geometry
from ...kinematics.batch.algebra import at
from ...kinematics.body_anatomy import Part
from .flexing import parts_of_body

_HIPS = 0.25  # of the leg: least height of the hips
_SOLE = 0.02  # of the leg: height of the tip of a foot above its sole
_TOLERANCE = 1e-3  # of the body's size
_NEAR = 0.1  # of the body's size: height above its bound up to which a point is watched
_AWAY = 10.0  # of the body's size: depth of a floor on which nothing stands


@dataclass(frozen=True)
class Floor:
    """The bound of all `points` of a body, and those of its tips: `tips` (t, F or 1), heights along `up`."""

    points: FloorTask
    tips: Numbers

    def raised(self, tasks: Sequence[Task]) -> list[Task]:
        """Return the tasks with places to reach that are below the floor raised to it."""
        return [self._raised(task) for task in tasks]

    def below(self, task: Task) -> Numbers:
        """Depths (F) of the place of a task below the floor; zero for tasks that are not a point to reach."""
        if not isinstance(task, PlaceTask) or task.level == Level.HOLD or task.target.shape is not None:
            return np.zeros(1)
        depths: Numbers = np.maximum(self.tips[task.tip] - self.points.up @ task.target.place, 0.0)
        return depths

    def crossed(self, geometry: Geometry) -> bool:
        """Tell whether any point is below its bound in any of the states."""
        return bool((self.points.measure(geometry).off > self.points.tolerance).any())

    def near(self, geometry: Geometry) -> FloorTask | None:
        """Return the task of the points that are below their bounds or come near them; None if there are none."""
        above = self.points.above(geometry) - self.points.heights
        low: Indices = np.flatnonzero(above.min(1) < _NEAR * geometry.tree.size)
        return self.points.of_points(low) if len(low) else None

    def take(self, columns: Columns) -> Floor:
        """The floor of those poses."""
        return Floor(self.points.take(columns), at(self.tips, columns))

    def _raised(self, task: Task) -> Task:
        below = self.below(task)
        if not below.any():
            return task
        assert isinstance(task, PlaceTask)
        return task.to_points(task.target.place + self.points.up[:, None] * below)


def floor_of(
    body: Body,
    held: Sequence[str],
    frames: Numbers,
    reference: Geometry,
    influence: Mapping[str, Numbers] | None = None,
) -> Floor | None:
    """Return the floor under the held feet of a body whose joints have these frames (n, 3, 4, F); None without feet.

    `reference` has the poses made by hand, which are exempt. Where the `influence` (F) of all feet goes to 0 nothing
    stands, and the floor goes away.
    """
    tree, up = body.tree, np.array(body.up[:])
    parts = parts_of_body(tree)
    feet = [body.tip(name) for name in held if parts[body.tip(name).joint] == Part.FOOT]
    if not feet:
        return None
    legs = [tree.tips[body.number_of[foot.name]].reach for foot in feet]
    soles = []
    for foot, leg in zip(feet, legs, strict=True):
        points = np.array([foot.place[:], *(point[:] for point in foot.contacts)])
        frame = frames[foot.joint]
        heights = np.einsum("i,ijf,pj->pf", up, frame[:, :3], points) + up @ frame[:, 3]
        heights[0] -= _SOLE * leg
        soles.append(heights.min(0))
    height: Numbers = np.min(soles, 0)
    if influence:
        height = height - _AWAY * tree.size * (1.0 - np.max([influence[foot.name] for foot in feet], 0))
    tips = np.array([up @ reference.tip(number) for number in range(len(tree.tips))])
    tips = np.minimum(height, tips)
    is_foot = np.array([part == Part.FOOT for part in parts])
    standing: Mask = np.any([is_foot & tree.above[:, foot.joint] for foot in feet], 0)
    reaching = [number for number, tip in enumerate(body.tips) if tip.name not in held]
    ends = [end for number in reaching if parts[end := tree.tips[number].joint] == Part.HAND]
    hanging: Mask = tree.above[ends].sum(0) > np.isin(np.arange(len(is_foot)), ends)  # as fingers
    joints = np.flatnonzero(~standing & ~hanging)
    least = height + _HIPS * min(legs) * (joints == 0)[:, None]
    least = np.minimum(least, np.einsum("i,nif->nf", up, reference.heads[joints]))
    reaching = [number for number in reaching if not hanging[tree.tips[number].joint]]
    places = np.array([tree.tips[number].place[:] for number in reaching]).reshape(-1, 3)
    bound = FloorTask(
        joints=np.array([*joints, *(tree.tips[number].joint for number in reaching)], np.intp),
        points=np.concatenate((np.zeros((len(joints), 3)), places)),
        up=up,
        heights=np.concatenate((least, tips[reaching])),
        tolerance=np.array([_TOLERANCE * tree.size]),
    )
    return Floor(bound, tips)


def kept_above(floor: Floor | None, tasks: Sequence[Task], geometry: Geometry) -> list[Task]:
    """Return the tasks, and that of the points that are below the floor or come near it."""
    near = floor.near(geometry) if floor else None
    return [*tasks, near] if near else list(tasks)

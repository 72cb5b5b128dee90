# SPDX-License-Identifier: GPL-3.0-or-later
"""Tasks: goals of an end effector for many poses at once, each with its errors and its rows of the Jacobian.

A task is measured on a geometry, and gives rows only where a step is made from there. Errors are lengths [Blender
units]: angles count by the length given to a task, so that they can be compared with distances. The Jacobian of a place
is axis x lever for each column, that of an orientation the axis itself.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import IntEnum
from typing import Any, NamedTuple, Protocol, Self

import numpy as np

from ..kinematics.arrays import Columns, Numbers
from ..kinematics.batch import Geometry, Tree
from ..kinematics.batch.algebra import at, compose, lengths, rotate_back
from .target_shapes import BatchTarget

_SLIDE = 1e-3  # of the reach: step of the finite differences along a target


class Level(IntEnum):
    """Priorities, the most urgent first; posture takes the freedom that all of them leave."""

    HOLD = 0
    REACH = 1
    TURN = 2
    BALANCE = 3


class Missing(NamedTuple):
    """A task on a geometry: its `errors` (r, F) [Blender units], and how far it is `off` (F) in its own unit.

    `more` are arrays (..., F) that its rows need.
    """

    errors: Numbers
    off: Numbers
    more: tuple[Numbers, ...] = ()

    def take(self, columns: Columns) -> Missing:
        """Those of the poses."""
        more = tuple(array[..., columns] for array in self.more)
        return Missing(self.errors[:, columns], self.off[columns], more)

    def put(self, columns: Columns, other: Missing) -> None:
        """Replace poses by those of another measurement of the same poses."""
        pairs = zip((self.errors, self.off, *self.more), (other.errors, other.off, *other.more), strict=True)
        for mine, theirs in pairs:
            mine[..., columns] = theirs[..., columns]


class Task(Protocol):
    """The interface of every task.

    `tip` is the number of its tip, `level` its priority, 0 before 1; `count` the number of its rows; `tolerance` (F or
    1) how far it may be off, in its own unit: Blender units for a place, radians for an angle.
    """

    @property
    def tip(self) -> int: ...

    @property
    def level(self) -> int: ...

    @property
    def count(self) -> int: ...

    @property
    def tolerance(self) -> Numbers: ...

    def measure(self, geometry: Geometry) -> Missing:
        """Measure what is missing."""

    def rows(self, geometry: Geometry, axes: Numbers, measured: Missing, out: Numbers) -> None:
        """Write the rows of the Jacobian into `out` (r, k, F), which is zero; `axes` (k, 3, F) are the columns'."""

    def ways(self, root: Numbers, place: Numbers) -> Numbers:
        """Way of the goal [Blender units] to each pose from the one before (F - 1, or none if it rests).

        It is seen from a root with this orientation (3, 3, F or 1) and `place` (3, F or 1).
        """

    def take(self, columns: Columns) -> Task:
        """The task of those poses."""

    def at_level(self, level: int) -> Task:
        """The same task with another priority."""

    def within(self, tolerance: Numbers) -> Task:
        """The same task with another tolerance."""


@dataclass(frozen=True, kw_only=True)
class PlaceTask:
    """Bring an end effector to a target, within `tolerance` [Blender units]."""

    target: BatchTarget
    tolerance: Numbers
    tip: int = 0
    level: int = 0
    count = 3

    def measure(self, geometry: Geometry) -> Missing:
        """Measure the vectors to the nearest points of the target."""
        place = geometry.tip(self.tip)
        errors = self.target.closest(place) - place
        return Missing(errors, lengths(errors))

    def rows(
        self, geometry: Geometry, axes: Numbers, measured: Missing, out: Numbers, joint: int | None = None
    ) -> None:
        """Write the velocities of the end effector, without the part that slides along the target."""
        tree, place = geometry.tree, geometry.tip(self.tip)
        columns, joints = columns_of(tree, self.tip, joint)
        (ax, ay, az), (x, y, z) = (each.swapaxes(0, 1) for each in (axes[columns], place - geometry.heads[joints]))
        rows = ay * z - az * y, az * x - ax * z, ax * y - ay * x
        if self.target.shape is not None:
            off = self._off_target(place, _SLIDE * tree.size)
            x, y, z = (off[i, 0] * rows[0] + off[i, 1] * rows[1] + off[i, 2] * rows[2] for i in range(3))
            rows = x, y, z
        for i in range(3):
            out[i, columns] = rows[i]
        if tree.moves_root:
            root = tree.size * tree.root_ways.T[..., None]
            out[:, len(tree.joint_of) :] = root if self.target.shape is None else compose(off, root)

    def _off_target(self, place: Numbers, step: float) -> Numbers:
        """Derivative (3, 3, F) of the vector from the target to a place, by finite differences."""
        off = np.empty((3, 3, place.shape[-1]))
        for i in range(3):
            aside = np.zeros((3, 1))
            aside[i] = step
            along = (self.target.closest(place + aside) - self.target.closest(place - aside)) / (2.0 * step)
            off[:, i] = -along
            off[i, i] += 1.0
        return off

    def ways(self, root: Numbers, place: Numbers) -> Numbers:
        """Ways of the target's origin."""
        return steps_between(rotate_back(root, self.target.place - place))

    def take(self, columns: Columns) -> PlaceTask:
        """The task of those poses."""
        return replace(self, target=self.target.take(columns), tolerance=at(self.tolerance, columns))

    def to_points(self, points: Numbers) -> PlaceTask:
        """The same task with points (3, F) as the target."""
        return replace(self, target=BatchTarget(None, np.eye(3)[:, :, None], points, np.ones(1)))

    def at_level(self, level: int) -> PlaceTask:
        """The same task with another priority."""
        return replace(self, level=level)

    def within(self, tolerance: Numbers) -> PlaceTask:
        """The same task with another tolerance."""
        return replace(self, tolerance=tolerance)


@dataclass(frozen=True, kw_only=True)
class AngleTask:
    """Something about the rotation of an end effector, within `tolerance` [rad].

    `length` [Blender units] is the distance that counts as much as one radian.
    """

    length: float
    tolerance: Numbers
    tip: int = 0
    level: int = 1

    def at_level(self, level: int) -> Any:
        """The same task with another priority."""
        return replace(self, level=level)

    def within(self, tolerance: Numbers) -> Any:
        """The same task with another tolerance."""
        return replace(self, tolerance=tolerance)


def columns_of(tree: Tree, tip: int, joint: int | None) -> tuple[Any, Any]:
    """The columns that move a tip, and the joint of each; with a joint those of a tip that hangs on that."""
    return tree.moving(tree.tips[tip].joint if joint is None else joint)


def steps_between(places: Numbers) -> Numbers:
    """Distances between places (3, F), each from the one before."""
    return lengths(np.diff(places, axis=-1))


@dataclass(frozen=True, kw_only=True)
class WrappedTask:
    """A task that has the tip, priority, rows and tolerance of another `task`."""

    task: Task

    @property
    def tip(self) -> int:
        """Number of the tip."""
        return self.task.tip

    @property
    def level(self) -> int:
        """Priority."""
        return self.task.level

    @property
    def count(self) -> int:
        """Number of rows."""
        return self.task.count

    @property
    def tolerance(self) -> Numbers:
        """Error that is allowed, in the unit of the task (F or 1)."""
        return self.task.tolerance

    def at_level(self, level: int) -> Self:
        """The same task with another priority."""
        return replace(self, task=self.task.at_level(level))

    def within(self, tolerance: Numbers) -> Self:
        """The same task with another tolerance."""
        return replace(self, task=self.task.within(tolerance))


def unwrapped(task: Task, kind: type[WrappedTask] = WrappedTask) -> Task:
    """Return the task within all wrappers of a kind."""
    while isinstance(task, kind):
        task = task.task
    return task


@dataclass(frozen=True, kw_only=True)
class FadedTask(WrappedTask):
    """A `task` of which `rest` (r, F) of the errors [Blender units] is left, and that counts where it is `present` (F).

    With (1 - influence) times the errors of a pose without the task as the rest, a tip goes the share `influence` of
    the distance from there: a place along the line, an orientation about the axis between the two.
    """

    rest: Numbers
    present: Numbers

    def measure(self, geometry: Geometry) -> Missing:
        """Measure what is missing beside the rest."""
        measured = self.task.measure(geometry)
        errors = (measured.errors - self.rest) * self.present
        off = np.sqrt((errors * errors).sum(0)) / getattr(self.task, "length", 1.0)
        return Missing(errors, off, measured.more)

    def rows(self, geometry: Geometry, axes: Numbers, measured: Missing, out: Numbers) -> None:
        """Write the rows of the task where it is present."""
        self.task.rows(geometry, axes, measured, out)
        out *= self.present

    def ways(self, root: Numbers, place: Numbers) -> Numbers:
        """Ways of the task's own goal."""
        return self.task.ways(root, place)

    def take(self, columns: Columns) -> FadedTask:
        """The task of those poses."""
        return FadedTask(task=self.task.take(columns), rest=at(self.rest, columns), present=at(self.present, columns))

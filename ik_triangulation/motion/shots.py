# SPDX-License-Identifier: GPL-3.0-or-later
"""Shots: a path of frames to solve together, and how the frames of a solution stand to their goals.

Frames are the last axis of every array.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, Protocol

import numpy as np

from ..cooperative import Work
from ..goals.batch import Task
from ..kinematics.arrays import Columns, Indices, Numbers, blocks
from ..kinematics.batch import States, Tree
from ..solvers.batch.descent import precisely
from ..solvers.batch.system import System


class Method(Protocol):
    """The method by which the knots are solved, one from the other."""

    def follow(self, frames: Indices) -> Work[States]:
        """Solve frames from the pose of the first frame on, each from the one before."""

    def learn(self, off: Numbers) -> None:
        """Take for granted that frames cannot come nearer to their places than these distances (F)."""

    def refine(self, frames: Indices, states: States) -> Work[States]:
        """Solve frames, each from its own state."""

    def calmest(self) -> Method:
        """The method that rotates the joints least from knot to knot; the same object if this one does."""

    def part(self, begin: int, first: States, step: int = 1) -> Method:
        """The method for the frames from `begin` on, of which the `first` has this state; with a `step` of -1 back."""


class Tracked:
    """A path: `states` of all frames, and how they stand to their goals.

    `met` (F) tells which are within tolerance, `urgent` (F) which are so in the tasks of the most urgent level, `value`
    (F) is the weighted sum of squared errors, `off` (t, F) how far each task is off, in its own unit. `steps` (F) are
    those of Gauss-Newton that brought each frame to its goal from the knots beside it.
    """

    def __init__(self, shot: Shot, states: States) -> None:
        count = len(states)
        self.states, self.met, self.value = states, np.empty(count, bool), np.empty(count)
        self.urgent = np.empty(count, bool)
        self.off = np.empty((len(shot.tasks), count))
        self.steps = np.zeros(count, np.intp)
        for frames in blocks(count, len(shot.tree.joints)):
            some = states.take(frames)
            self.put(frames, some, shot.system(some, frames))

    def put(self, frames: Columns, states: States, other: System | Tracked) -> None:
        """Replace frames by states, as they stand in a system or a path of their own."""
        off = other.off if isinstance(other, Tracked) else np.array([each.off for each in other.measured])
        if isinstance(other, Tracked):
            self.steps[frames] += other.steps
        self.states.put(frames, states)
        self.met[frames], self.value[frames], self.off[:, frames] = other.met, other.value, off
        self.urgent[frames] = other.urgent


class Shot(NamedTuple):
    """A path to solve.

    `frames` has the root's frame and the locked joints at every frame, and any rotations; `first` and, if the last
    frame is to stay as it is, `last` are single states. `ways` are those of the goal, as shares of the reach, and
    `cuts` the frames at which another motion begins. Unless `holds_first`, the first frame may get another pose where
    that spares the path a jump.
    """

    tree: Tree
    frames: States
    tasks: Sequence[Task]
    first: States
    last: States | None
    ways: Numbers
    cuts: Indices
    holds_first: bool = True

    @property
    def has_priorities(self) -> bool:
        """Whether some goals are more urgent than others."""
        return len({task.level for task in self.tasks}) > 1

    def urgent_alone(self) -> Shot:
        """The same frames with the goals of the most urgent level only."""
        first = min(task.level for task in self.tasks)
        return self._replace(tasks=[task for task in self.tasks if task.level == first])

    def goals(self, frames: Columns) -> list[Task]:
        """The tasks of some frames."""
        return [task.take(frames) for task in self.tasks]

    def precise_goals(self, frames: Columns) -> list[Task]:
        """The same with a share of their tolerances, so that the tip does not trail."""
        return precisely(self.tree, self.goals(frames))

    def system(self, states: States, frames: Columns) -> System:
        """States of some frames with their tasks."""
        return System(self.tree, states, self.goals(frames))

    def part(self, frames: Indices, first: States, last: States | None) -> Shot:
        """Frames in a row without a cut among them, of which the first, and maybe the last, have these states."""
        some, ways = self.frames.take(frames), self.ways[frames]
        return Shot(self.tree, some, self.goals(frames), first, last, ways, np.zeros(0, np.intp))

    def backwards(self, first: States) -> Shot:
        """The same path from its last frame, which has this state, to its first."""
        back, count = slice(None, None, -1), len(self.frames)
        ways, cuts = np.concatenate(([0.0], self.ways[:0:-1])), (count - self.cuts)[back]
        return Shot(self.tree, self.frames.take(back), self.goals(back), first, None, ways, cuts)

# SPDX-License-Identifier: GPL-3.0-or-later
"""The shot: all frames of a limb or a body as arrays, to be solved together, and the methods that solve it."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Protocol

import numpy as np

from ..goals.orientation import LookTask
from ..goals.support import BalanceTask
from ..goals.task import Task
from ..kinematics.arrays import Indices, Mask, Numbers
from ..kinematics.batch import States, Tree
from ..kinematics.batch.algebra import at
from ..solvers.body.clearing import Comfort
from ..solvers.body.floor import Floor
from ..solvers.body.thickness import Thickness
from ..solvers.natural import LimbForm
from ..solvers.natural.posture import USUAL_FPS
from .jumps import ways_of

LEAST_IN_CYCLE = 8  # frames
_SAME = 1e-5  # of the reach, or [rad]: a difference that closes a cycle


@dataclass(frozen=True, kw_only=True)
class Shot:
    """F frames of a character: a tree of joints, the reference poses, and all goals and constraints.

    `reference` has the pose made by hand at each frame, inside the limits, on the root's frame there. Of a tip:
    `tasks`, each with its tolerance, over all frames, `preferences` to settle in what they leave free, and the
    `influence` (F) of tips, 0 to 1, by their numbers (1 by default). Of the whole: the balance `steady`, the `floor`
    below, the `thickness` and obstacles that arms stay out of, the `comfort` of limbs, free `heads` that look where
    hands go, the tips of free `arms` that swing, and the `compliance` (k, 1) of the columns. `form` is that of a single
    limb; a body has none. Of time: `fps` is the number of these frames in a second, `smoothing` (0 to 1) calms the
    motion, tips that are `soft` take some frames to where their goals are out of reach and back, `seed` draws restarts,
    and `part_from` is the number of the first frame in a longer path of which these are a part, which is no cycle.
    """

    tree: Tree
    reference: States
    tasks: Sequence[Task]
    preferences: Sequence[Task] = ()
    influence: Mapping[int, Numbers] = field(default_factory=dict)
    steady: BalanceTask | None = None
    floor: Floor | None = None
    thickness: Thickness | None = None
    comfort: Sequence[Comfort] = ()
    heads: Sequence[LookTask] = ()
    arms: Collection[int] = ()
    compliance: Numbers | None = None
    form: LimbForm | None = None
    fps: float = USUAL_FPS
    smoothing: float = 0.0
    soft: Collection[int] = ()
    seed: int = 0
    part_from: int | None = None

    def take(self, frames: Indices) -> Shot:
        """Return the shot of some frames."""
        return replace(
            self,
            reference=self.reference.take(frames),
            tasks=[task.take(frames) for task in self.tasks],
            preferences=[task.take(frames) for task in self.preferences],
            influence={tip: at(share, frames) for tip, share in self.influence.items()},
            steady=self.steady and self.steady.take(frames),
            floor=self.floor and self.floor.take(frames),
            thickness=self.thickness and self.thickness.take(frames),
            comfort=[each.take(frames) for each in self.comfort],
        )

    @property
    def closes(self) -> bool:
        """Whether the last frame has the same goals as the first one, so that the path is a cycle."""
        tree, last = self.tree, len(self.reference) - 1
        if self.part_from is not None or last + 1 < LEAST_IN_CYCLE:
            return False
        ends = self.reference.take([0, last])
        if (ways_of(tree, ends, [task.take(np.array([0, last])) for task in self.tasks]) > _SAME).any():
            return False
        rotations = tree.rotations(ends)
        return bool(np.abs(rotations[..., 1] - rotations[..., 0]).max() <= _SAME)

    @cached_property
    def ways(self) -> Numbers:
        """Ways of the goals to each frame from the one before (F), as shares of the reach."""
        return ways_of(self.tree, self.reference, self.tasks)


class SolvedPath(Protocol):
    """States of F frames, and which of them meet all tasks (F)."""

    @property
    def states(self) -> States: ...

    @property
    def met(self) -> Mask: ...

# SPDX-License-Identifier: GPL-3.0-or-later
"""Goals that a body carries on one of its own bones: a hand on a knee, two hands on a prop that one of them holds."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np

from ...errors import TargetError
from ...kinematics import Body
from ...kinematics.arrays import Columns, Numbers
from ...kinematics.batch import Geometry
from ...kinematics.batch.algebra import IDENTITY, compose, rotate
from .look import LookTask
from .task import AlongTask, Missing, OrientTask, PlaceTask
from .wrapped import WrappedTask

CarriedKind = PlaceTask | OrientTask | AlongTask | LookTask
_NOWHERE = np.zeros((3, 1))


@dataclass(frozen=True, kw_only=True)
class CarriedTask(WrappedTask):
    """A `task` whose goal is given in the frame of a `joint`, and moves with that.

    What is missing depends on the tip as the joint sees it. A column that moves the joint takes the goal along, as if
    it moved the tip the other way; one that moves both changes nothing. The turn of what is missing itself is left out:
    it does not change how much that is.
    """

    task: CarriedKind
    joint: int

    def measure(self, geometry: Geometry) -> Missing:
        """Measure what the task misses with its goal where the joint has it now."""
        return self._now(geometry).measure(geometry)

    def rows(self, geometry: Geometry, axes: Numbers, measured: Missing, out: Numbers) -> None:
        """Write the rows of the task, without those of a tip that hangs on the joint."""
        task, carried = self._now(geometry), np.zeros_like(out)
        task.rows(geometry, axes, measured, out)
        task.rows(geometry, axes, measured, carried, self.joint)
        out -= carried

    def ways(self, root: Numbers, place: Numbers) -> Numbers:
        """Ways of the goal as the joint sees it."""
        return self.task.ways(IDENTITY, _NOWHERE)

    def take(self, columns: Columns) -> CarriedTask:
        """The task of those poses."""
        return replace(self, task=self.task.take(columns))

    def _now(self, geometry: Geometry) -> CarriedKind:
        """The task with its goal in armature space."""
        task, frame = self.task, geometry.frames[self.joint]
        turn, count = frame[:, :3], frame.shape[-1]

        def turned(vectors: Numbers) -> Numbers:
            return rotate(turn, np.broadcast_to(vectors, (3, count)))

        if isinstance(task, PlaceTask):
            target = task.target
            own = compose(turn, np.broadcast_to(target.turn, turn.shape))
            return replace(task, target=target._replace(turn=own, place=turned(target.place) + frame[:, 3]))
        if isinstance(task, OrientTask):
            return replace(task, rotation=compose(turn, np.broadcast_to(task.rotation, turn.shape)))
        if isinstance(task, AlongTask):
            return replace(task, direction=turned(task.direction))
        return replace(task, point=turned(task.point) + frame[:, 3])


def check_carried(body: Body, carriers: Mapping[str, str]) -> None:
    """Raise TargetError for goals of tips that no motion of the body can meet, by the joints that carry them.

    These are a goal on the limb of its own tip, which it would push ahead, and goals that hang on each other's limbs.
    """
    limbs = {name: [body.joints[joint].name for joint in body.limb(name)] for name in carriers}
    for name, joint in carriers.items():
        if joint in limbs[name]:
            raise TargetError(
                f"The target of '{name}' hangs on '{joint}', a bone of the same limb, which would push it ahead. "
                "Put it on another bone, or unparent it."
            )
    for name in carriers:
        passed, on = [name], name
        while True:
            on = next((other for other in limbs if carriers[on] in limbs[other]), "")
            if not on:
                break
            if on in passed:
                raise TargetError(
                    f"The targets of '{passed[-1]}' and '{on}' hang on each other's limbs. Put one of them elsewhere."
                )
            passed.append(on)

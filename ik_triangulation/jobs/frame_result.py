# SPDX-License-Identifier: GPL-3.0-or-later
"""Results of the frames of a solve or bake, a row for each, and the arrays of what is counted of them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict
from typing import Any, NamedTuple

import numpy as np
from mathutils import Quaternion, Vector

from ..goals import Goal
from ..kinematics import Cost, Pose
from ..kinematics.arrays import Mask, Numbers
from ..motion.path_measures import PathMeasures


class Shown(NamedTuple):
    """Location of the tip and rotation of its bone as Blender evaluates them, armature space.

    `goal` is the limb's goal where its target is now, if that has moved since it was read.
    """

    tip: Vector
    rotation: Quaternion
    goal: Goal | None = None


class FrameResult(NamedTuple):
    """One frame as it is shown: `error` is the distance from tip to target [Blender units, world space].

    `pose` is the one that was written; with an influence below 1 that is short of the `solution`. `angle` [rad] is the
    deviation of the tip from the orientation asked for; None if none is. `iterations` are those of the solver, or where
    all frames are solved together the steps of Gauss-Newton; restarts that are made together count as none. A frame
    that is not `due` is on its way, and `error` is the distance to the intermediate target of that frame.
    """

    frame: float
    error: float
    reached: bool
    iterations: int
    pose: Pose
    solution: Pose
    angle: float | None = None
    due: bool = True

    @property
    def on_limits(self) -> dict[str, list[str]]:
        """Limits that joints are at, such as "X maximum", by the bones' names."""
        pairs = zip(self.pose.chain.joints, self.pose.rotations, strict=True)
        ends = {joint.name: joint.freedom.on_limits(rotation) for joint, rotation in pairs}
        return {name: found for name, found in ends.items() if found}

    @property
    def cost(self) -> Cost:
        """Turns, total angle and travel of the solution; those of a bake add up over its frames."""
        return self.solution.cost


class JudgedFrames(Sequence[FrameResult]):
    """The results of all frames: arrays of what is counted, and a row for each, which is made when it is asked for.

    `errors` (F) and `angles` (F, or None) are those of the rows, `reached` and `due` are masks (F). `path` has costs
    and limits as arrays; it is None for results that were made as rows.
    """

    def __init__(
        self,
        row: Callable[[int], FrameResult],
        frames: Sequence[float],
        errors: Numbers,
        reached: Mask,
        due: Mask,
        angles: Numbers | None = None,
        path: PathMeasures | None = None,
    ) -> None:
        self._row, self.frames, self.path = row, frames, path
        self.errors, self.reached, self.due, self.angles = errors, reached, due, angles

    @classmethod
    def of(cls, rows: Sequence[FrameResult]) -> JudgedFrames:
        """The results in these rows."""
        if isinstance(rows, JudgedFrames):
            return rows
        angles = [np.nan if row.angle is None else row.angle for row in rows]
        asked = any(row.angle is not None for row in rows)
        return cls(
            rows.__getitem__,
            [row.frame for row in rows],
            np.array([row.error for row in rows], float),
            np.array([row.reached for row in rows], bool),
            np.array([row.due for row in rows], bool),
            np.array(angles, float) if asked else None,
        )

    def __len__(self) -> int:
        return len(self.errors)

    def __getitem__(self, index: Any) -> Any:
        indices = range(len(self))[index]
        return [self._row(k) for k in indices] if isinstance(indices, range) else self._row(indices)

    def due_only(self, due: Mask) -> JudgedFrames:
        """Return the same results, due at no other frames than these (F)."""
        both = self.due & due

        def row(k: int) -> FrameResult:
            return self._row(k)._replace(due=bool(both[k]))

        return JudgedFrames(row, self.frames, self.errors, self.reached, both, self.angles, self.path)

    def to_dicts(self) -> list[dict[str, Any]]:
        """Return each frame as plain values for JSON; of a path no rows are made for it."""
        if self.path is None:
            return [
                {
                    "frame": row.frame,
                    "due": row.due,
                    "distance": row.error,
                    "reached": row.reached,
                    "iterations": row.iterations,
                    "angle": row.angle,
                    "on_limits": row.on_limits,
                    "cost": asdict(row.cost),
                }
                for row in self
            ]
        costs, limits = self.path.costs, self.path.on_limits_at
        columns = zip(
            self.frames,
            self.due.tolist(),
            self.errors.tolist(),
            self.reached.tolist(),
            self.path.steps.tolist(),
            [None] * len(self) if self.angles is None else self.angles.tolist(),
            costs.turns.tolist(),
            costs.total_angle.tolist(),
            costs.travel.tolist(),
            strict=True,
        )
        return [
            {
                "frame": frame,
                "due": due,
                "distance": error,
                "reached": reached,
                "iterations": steps,
                "angle": angle,
                "on_limits": limits(k),
                "cost": {"turns": turns, "total_angle": total, "travel": travel},
            }
            for k, (frame, due, error, reached, steps, angle, turns, total, travel) in enumerate(columns)
        ]

    @property
    def counted(self) -> Mask:
        """The due frames; all if none is due."""
        return self.due if self.due.any() else np.ones(len(self), bool)

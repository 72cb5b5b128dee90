# SPDX-License-Identifier: GPL-3.0-or-later
"""The task of looking at a point, for many poses at once."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from ...kinematics.arrays import Columns, Numbers
from ...kinematics.batch import Geometry
from ...kinematics.batch.algebra import at, cross, dot, lengths, rotate, rotate_back
from .task import AlongTask, AngleTask, Missing, columns_of

_NEAREST = 1e-3  # of the distance that counts as much as a radian: a point nearer than that is in no direction


@dataclass(frozen=True, kw_only=True)
class LookTask(AngleTask):
    """Point `axis` (3, 1), a unit vector of the end effector, at `point` (3, F or 1), armature space.

    The look begins at `origin` (3, 1), seen from the end effector in its own axes; without it there. `up` (3, 1)
    are those of goals.look_at.
    """

    axis: Numbers
    point: Numbers
    origin: Numbers | None = None
    up: Numbers | None = None
    count = 2

    def measure(self, geometry: Geometry) -> Missing:
        """Measure the rotation vectors that are missing, by their two parts orthogonal to the axis."""
        line = self.point - self.eye(geometry)
        distance = np.maximum(lengths(line), _NEAREST * self.length)
        return self._along(line / distance).measure(geometry)

    def rows(
        self, geometry: Geometry, axes: Numbers, measured: Missing, out: Numbers, joint: int | None = None
    ) -> None:
        """Write the axes of the columns, and the turn of the line to the point that the tip's own motion makes."""
        tree, place = geometry.tree, self.eye(geometry)
        columns, joints = columns_of(tree, self.tip, joint)
        line = self.point - place
        distance = np.maximum(lengths(line), _NEAREST * self.length)
        line = line / distance
        velocity = cross(axes[columns], place - geometry.heads[joints])
        for i, across in enumerate(measured.more):
            aside = cross(across, line) / distance  # across . (line x v) / distance = aside . v
            out[i, columns] = (dot(axes[columns], across) + dot(velocity, aside)) * self.length
            out[i, len(tree.joint_of) :] = (tree.root_ways @ aside) * (self.length * tree.size)

    def ways(self, root: Numbers, place: Numbers) -> Numbers:
        """Ways of the point, at most of a direction that turns as far as the point moves."""
        return lengths(np.diff(rotate_back(root, self.point - place), axis=-1))

    def take(self, columns: Columns) -> LookTask:
        """The task of those poses."""
        return replace(self, point=at(self.point, columns), tolerance=at(self.tolerance, columns))

    def eye(self, geometry: Geometry) -> Numbers:
        """Places (3, F) where the look begins."""
        place = geometry.tip(self.tip)
        if self.origin is not None:
            place = place + rotate(geometry.tip_rotation(self.tip), np.broadcast_to(self.origin, place.shape))
        return place

    def _along(self, direction: Numbers) -> AlongTask:
        return AlongTask(
            axis=self.axis, direction=direction, length=self.length, tolerance=self.tolerance, tip=self.tip
        )

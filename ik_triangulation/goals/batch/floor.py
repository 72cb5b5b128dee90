# SPDX-License-Identifier: GPL-3.0-or-later
"""The task of keeping points of a body above a floor: a bound on one side, with no effect above it."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from ...kinematics.arrays import Columns, Indices, Numbers
from ...kinematics.batch import Geometry
from ...kinematics.batch.algebra import at, cross
from .levels import Level
from .task import Missing


@dataclass(frozen=True, kw_only=True)
class FloorTask:
    """Keep p points at least at their `heights` (p, F or 1) along `up` (3), within `tolerance` [Blender units].

    `points` (p, 3) are in the frames of their `joints` (p). Above its height a point has neither error nor rows.
    """

    joints: Indices
    points: Numbers
    up: Numbers
    heights: Numbers
    tolerance: Numbers
    level: int = Level.REACH
    tip = 0  # of no tip

    @property
    def count(self) -> int:
        """Number of rows: one for each point."""
        return len(self.joints)

    def measure(self, geometry: Geometry) -> Missing:
        """Measure how far the points are below their heights."""
        below = np.maximum(self.heights - self.above(geometry), 0.0)
        return Missing(below, below.max(0, initial=0.0))

    def above(self, geometry: Geometry) -> Numbers:
        """Heights (p, F) at which the points are."""
        heights: Numbers = np.einsum("i,pif->pf", self.up, self._places(geometry))
        return heights

    def rows(self, geometry: Geometry, axes: Numbers, measured: Missing, out: Numbers) -> None:
        """Write the velocities along `up` of the points that are too low."""
        tree, places = geometry.tree, self._places(geometry)
        root = tree.size * (tree.root_ways @ self.up)[:, None]
        for row, joint in enumerate(self.joints.tolist()):
            low = measured.errors[row] > 0.0
            if not low.any():
                continue
            columns, joints = tree.moving(joint)
            velocity = cross(axes[columns], places[row] - geometry.heads[joints])
            out[row, columns] = np.einsum("i,kif->kf", self.up, velocity) * low
            out[row, len(tree.joint_of) :] = root * low

    def ways(self, root: Numbers, place: Numbers) -> Numbers:
        """Nothing: a bound is no goal that is followed."""
        return np.zeros(0)

    def of_points(self, numbers: Indices) -> FloorTask:
        """The task of some of the points."""
        joints, points, heights = (array[numbers] for array in (self.joints, self.points, self.heights))
        return replace(self, joints=joints, points=points, heights=heights)

    def take(self, columns: Columns) -> FloorTask:
        """The task of those poses."""
        return replace(self, heights=at(self.heights, columns), tolerance=at(self.tolerance, columns))

    def at_level(self, level: int) -> FloorTask:
        """The same task with another priority."""
        return replace(self, level=level)

    def within(self, tolerance: Numbers) -> FloorTask:
        """The same task with another tolerance."""
        return replace(self, tolerance=tolerance)

    def _places(self, geometry: Geometry) -> Numbers:
        """Places of the points (p, 3, F), armature space."""
        frames, points = geometry.frames[self.joints], self.points[:, :, None, None]
        places: Numbers = frames[:, :, 3] + frames[:, :, 0] * points[:, 0]
        places += frames[:, :, 1] * points[:, 1]
        places += frames[:, :, 2] * points[:, 2]
        return places

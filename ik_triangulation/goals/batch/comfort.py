# SPDX-License-Identifier: GPL-3.0-or-later
"""Tasks of comfort for many poses of a chain at once: a low centre of gravity, and nearness to a given pose.

The formulas are those of goals.comfort, where the source is named. They can never be met, so that they are off by 0.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ...kinematics.arrays import Columns, Numbers
from ...kinematics.batch import Geometry, Tree
from ...kinematics.batch.algebra import at, compose, cross, dot, lengths, matrices, turn_vectors
from ..comfort import HANGING
from .task import AngleTask, Missing


@dataclass(frozen=True, kw_only=True)
class EffortTask(AngleTask):
    """Lower the centre of gravity of a chain: `up` (3, F or 1) is the unit direction against gravity."""

    up: Numbers
    count = 1

    def measure(self, geometry: Geometry) -> Missing:
        """Measure the height of the centre, from 0 for a chain that hangs straight down to 2 reaches."""
        middles, masses = links_of(geometry)
        reach = masses.sum(0)
        centre = (masses[:, None] * middles).sum(0) / reach
        height = dot(centre - geometry.heads[0], np.broadcast_to(self.up, centre.shape)) / reach * 2.0 + 1.0
        value = np.sqrt(2.0 * np.maximum(height, HANGING))
        return Missing((value * self.length)[None], np.zeros(len(value)), (middles, masses, value))

    def rows(self, geometry: Geometry, axes: Numbers, measured: Missing, out: Numbers) -> None:
        """Write by how much each column lowers what is beyond its joint."""
        middles, masses, value = measured.more
        moments = np.cumsum((masses[:, None] * middles)[::-1], 0)[::-1]  # of all links from one on
        beyond = np.cumsum(masses[::-1], 0)[::-1]
        levers = moments - beyond[:, None] * geometry.heads
        joints = geometry.tree.joint_of
        lowered = -dot(cross(axes, levers[joints]), np.broadcast_to(self.up, levers.shape[1:])[None])
        out[0, : len(joints)] = lowered * (2.0 * self.length / (value * masses.sum(0) ** 2))

    def ways(self, root: Numbers, place: Numbers) -> Numbers:
        """Nothing: comfort is no goal that is followed."""
        return np.zeros(0)

    def take(self, columns: Columns) -> EffortTask:
        """The task of those poses."""
        return EffortTask(length=self.length, tolerance=self.tolerance, level=self.level, up=at(self.up, columns))


@dataclass(frozen=True, kw_only=True)
class NearTask(AngleTask):
    """Keep every joint near its own one of `rotations` (n, 4, F or 1), unit quaternions from rest, of `tree`."""

    tree: Tree
    rotations: Numbers

    @property
    def count(self) -> int:
        """Number of rows: three for each joint."""
        return 3 * len(self.tree.joints)

    def measure(self, geometry: Geometry) -> Missing:
        """Measure the rotation vectors that are missing; those of joints that cannot move do not count."""
        tree, count = self.tree, len(geometry.states)
        now = geometry.frames[:, :, :3]
        turned, wanted = (
            matrices(np.ascontiguousarray(np.broadcast_to(each, (len(tree.joints), 4, count))))
            for each in (tree.rotations(geometry.states), self.rotations)
        )
        missing = np.zeros((len(tree.joints), 3, count))
        for joint in np.unique(tree.joint_of).tolist():
            socket = compose(now[joint], turned[joint].swapaxes(0, 1))
            missing[joint] = turn_vectors(compose(compose(socket, wanted[joint]), now[joint].swapaxes(0, 1)))
        return Missing(missing.reshape(-1, count) * self.length, np.zeros(count))

    def rows(self, geometry: Geometry, axes: Numbers, measured: Missing, out: Numbers) -> None:
        """Write the axes of each joint's own columns."""
        for column, joint in enumerate(self.tree.joint_of.tolist()):
            out[3 * joint : 3 * joint + 3, column] = axes[column] * self.length

    def ways(self, root: Numbers, place: Numbers) -> Numbers:
        """Nothing: comfort is no goal that is followed."""
        return np.zeros(0)

    def take(self, columns: Columns) -> NearTask:
        """The task of those poses."""
        rotations = at(self.rotations, columns)
        return NearTask(
            length=self.length, tolerance=self.tolerance, level=self.level, tree=self.tree, rotations=rotations
        )


def links_of(geometry: Geometry) -> tuple[Numbers, Numbers]:
    """Return the middles (n, 3, F) and lengths (n, F) of the links of a chain."""
    ends = np.concatenate((geometry.heads[1:], geometry.tip()[None]))
    return (geometry.heads + ends) / 2.0, lengths(ends - geometry.heads)

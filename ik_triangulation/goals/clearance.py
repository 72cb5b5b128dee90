# SPDX-License-Identifier: GPL-3.0-or-later
"""Capsules that move with a body, and the task of keeping links of a limb away from them, for many poses at once.

The error of a link in a capsule is how much nearer it is to the axis than it may be: one-sided, as obstacles are
(goals.obstacles, where the source is named). Distances are between the nearest points of two segments, so the row of a
link is the velocity of its nearest point. Source of these: Ericson 2005, "Real-Time Collision Detection", 5.1.9.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from ..kinematics.arrays import Columns, Indices, Numbers
from ..kinematics.batch import Geometry
from ..kinematics.batch.algebra import at, cross, dot, lengths
from .task import AngleTask, Missing

_ON_A_LINE = 1e-12  # of squared lengths: segments that are parallel
_LEAST = 1e-300


class Segments(NamedTuple):
    """Segments between points `begin` and `end` (..., 3, F), armature space."""

    begin: Numbers
    end: Numbers


class Nearest(NamedTuple):
    """Distances (..., F) of segments from others, their shares (..., F) where they are nearest, and the gradients
    (..., 3, F) of the distances by the places there."""

    distances: Numbers
    shares: Numbers
    gradients: Numbers


class Axes(NamedTuple):
    """The axes of c capsules in F poses (c, 3, F), the unit vectors across them, and their flatness (c).

    Along these vectors a distance counts less by the share `flat`: they are as much broader than they are deep.
    """

    segments: Segments
    across: Numbers
    flat: Numbers

    def take(self, columns: Columns) -> Axes:
        """The axes in those of the poses."""
        begin, end = (each[..., columns] for each in self.segments)
        return Axes(Segments(begin, end), self.across[..., columns], self.flat)

    def nearest(self, segments: Segments) -> Nearest:
        """Return where segments (3, F) are nearest to each of the axes (c)."""
        some = Segments(*(self._narrowed(each) for each in segments))
        others = Segments(*(self._narrowed(each) for each in self.segments))
        distances, shares, way = _nearest(some, others)
        return Nearest(distances, shares, self._narrowed(way / np.maximum(distances, _LEAST)[:, None]))

    def _narrowed(self, vectors: Numbers) -> Numbers:
        narrowed: Numbers = vectors - (self.flat[:, None] * dot(vectors, self.across))[:, None] * self.across
        return narrowed


def _nearest(some: Segments, others: Segments) -> tuple[Numbers, Numbers, Numbers]:
    """Return the distances (..., F) of segments, shares of the first ones, and the vectors to these."""
    u, v, w = some.end - some.begin, others.end - others.begin, some.begin - others.begin
    a, b, e, c, f = dot(u, u), dot(u, v), dot(v, v), dot(u, w), dot(v, w)
    s = np.clip((b * f - c * e) / np.maximum(a * e - b * b, _ON_A_LINE * (a + e) ** 2 + _LEAST), 0.0, 1.0)
    t = np.clip((b * s + f) / np.maximum(e, _LEAST), 0.0, 1.0)
    s = np.clip((b * t - c) / np.maximum(a, _LEAST), 0.0, 1.0)
    way = w + s[..., None, :] * u - t[..., None, :] * v
    return lengths(way), s, way


@dataclass(frozen=True, kw_only=True)
class ClearTask(AngleTask):
    """Keep links of a limb at `least` distances (l, c, F or 1) from c `axes`, within `tolerance` [Blender units].

    Links (l) lead from each of `joints` to the next joint, the last one to the tip. One that is away has neither error
    nor row.
    """

    axes: Axes
    least: Numbers
    joints: Indices

    @property
    def count(self) -> int:
        """Number of rows: one for each link and capsule."""
        return int(np.prod(self.least.shape[:2]))

    def measure(self, geometry: Geometry) -> Missing:
        """Measure how much too near each link is."""
        heads, places, gradients, depths = geometry.heads, [], [], []
        for joint, least in zip(self.joints.tolist(), self.least, strict=True):
            end = heads[joint + 1] if joint + 1 < len(heads) else geometry.tip(self.tip)
            near = self.axes.nearest(Segments(heads[joint], end))
            depths.append(np.maximum(least - near.distances, 0.0))
            places.append(heads[joint] + near.shares[:, None] * (end - heads[joint]))
            gradients.append(near.gradients)
        deep = np.concatenate(depths)
        return Missing(deep, deep.max(0), (np.concatenate(places), np.concatenate(gradients)))

    def rows(self, geometry: Geometry, axes: Numbers, measured: Missing, out: Numbers) -> None:
        """Write the velocities of the nearest points along the gradients."""
        tree, (places, gradients), each = geometry.tree, measured.more, self.least.shape[1]
        for row in range(self.count):
            deep = measured.errors[row] > 0.0
            if deep.any():
                columns, joints = tree.moving(int(self.joints[row // each]))
                velocity = cross(axes[columns], places[row] - geometry.heads[joints])
                out[row, columns] = dot(velocity, gradients[row][None]) * deep

    def ways(self, root: Numbers, place: Numbers) -> Numbers:
        """Nothing: what is to be avoided is no goal that is followed."""
        return np.zeros(0)

    def take(self, columns: Columns) -> ClearTask:
        """The task of those poses."""
        axes, least = self.axes.take(columns), at(self.least, columns)
        return replace(self, axes=axes, least=least, tolerance=at(self.tolerance, columns))

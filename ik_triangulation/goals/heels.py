# SPDX-License-Identifier: GPL-3.0-or-later
"""Heels that lift: a planted foot turns about its ball as far as the shin leans beyond what an ankle bends.

The ankle of a foot that stands flat bends as the shin leans ahead. People bend it by 25 to 30 degrees in a squat and
then rise onto the balls of their feet. So the orientation of a planted foot depends on the shin: flat up to a lean,
then turned along with it, with a smooth beginning. Source: none; the range is that of the weight-bearing lunge, as in
Bennell et al. 1998, "Intra-rater and inter-rater reliability of a weight-bearing lunge measure of ankle dorsiflexion".
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from math import radians
from typing import NamedTuple

import numpy as np

from ..kinematics.arrays import Columns, Numbers
from ..kinematics.batch import Geometry
from ..kinematics.batch.algebra import at, compose, cross, dot, exponential, matrices
from .orientation import OrientTask
from .task import Missing, WrappedTask

_FROM, _TO = radians(20.0), radians(34.0)  # lean of the shin at which a heel begins to lift, and to turn as the shin


class Heel(NamedTuple):
    """The joints of a leg that begin at `knee` and `ankle`, and how its planted foot lifts its heel.

    `across` (3, F or 1) is the axis of armature space about which shin and foot turn ahead, `upright` (3, F or 1) the
    direction from ankle to knee in which the ankle is not bent.
    """

    knee: int
    ankle: int
    across: Numbers
    upright: Numbers

    def shin(self, heads: Numbers) -> Numbers:
        """Vectors (3, F) from ankle to knee along which the foot may turn, of poses with these heads (n, 3, F)."""
        shin = heads[self.knee] - heads[self.ankle]
        flat: Numbers = shin - dot(shin, self.across) * self.across
        return flat

    @property
    def directions(self) -> Numbers:
        """Directions (2, 3, F or 1) in which the ends of a shin tell how far it leans: ahead, and upright."""
        upright = self.upright - dot(self.upright, self.across) * self.across
        return np.stack(np.broadcast_arrays(cross(self.across, self.upright), upright))

    def lift(self, heads: Numbers, directions: Numbers | None = None) -> tuple[Numbers, Numbers]:
        """Return angles (F) [rad] by which the foot turns, and their slopes by the lean of the shin.

        Its `directions` need not be found again.
        """
        directions = self.directions if directions is None else directions
        lean = np.arctan2(*np.einsum("kif,if->kf", directions, heads[self.knee] - heads[self.ankle]))
        slope = np.clip((lean - _FROM) / (_TO - _FROM), 0.0, 1.0)
        return np.where(lean > _TO, lean - 0.5 * (_FROM + _TO), 0.5 * (lean - _FROM) * slope), slope

    def turned(self, rotations: Numbers, heads: Numbers) -> Numbers:
        """Return rotations (3, 3, F or 1) of a foot that is flat as they are with its heel lifted."""
        turns = matrices(exponential(self.across * self.lift(heads)[0]))
        return compose(turns, rotations)

    def take(self, columns: Columns) -> Heel:
        """The heel of those poses."""
        return self._replace(across=at(self.across, columns), upright=at(self.upright, columns))


@dataclass(frozen=True, kw_only=True)
class HeelTask(WrappedTask):
    """Turn a planted foot as its `task` says, with its heel lifted as the shin leans."""

    task: OrientTask
    heel: Heel

    @property
    def length(self) -> float:
        """Distance that counts as much as one radian."""
        return self.task.length

    @cached_property
    def _directions(self) -> Numbers:
        return self.heel.directions

    @cached_property
    def _turned(self) -> tuple[Numbers, Numbers]:
        """Matrices (3, 3, F or 1) that come to the rotation by the sine of the lift, and by one minus its cosine."""
        across, flat = self.heel.across[None], self.task.rotation.swapaxes(0, 1)
        once = cross(across, flat)
        return once.swapaxes(0, 1), cross(across, once).swapaxes(0, 1)

    def measure(self, geometry: Geometry) -> Missing:
        """Measure the rotation vectors that are missing."""
        angle, slope = self.heel.lift(geometry.heads, self._directions)
        if not slope.any():
            return self.task.measure(geometry)._replace(more=(slope,))
        by_sine, by_cosine = self._turned
        rotation = self.task.rotation + np.sin(angle) * by_sine + (1.0 - np.cos(angle)) * by_cosine
        return self.task.missing_to(rotation, geometry)._replace(more=(slope,))

    def rows(self, geometry: Geometry, axes: Numbers, measured: Missing, out: Numbers) -> None:
        """Write the axes of the columns, without the turn of the foot that the shin asks for."""
        heel, heads = self.heel, geometry.heads
        self.task.rows(geometry, axes, measured, out)
        (slope,) = measured.more
        if not slope.any():
            return
        shin = heel.shin(heads)
        along = cross(heads[heel.knee] - heads[heel.ankle], cross(heel.across, shin)) / np.maximum(
            dot(shin, shin), 1e-12
        )
        columns, _ = geometry.tree.moving(heel.knee)
        leans = np.einsum("kif,if->kf", axes[columns], along * np.ones(len(slope)))
        for i in range(3):
            out[i, columns] -= self.length * heel.across[i] * slope * leans

    def ways(self, root: Numbers, place: Numbers) -> Numbers:
        """Angles of the foot's own rotation from pose to pose."""
        return self.task.ways(root, place)

    def take(self, columns: Columns) -> HeelTask:
        """The task of those poses."""
        return HeelTask(task=self.task.take(columns), heel=self.heel.take(columns))

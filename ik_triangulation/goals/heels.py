# SPDX-License-Identifier: GPL-3.0-or-later
"""Heels that lift: a planted foot turns about its ball as far as the shin leans beyond what an ankle bends.

The ankle of a foot that stands flat bends as the shin leans ahead. People bend it by 25 to 30 degrees in a squat and
then rise onto the balls of their feet. So the orientation of a planted foot depends on the shin: flat up to a lean,
then turned along with it, with a smooth beginning. Source: none; the range is that of the weight-bearing lunge, as in
Bennell et al. 1998, "Intra-rater and inter-rater reliability of a weight-bearing lunge measure of ankle dorsiflexion".
"""

from __future__ import annotations

from dataclasses import dataclass, replace
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

    def lift(self, heads: Numbers) -> tuple[Numbers, Numbers]:
        """Return angles (F) [rad] by which the foot turns, and their slopes by the lean of the shin."""
        shin = self.shin(heads)
        lean = np.arctan2(dot(cross(self.upright, shin), self.across), dot(self.upright, shin))
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

    def measure(self, geometry: Geometry) -> Missing:
        """Measure the rotation vectors that are missing."""
        return self._lifted(geometry).measure(geometry)

    def rows(self, geometry: Geometry, axes: Numbers, measured: Missing, out: Numbers) -> None:
        """Write the axes of the columns, without the turn of the foot that the shin asks for."""
        heel, heads = self.heel, geometry.heads
        self.task.rows(geometry, axes, measured, out)
        _, slope = heel.lift(heads)
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

    def _lifted(self, geometry: Geometry) -> OrientTask:
        return replace(self.task, rotation=self.heel.turned(self.task.rotation, geometry.heads))

# SPDX-License-Identifier: GPL-3.0-or-later
"""Base of the direct search methods: minimisers that compare distances and use no derivatives.

They search the space of the joints' coordinates. A place is the change of each coordinate [rad] from the pose of the
first step, clamped to its bounds. Singular poses are escaped (singularity.py), as changes of single coordinates need
not lead out of them.
"""

from abc import ABC, abstractmethod

import numpy as np
import numpy.typing as npt
from mathutils import Vector

from ..kinematics import Pose
from .jacobian import apply_changes, jacobian
from .singularity import escape

Place = npt.NDArray[np.float64]


class DirectSearch(ABC):
    """A minimiser that keeps its places from step to step: each call is one iteration towards the aim.

    The aim may change between calls.
    """

    def __init__(self) -> None:
        self._trial: Pose | None = None

    def __call__(self, pose: Pose, aim: Vector) -> None:
        """One iteration; leaves the pose at the best place."""
        joints, columns = jacobian(pose)
        if escape(pose, aim, columns):
            self._trial = None  # restart from there
            return
        if self._trial is None:
            self._trial, self._joints = pose.copy(), joints
            self.least, self.most = np.array([c.least for c in columns]), np.array([c.most for c in columns])
            self.aim = aim.copy()
            if self._joints:
                self.start()
        if self._joints:
            if aim != self.aim:
                self.aim = aim.copy()
                self.measure()
            self._apply(pose, self.iterate())

    @abstractmethod
    def start(self) -> None:
        """Choose the first places and measure them."""

    @abstractmethod
    def measure(self) -> None:
        """Measure the distances of the places again, for another aim."""

    @abstractmethod
    def iterate(self) -> Place:
        """One iteration; returns the best place."""

    def clamped(self, place: Place) -> Place:
        """Clamp a place to the bounds."""
        return np.clip(place, self.least, self.most)

    def distance(self, place: Place) -> float:
        """Distance from the end effector to the aim with the joints at `place` [Blender units]."""
        self._apply(self._trial, place)
        distance = (self.aim - self._trial.tip).length
        self._trial.restore(self._trial.start, 0)
        return float(distance)

    def _apply(self, pose: Pose, place: Place) -> None:
        apply_changes(pose, self._joints, map(float, place))

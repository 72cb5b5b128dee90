# SPDX-License-Identifier: GPL-3.0-or-later
"""What minimisers share that only compare distances: places in the space of the joints' coordinates.

A place is the change of each coordinate [rad] from the pose of the first step. Places outside the bounds are moved to
them. A deadlock is broken (singularity.py): turns of one joint at a time need not lead out of it.
"""

from abc import ABC, abstractmethod

import numpy as np
import numpy.typing as npt
from mathutils import Vector

from ..kinematics import Pose
from .jacobian import change, jacobian
from .singularity import unlock

Place = npt.NDArray[np.float64]


class Search(ABC):
    """A minimiser that remembers its places from step to step: each call is one iteration towards the aim.

    The aim may have moved since the last one.
    """

    def __init__(self) -> None:
        self._trial: Pose | None = None

    def __call__(self, pose: Pose, aim: Vector) -> None:
        """One iteration; leaves the pose at the best place."""
        joints, columns = jacobian(pose)
        if unlock(pose, aim, columns):
            self._trial = None  # it goes on from there as from a new start
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
            self._turn(pose, self.iterate())

    @abstractmethod
    def start(self) -> None:
        """Choose the first places and measure them."""

    @abstractmethod
    def measure(self) -> None:
        """Take the distances of the places anew, for another aim."""

    @abstractmethod
    def iterate(self) -> Place:
        """One iteration; returns the best place."""

    def held(self, place: Place) -> Place:
        """The place within the bounds nearest to `place`."""
        return np.clip(place, self.least, self.most)

    def distance(self, place: Place) -> float:
        """From the end effector to the aim with the joints at `place` [Blender units]."""
        self._turn(self._trial, place)
        distance = (self.aim - self._trial.tip).length
        self._trial.restore(self._trial.start, 0)
        return float(distance)

    def _turn(self, pose: Pose, place: Place) -> None:
        change(pose, self._joints, map(float, place))

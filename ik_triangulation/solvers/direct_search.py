# SPDX-License-Identifier: GPL-3.0-or-later
"""Direct search by values of the distance alone: the simplex and Rosenbrock's method.

Base of the direct search methods: minimisers that compare distances and use no derivatives. They search the space of
the joints' coordinates. A place is the change of each coordinate [rad] from the pose of the first step, clamped to its
bounds. Singular poses are escaped (jacobian.py), as changes of single coordinates need not lead out of them.

Downhill simplex: a set of one pose more than there are coordinates moves, expands and contracts towards the aim.
Source: Nelder and Mead 1965, "A simplex method for function minimization", with their coefficients: reflection 1,
expansion 2, contraction 1/2. Deviation: the coordinates are clamped to their bounds (direct_search.py).

Rosenbrock's rotating directions: steps along as many orthogonal directions as there are coordinates, rotated after each
stage towards the progress made. Source: Rosenbrock 1960, "An automatic method for finding the greatest or least value
of a function": a step that leads nearer is kept and the next step size in that direction is multiplied by 3, any other
is undone and its step size multiplied by -1/2; at the end of a stage the first new direction is that of the total
progress and the others are orthogonal to it.

Deviations: a stage ends with a round without success, not when each direction has had both a success and a failure, as
there are coordinates that do not move the tip at all (the twist of a bone); the coordinates are clamped to their bounds
(direct_search.py).
"""

from abc import ABC, abstractmethod

import numpy as np
import numpy.typing as npt
from mathutils import Vector

from ..kinematics import Pose
from .jacobian import apply_changes, escape, jacobian

Place = npt.NDArray[np.float64]

FIRST_STEP = 0.5  # [rad] each pose of the first simplex differs from the start by this in one coordinate

_FIRST_STEP = 0.1  # [rad] first step size of a stage


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


class Simplex(DirectSearch):
    """Each call is one round: as many iterations as there are coordinates, few of which find a new best place."""

    def start(self) -> None:
        # Away from a bound that is nearer than the step.
        turns = np.where(self.most >= np.minimum(FIRST_STEP, -self.least), FIRST_STEP, -FIRST_STEP)
        self.places = self.clamped(np.vstack([np.zeros(len(turns)), np.diag(turns)]))
        self.measure()

    def measure(self) -> None:
        self.distances = np.array([self.distance(place) for place in self.places])

    def iterate(self) -> Place:
        for _ in self.least:
            self._once()
        best: Place = self.places[np.argmin(self.distances)]
        return best

    def _once(self) -> None:
        """One iteration of the source."""
        order = np.argsort(self.distances, kind="stable")
        places, distances = self.places, self.distances = self.places[order], self.distances[order]
        centre = places[:-1].mean(axis=0)
        away = centre - places[-1]
        place, distance = self._try(centre + away)  # reflected
        if distance < distances[0]:
            farther, nearer = self._try(centre + 2.0 * away)  # expanded
            if nearer < distance:
                place, distance = farther, nearer
        elif distance >= distances[-2]:
            place, distance = self._try(centre + away / (2.0 if distance < distances[-1] else -2.0))  # contracted
        if distance < distances[-1]:
            places[-1], distances[-1] = place, distance
        else:
            places[1:] = (places[1:] + places[0]) / 2.0
            self.measure()

    def _try(self, place: Place) -> tuple[Place, float]:
        place = self.clamped(place)
        return place, self.distance(place)


class Rosenbrock(DirectSearch):
    """Each call is one round: one trial along each direction."""

    def start(self) -> None:
        self.place = np.zeros(len(self.least))
        self.directions = np.eye(len(self.place))  # as rows
        self.measure()
        self._begin_stage()

    def measure(self) -> None:
        self.nearest = self.distance(self.place)

    def iterate(self) -> Place:
        before = self.nearest
        for i, direction in enumerate(self.directions):
            place = self.clamped(self.place + self.sizes[i] * direction)
            distance = self.distance(place)
            if distance < self.nearest:
                self.progress[i] += place - self.place
                self.place, self.nearest = place, distance
                self.sizes[i] *= 3.0
            else:
                self.sizes[i] *= -0.5
        if self.nearest == before and self.progress.any():
            self._rotate()
            self._begin_stage()
        return self.place

    def _begin_stage(self) -> None:
        self.sizes, self.progress = np.full(len(self.place), _FIRST_STEP), np.zeros_like(self.directions)

    def _rotate(self) -> None:
        """Orthonormalise the total progress, the progress without that along the first direction, and so on."""
        sums = np.cumsum(self.progress[::-1], axis=0)[::-1]
        self.directions = np.linalg.qr(sums.T)[0].T

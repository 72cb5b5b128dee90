# SPDX-License-Identifier: GPL-3.0-or-later
"""Rosenbrock's rotating directions: steps along as many orthogonal directions as there are coordinates, rotated after
each stage towards the progress made.

Source: Rosenbrock 1960, "An automatic method for finding the greatest or least value of a function": a step that leads
nearer is kept and the next step size in that direction is multiplied by 3, any other is undone and its step size
multiplied by -1/2; at the end of a stage the first new direction is that of the total progress and the others are
orthogonal to it.

Deviations: a stage ends with a round without success, not when each direction has had both a success and a failure, as
there are coordinates that do not move the tip at all (the twist of a bone); the coordinates are clamped to their bounds
(direct_search.py).
"""

import numpy as np

from .direct_search import DirectSearch, Place

_FIRST_STEP = 0.1  # [rad] first step size of a stage


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

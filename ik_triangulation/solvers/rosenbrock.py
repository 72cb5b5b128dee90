# SPDX-License-Identifier: GPL-3.0-or-later
"""Rotating directions: try a step along each of as many directions as coordinates, then turn these along the way gone.

Source: Rosenbrock 1960, "An automatic method for finding the greatest or least value of a function": a step that leads
nearer is kept and the next one that way is 3 times as long, any other is taken back and the next one half as long the
other way; at the end of a stage the first new direction is that of the whole way gone and the others are orthogonal to
it.

Deviations: a stage ends with a round in which no step leads nearer, not when each direction has seen both, as there are
coordinates that do not move the tip at all (a bone about itself); the coordinates keep their bounds (direct_search.py).
"""

import numpy as np

from .direct_search import Place, Search

SIZE = 0.1  # rad: the first steps of a stage


class Rosenbrock(Search):
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
            place = self.held(self.place + self.sizes[i] * direction)
            distance = self.distance(place)
            if distance < self.nearest:
                self.ways[i] += place - self.place
                self.place, self.nearest = place, distance
                self.sizes[i] *= 3.0
            else:
                self.sizes[i] *= -0.5
        if self.nearest == before and self.ways.any():
            self._rotate()
            self._begin_stage()
        return self.place

    def _begin_stage(self) -> None:
        self.sizes, self.ways = np.full(len(self.place), SIZE), np.zeros_like(self.directions)

    def _rotate(self) -> None:
        """Orthonormal directions of the whole way, of the way without that along the first direction, and so on."""
        ways = np.cumsum(self.ways[::-1], axis=0)[::-1]
        self.directions = np.linalg.qr(ways.T)[0].T

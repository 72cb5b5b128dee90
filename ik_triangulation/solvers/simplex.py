# SPDX-License-Identifier: GPL-3.0-or-later
"""Downhill simplex: a set of one pose more than there are coordinates moves, expands and contracts towards the aim.

Source: Nelder and Mead 1965, "A simplex method for function minimization", with their coefficients: reflection 1,
expansion 2, contraction 1/2. Deviation: the coordinates are clamped to their bounds (direct_search.py).
"""

import numpy as np

from .direct_search import DirectSearch, Place

FIRST_STEP = 0.5  # [rad] each pose of the first simplex differs from the start by this in one coordinate


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

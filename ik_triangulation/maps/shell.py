# SPDX-License-Identifier: GPL-3.0-or-later
"""The surface around the cells of a grid that are reached.

Source: Gibson 1998, "Constrained Elastic Surface Nets": a corner between eight cells of which some are reached and some
are not, a face between two cells that differ. Each missed cell knows how far it is from what is reached, and so where
the surface crosses the line to a cell beside it; a corner is in the middle of these crossings. The corners are then
smoothed, each within its eight cells, so that the surface stays between what is reached and what is not; by the filter
of Taubin 1995, "A Signal Processing Approach to Fair Surface Design", which does not shrink what is small.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import permutations, product

import numpy as np

from ..kinematics.arrays import Indices, Mask, Numbers

_CELLS = tuple(product((0, 1), repeat=3))  # around a corner
_ROUNDS = 4
_FACTORS = 0.5, -0.53  # of each round: smooth, then swell
_CROSSING = 0.05, 0.95  # of the way from a missed cell to the reached one beside it


@dataclass(frozen=True)
class Shell:
    """Corners (n, 3) of a closed surface, and its quads (m, 4), counter-clockwise from outside.

    `around` (8, n) are the numbers of the reached cells among the eight around a corner, in order; -1 for others.
    """

    corners: Numbers
    faces: Indices
    around: Indices

    def spread(self, values: Numbers) -> Numbers:
        """Return for each corner (n) the mean of the values of the reached cells around it; each of these has one."""
        there = self.around >= 0
        means: Numbers = np.where(there, values[self.around], 0.0).sum(0) / there.sum(0)
        return means


def shell_around(distances: Numbers, first: Numbers, spacing: float) -> Shell:
    """Return the surface around the reached cells of a grid: those with a distance of 0.

    `distances` (a, b, c) are those of the cells from what is reached, and more than 0 at all sides of the grid; `first`
    (3) is the centre of its first cell, `spacing` the size of each [all in the same unit].
    """
    reached = distances == 0.0
    numbers = np.where(reached, np.cumsum(reached).reshape(reached.shape) - 1, -1)
    eight, away = _eight(numbers), _eight(distances)
    mixed = (eight >= 0).any(0) & (eight < 0).any(0)
    around = eight[:, mixed]
    if not around.size:
        return Shell(np.zeros((0, 3)), np.zeros((0, 4), np.intp), around)
    named = np.full(mixed.shape, -1, np.intp)
    named[mixed] = np.arange(around.shape[1])
    faces = np.concatenate([_faces(reached, named, axis) for axis in range(3)])
    cells = np.argwhere(mixed)
    corners = _smoothed(cells + _crossings(around >= 0, away[:, mixed] / spacing), cells, faces)
    return Shell(corners * spacing + first, faces, around)


def _eight(values: Numbers) -> Numbers:
    """Return the values (8, a - 1, b - 1, c - 1) at the eight cells around each corner, in the order of _CELLS."""
    return np.array(
        [values[tuple(slice(s, n - 1 + s) for s, n in zip(shift, values.shape, strict=True))] for shift in _CELLS]
    )


def _crossings(reached: Mask, away: Numbers) -> Numbers:
    """Return the means (n, 3) of the places where the surface crosses the edges between eight cells.

    `reached` and `away` (8, n) are of the cells, whose places are _CELLS; `away` is in cells.
    """
    total, count = np.zeros((3, reached.shape[1])), np.zeros(reached.shape[1])
    for one, other in permutations(range(8), 2):
        step = np.subtract(_CELLS[other], _CELLS[one])
        if abs(step).sum() == 1:  # an edge, from a missed cell to a reached one
            there = ~reached[one] & reached[other]
            place = np.array(_CELLS[one])[:, None] + step[:, None] * np.clip(away[one], *_CROSSING)
            total += np.where(there, place, 0.0)
            count += there
    means: Numbers = (total / count).T
    return means


def _faces(reached: Mask, named: Indices, axis: int) -> Indices:
    """Return the quads (m, 4) between cells that differ along an axis."""
    # Axes in cyclic order, so that a quad that goes round from the second to the third faces along the first.
    order = axis, (axis + 1) % 3, (axis + 2) % 3
    turned, names = reached.transpose(order), named.transpose(order)
    before, after = turned[:-1], turned[1:]
    found = []
    for low, high, around in ((before, after, 1), (after, before, -1)):
        a, b, c = np.nonzero(low & ~high)
        quad = np.stack([names[a, b - 1, c - 1], names[a, b, c - 1], names[a, b, c], names[a, b - 1, c]], axis=1)
        found.append(quad[:, ::around])
    return np.concatenate(found)


def _smoothed(corners: Numbers, cells: Indices, faces: Indices) -> Numbers:
    """Return the corners (n, 3) nearer to those beside them, each within its eight cells, of which `cells` is first."""
    ends = np.unique(np.sort(np.stack((faces, np.roll(faces, -1, axis=1)), axis=-1).reshape(-1, 2), axis=1), axis=0)
    one, other = np.concatenate((ends, ends[:, ::-1])).T
    count = len(corners)
    degree = np.bincount(one, minlength=count)[:, None]
    for factor in _FACTORS * _ROUNDS:
        sums = np.stack([np.bincount(one, corners[other, axis], count) for axis in range(3)], axis=1)
        corners = np.clip(corners + factor * (sums / degree - corners), cells, cells + 1.0)
    return corners

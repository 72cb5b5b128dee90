# SPDX-License-Identifier: GPL-3.0-or-later
"""Targets on a grid: which of them lie side by side, and a coarser grid of the same targets."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product

import numpy as np

from ..kinematics.arrays import Indices, Mask


@dataclass(frozen=True)
class Grid:
    """Cells of a square or a cube, in order; `mask` tells which of them hold a target, `spacing` is their distance.

    `spacing` is a share of the reach.
    """

    mask: Mask
    spacing: float

    def neighbours(self) -> Indices:
        """Number of the target in each of the cells around a target (8 or 26, F); -1 where there is none."""
        padded = np.pad(self.mask, 1)
        numbers = np.full(padded.shape, -1, np.intp)
        numbers[padded] = np.arange(np.count_nonzero(self.mask))
        cells = np.nonzero(padded)
        shifts = [shift for shift in product((-1, 0, 1), repeat=self.mask.ndim) if any(shift)]
        return np.array(
            [numbers[tuple(cell + step for cell, step in zip(cells, shift, strict=True))] for shift in shifts]
        )

    def coarse(self, distance: float) -> Mask:
        """Targets (F) of the widest grid whose cells are at most `distance` apart, a share of the reach; at least all
        targets of this grid.
        """
        stride = max(1, int(distance / self.spacing))
        cells = np.nonzero(self.mask)
        chosen: Mask = np.all([cell % stride == stride // 2 for cell in cells], axis=0)
        return chosen

# SPDX-License-Identifier: GPL-3.0-or-later
"""Many poses of one tree of joints, as arrays."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ..arrays import Columns, Numbers
from .algebra import at


@dataclass
class States:
    """F poses of a tree. Arrays whose last axis is 1 hold for all of them.

    `angles` (m, F) [rad] are the coordinates of the joints with limits, always inside them; `balls` (b, 4, F) the
    rotations of the joints without limits; `held` (h, 4, F or 1) those of locked joints. `root` (3, 3, F or 1) and
    `place` (3, F or 1) are orientation and location of the frame that the root hangs in, armature space.
    """

    angles: Numbers
    balls: Numbers
    held: Numbers
    root: Numbers
    place: Numbers

    def __len__(self) -> int:
        """Number of poses."""
        return int(self.angles.shape[-1])

    def take(self, columns: Columns) -> States:
        """Those of the poses; through a slice they are seen, not copied."""
        return States(
            self.angles[:, columns],
            self.balls[..., columns],
            at(self.held, columns),
            at(self.root, columns),
            at(self.place, columns),
        )

    def put(self, columns: Columns, other: States) -> None:
        """Replace the rotations of poses, and their places where each has its own."""
        self.angles[:, columns], self.balls[..., columns] = other.angles, other.balls
        if self.place.shape[-1] == len(self):
            self.place[:, columns] = other.place

    def own_places(self) -> None:
        """Give each pose a place of its own, for a root that moves: one that all share could not be replaced."""
        if self.place.shape[-1] != len(self):
            self.place = np.repeat(self.place, len(self), -1)

    def copy(self) -> States:
        """The same poses; changing them leaves these as they are."""
        return States(self.angles.copy(), self.balls.copy(), self.held, self.root, self.place.copy())

    def like(self, other: States) -> States:
        """These rotations in the frames, and with the locked joints, of other poses."""
        return States(self.angles, self.balls, other.held, other.root, other.place)


def joined(parts: Sequence[States]) -> States:
    """The poses of all parts, one after the other."""

    def together(arrays: Sequence[Numbers]) -> Numbers:
        each = zip(arrays, parts, strict=True)
        return np.concatenate([np.broadcast_to(array, (*array.shape[:-1], len(part))) for array, part in each], -1)

    return States(
        together([part.angles for part in parts]),
        together([part.balls for part in parts]),
        together([part.held for part in parts]),
        together([part.root for part in parts]),
        together([part.place for part in parts]),
    )

# SPDX-License-Identifier: GPL-3.0-or-later
"""Summary of one tip over all frames, the same for limbs and for the tips of bodies: what reports list at their top."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple


class TipSummary(NamedTuple):
    """A tip at all frames of a solve, a bake or a reach, as Blender shows it.

    Distances are in Blender units in world space, angles in degrees. `held` tips are measured from the place where they
    should stay, the others from their target. `missed` are the frames at which the tip was not there, `reached` is true
    if there are none. `largest_angle` is None where no rotation counts. `worst_frame` is that of the largest distance.
    """

    armature: str
    tip: str
    held: bool
    reached: bool
    missed: Sequence[float]
    largest_distance: float
    median_distance: float
    largest_angle: float | None
    worst_frame: float


def missed_frames_of(tips: Iterable[TipSummary]) -> list[float]:
    """Return the frames at which any of the tips was missed, in order."""
    return sorted({frame for tip in tips for frame in tip.missed})

# SPDX-License-Identifier: GPL-3.0-or-later
"""The side to which a limb bends, frame by frame, as a pole shows it: continuous where the limb is nearly straight."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..kinematics.arrays import Array, smoothstep
from ..solvers.natural.swivel import solved_tridiagonal

_STRAIGHT, _BENT = 0.0005, 0.004  # of the reach: elbows this near the line do not tell a side, and do tell it
_STIFFNESS = 0.01  # of turns of a pole, by the squared displacement of the elbow that they save [1/rad^2, a frame]
_HINGED = 0.002  # of the reach: height of an elbow that counts as much as its hinge
_TELLING = 5.0  # times that height: elbows that tell how often a limb has turned round
_ROUNDS = 4  # in which turns settle on a number of whole ones
_SLOPES = (0.05, 4.0)  # of squared heights by scales
_SCALES = (0.5, 2.0)
_SAME = 1e-7  # difference of scales that says nothing
_NONE = 1e-9  # of the reach


class Bend(NamedTuple):
    """Places of root, elbow and wrist (F x 3 each) of a limb of a `reach`, in any one unit and space."""

    roots: Array
    elbows: Array
    wrists: Array
    reach: float

    @property
    def lines(self) -> Array:
        """Unit vectors (F x 3) from root to wrist; that of an upper bone where these are at one place."""
        lines = self.wrists - self.roots
        none = np.linalg.norm(lines, axis=1) <= _NONE * self.reach
        return _units(np.where(none[:, None], self.elbows - self.roots, lines))

    @property
    def offsets(self) -> Array:
        """Vectors (F x 3) from the line of root and wrist to the elbow."""
        return across(self.elbows - self.roots, self.lines)

    @property
    def upper_lengths(self) -> Array:
        """Distances (F) from root to elbow."""
        return np.asarray(np.linalg.norm(self.elbows - self.roots, axis=1))

    @property
    def shares(self) -> Array:
        """Shares (F) by which the elbow tells the side of the bend: from 0 where it is on the line to 1."""
        height = np.linalg.norm(self.offsets, axis=1) / self.reach
        return smoothstep((height - _STRAIGHT) / (_BENT - _STRAIGHT))


def bend_sides(bend: Bend, hinges: Array) -> Array:
    """Return unit vectors (F x 3) orthogonal to the line from root to wrist, to the side of the elbow.

    Where the limb is nearly straight they go over to `hinges` (F x 3), to which its hinge would bend it.
    """
    shares, hinged = bend.shares[:, None], _units(across(hinges, bend.lines))
    return _units(shares * _units(bend.offsets) + (1.0 - shares) * hinged)


def calm_sides(bend: Bend, hinges: Array, frames: Array) -> Array:
    """Return unit vectors (F x 3) as bend_sides() does, but to the side of the elbow without sudden turns.

    Upper and lower part of a limb are twisted as its bend is, though the elbow of a limb that is not bent about its
    hinge alone may go to another side at once. The angles a from the sides of the `hinges` minimise the sum of
    h^2 (a - b)^2 + e^2 a^2 over the frames, where elbows are at heights h [of the reach] on sides at angles b, and of
    the squared changes of a per frame, times a stiffness. Source: none (regularised least squares).
    """
    lines, hinged = bend.lines, _units(across(hinges, bend.lines))
    heights = np.linalg.norm(bend.offsets, axis=1) / bend.reach
    to_elbows = turns_between(hinged, _units(bend.offsets), lines)
    pulls, side = heights**2, np.zeros(len(heights))
    side[:-1] = -_STIFFNESS / np.diff(frames) ** 2
    diagonal = pulls + _HINGED**2 - side - np.roll(side, 1)
    bent = np.flatnonzero(heights > _TELLING * _HINGED)
    angles = np.interp(np.arange(len(heights)), bent, np.unwrap(to_elbows[bent])) if len(bent) else to_elbows
    angles = angles - 2.0 * np.pi * np.round(float(np.median(angles)) / (2.0 * np.pi))
    for _ in range(_ROUNDS):
        near = to_elbows + 2.0 * np.pi * np.round((angles - to_elbows) / (2.0 * np.pi))
        angles = solved_tridiagonal(diagonal, side, pulls * near, False)
    return turned_about(hinged, lines, angles)


def turns_between(sides: Array, others: Array, lines: Array) -> Array:
    """Return the angles (F) [rad] about the lines by which each side is turned to the other."""
    sines = np.einsum("ij,ij->i", np.cross(sides, others), lines)
    return np.asarray(np.arctan2(sines, np.einsum("ij,ij->i", sides, others)))


def turned_about(sides: Array, lines: Array, angles: Array) -> Array:
    """Return vectors (F x 3) orthogonal to unit vectors, turned about these by angles (F) [rad]."""
    cosine, sine = np.cos(angles)[:, None], np.sin(angles)[:, None]
    return np.asarray(sides * cosine + np.cross(lines, sides) * sine)


def mean_angle(angles: Array, weights: Array) -> float:
    """Return the weighted mean of angles [rad]; 0 if no weight is greater than 0."""
    if not weights.any():
        return 0.0
    return float(np.arctan2(weights @ np.sin(angles), weights @ np.cos(angles)))


class StretchSearch:
    """Search for the scale of both bones of a limb with which its elbow is as far from the line as it should be.

    That tells more than the length of the bones where the limb is nearly straight, as little length makes much of a
    bend there. A secant search for each frame: Blender's stretch answers to the scale by an unknown amount.
    """

    def __init__(self, wanted: Bend) -> None:
        self._wanted = wanted
        self.scales = np.ones(len(wanted.roots))
        self._before: tuple[Array, Array] | None = None  # scales, and what was too much with them

    def step(self, shown: Bend) -> float:
        """Change the scales (F) by how the limb is shown with the present ones; return by how much that was off."""
        heights, wanted = (np.linalg.norm(each.offsets, axis=1) for each in (shown, self._wanted))
        off = (heights**2 - wanted**2) / np.maximum(self._wanted.upper_lengths, _NONE * shown.reach) ** 2
        slopes = np.full(len(off), 2.0)  # of squares, for bones that are not stretched
        if self._before is not None:
            change, answer = self.scales - self._before[0], off - self._before[1]
            known = np.abs(change) > _SAME
            slopes[known] = np.clip(answer[known] / change[known], *_SLOPES)
        self._before = self.scales, off
        self.scales = np.clip(self.scales - off / slopes, *_SCALES)
        return float(np.abs(off).max())


def across(vectors: Array, lines: Array) -> Array:
    """Return the parts of vectors (F x 3) orthogonal to unit vectors."""
    return np.asarray(vectors - lines * np.einsum("ij,ij->i", vectors, lines)[:, None])


def _units(vectors: Array) -> Array:
    return np.asarray(vectors / np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1e-30))

# SPDX-License-Identifier: GPL-3.0-or-later
"""Joint limits learned from a recorded motion.

The hinge axis is the principal axis of the rotations from rest: the eigenvector for the largest eigenvalue of the
second moments of the quaternions' vector parts, which do not depend on the quaternions' sign. Ranges are percentiles of
the angles over time, unwrapped, with the one of both Euler triples of a rotation that is continuous.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import degrees, dist, inf, radians, tau

import numpy as np
from mathutils import Quaternion, Vector
from numpy.typing import ArrayLike

from ..errors import SettingError
from ..items import OFF_AXIS, SHARE
from ..kinematics import EulerLimits, Freedom, Hinge, Locked
from ..kinematics.arrays import Array
from ..kinematics.rotation import other_euler, to_euler

_STILL = radians(0.1)  # [rad] rotation up to which a joint counts as not moving
_MOST = 95.0  # [%] of the rotations that have to be near those of a hinge


@dataclass(frozen=True)
class Learned:
    """A `freedom` learned from the rotations at a number of `frames`.

    95 % of the rotations are within `strays` [rad] of a rotation about the principal axis alone.
    """

    freedom: Freedom
    frames: int
    strays: float

    def __str__(self) -> str:
        past = f"from {self.frames} frame{'s' if self.frames != 1 else ''}"
        if isinstance(self.freedom, Hinge):
            axis = ", ".join(f"{round(self.freedom.axis[i], 2) + 0.0:.2f}" for i in range(3))  # no -0.00
            turns = _range_text(self.freedom.lower, self.freedom.upper)
            return f"hinge about ({axis}), {turns}, {past}, strays {degrees(self.strays):.1f}°"
        if isinstance(self.freedom, EulerLimits):
            ends = zip("XYZ", self.freedom.lower, self.freedom.upper, strict=True)
            ranges = ", ".join(f"{letter} {_range_text(low, high)}" for letter, low, high in ends)
            return f"{self.freedom.order} Euler, {ranges}, {past}, strays {degrees(self.strays):.1f}° from one axis"
        return f"does not turn, {past}"


def learn_freedom(
    rotations: ArrayLike,
    order: str,
    off_axis: float = OFF_AXIS,
    share: float = SHARE,
    margin: float = 0.0,
    triples: ArrayLike | None = None,
) -> Learned:
    """Learn the freedom of a joint from its `rotations` over time: quaternions wxyz from rest (frames x 4).

    The result is a hinge if 95 % of the rotations deviate less than `off_axis` [rad] from one about its axis, locked if
    the joint rotates by less than 0.1 degrees, else Euler limits in Blender's `order`. Ranges contain `share` [%] of
    the angles, with half of the others omitted at each end, and are widened by `margin` [rad] at both. `triples` are
    the Euler angles [rad] of the rotations (frames x 3) if known: at the poles of the middle axis rotations do not
    determine them. Raises SettingError for a share that is no percentage or a negative margin.
    """
    if not 0.0 < share <= 100.0 or margin < 0.0:
        raise SettingError(f"Share {share:g} and margin {margin:g} describe no range. Use 1 to 100 % and at least 0.")
    quaternions: Array = np.asarray(rotations, float)
    quaternions = quaternions / np.linalg.norm(quaternions, axis=1, keepdims=True)
    axis, angles, strays = _about_axis(quaternions)
    if _greatest_turn(quaternions) < _STILL:
        return Learned(Locked(), len(quaternions), strays)
    if strays < off_axis:
        return Learned(Hinge(Vector(axis.tolist()), *_range(angles, share, margin)), len(quaternions), strays)
    if triples is None:
        triples = [to_euler(Quaternion(rotation), order) for rotation in quaternions]
    x, y, z = (_range_or_frozen(column, share, margin) for column in _unwrapped(np.asarray(triples), order).T)
    lower, upper = zip(x, y, z, strict=True)
    return Learned(EulerLimits(order, lower, upper), len(quaternions), strays)


def _greatest_turn(quaternions: Array) -> float:
    """Greatest angle [rad] from the first rotation."""
    agreement = np.where(quaternions @ quaternions[0] < 0.0, -1.0, 1.0)
    chords = np.linalg.norm(quaternions * agreement[:, None] - quaternions[0], axis=1)
    return 4.0 * float(np.arcsin(chords.max() / 2.0))


def _about_axis(quaternions: Array) -> tuple[Array, Array, float]:
    """Principal axis, angles about it over time [rad], and the deviation of 95 % of the rotations from it [rad].

    The sign of the axis makes the mean angle positive.
    """
    real, vectors = quaternions[:, 0], quaternions[:, 1:]
    _, axes = np.linalg.eigh(vectors.T @ vectors)
    axis = axes[:, -1]
    along = vectors @ axis
    angles = _in_first_turn(np.unwrap(2.0 * np.arctan2(along, real)))
    aside = np.linalg.norm(vectors - np.outer(along, axis), axis=1)
    strays = float(np.percentile(2.0 * np.arctan2(aside, np.hypot(along, real)), _MOST))
    return (axis, angles, strays) if angles.mean() >= 0.0 else (-axis, -angles, strays)


def _unwrapped(triples: Array, order: str) -> Array:
    """Unwrap Euler angles: of all triples of the same rotation the one nearest to the last, at first to 0."""
    rows: list[Sequence[float]] = []
    previous: Sequence[float] = (0.0, 0.0, 0.0)
    for triple in triples.tolist():
        both = [_whole_turns(angles, previous) for angles in (triple, other_euler(triple, order))]
        previous = min(both, key=lambda angles: dist(angles, previous))
        rows.append(previous)
    return np.column_stack([_in_first_turn(column) for column in np.array(rows).T])


def _whole_turns(angles: Sequence[float], previous: Sequence[float]) -> list[float]:
    return [angle + tau * round((before - angle) / tau) for angle, before in zip(angles, previous, strict=True)]


def _in_first_turn(angles: Array) -> Array:
    """Move all angles by the same number of whole turns, so that the median is nearest to 0."""
    moved: Array = angles - tau * round(float(np.median(angles)) / tau)
    return moved


def _range(angles: Array, share: float, margin: float) -> tuple[float, float]:
    tail = (100.0 - share) / 2.0
    low, high = np.percentile(angles, (tail, 100.0 - tail))
    lower, upper = float(low) - margin, float(high) + margin
    return (-inf, inf) if upper - lower >= tau else (lower, upper)


def _range_or_frozen(angles: Array, share: float, margin: float) -> tuple[float, float]:
    lower, upper = _range(angles, share, margin)
    return ((lower + upper) / 2.0,) * 2 if upper - lower < _STILL else (lower, upper)


def _range_text(lower: float, upper: float) -> str:
    return "all round" if lower == -inf else f"{degrees(lower):.0f}° to {degrees(upper):.0f}°"

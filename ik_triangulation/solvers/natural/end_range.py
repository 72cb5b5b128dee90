# SPDX-License-Identifier: GPL-3.0-or-later
"""Coordinates of a hand or foot inside its limits: Euler angles, an angle about a hinge, or swing vector and twist.

In these coordinates the range is convex (a box, or a disc and an interval), which the rotations inside it are not: the
nearest rotation to one outside leaps from corner to corner, and the shortest turn from one end of the twist to the
other leads out of the range. Frames are the last axis of every array.
"""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

import numpy as np

from ...kinematics import Cone, EulerLimits, Freedom, Hinge
from ...kinematics.arrays import Numbers
from ...kinematics.batch.algebra import lengths
from ...kinematics.batch.cones import Cones
from ...kinematics.batch.coordinates import Coordinates, EulerAngles, Hinges, bounded
from ..batch.swings import Swing

_BONE = 1  # the axis about which an end twists: its Y axis
_WIDE = np.radians(120.0)  # of a twist that is looked at in parts
_PARTS = 3
_FIXED = 1e9  # curvature that leaves a coordinate where it is
_ON_END = 1e-9  # [rad]


class EndRange:
    """The limits of an end, with `size` coordinates from `lower` to `upper` (size, 1) [rad]."""

    def __init__(self, freedom: Freedom) -> None:
        freedom = bounded(freedom)
        self._kind: Coordinates
        if isinstance(freedom, Hinge):
            self._kind = Hinges([0], [freedom], 0)
        elif isinstance(freedom, EulerLimits):
            self._kind = EulerAngles([0], [freedom], 0)
        else:
            assert isinstance(freedom, Cone)
            self._kind = Cones([0], [freedom], 0)
        self._opening = freedom.swing if isinstance(freedom, Cone) else None
        self.lower, self.upper = self._kind.lower, self._kind.upper
        self.size = len(self.lower)
        self._endless = np.isinf(self.upper - self.lower)
        self._whole = Swing(freedom)
        self._parts = [Swing(each) for each in _split(freedom)]

    def quaternions(self, values: Numbers) -> Numbers:
        """Rotations (4, F) at coordinates (size, F)."""
        found: Numbers = self._kind.quaternions(values)[0]
        return found

    def nearest(self, rotations: Numbers) -> Numbers:
        """Coordinates (size, F) of the allowed rotations nearest to unit quaternions (4, F)."""
        return self._whole.nearest(rotations)[1]

    @property
    def parts(self) -> int:
        """Number of parts of the range: where the twist is wide there are several, from one end of it to the other."""
        return len(self._parts)

    def nearest_in_part(self, part: int, rotations: Numbers) -> Numbers:
        """The same inside one part of the range."""
        return self._parts[part].nearest(rotations)[1]

    def inside(self, values: Numbers) -> Numbers:
        """Coordinates moved inside their range."""
        values = np.clip(values, self.lower, self.upper)
        if self._opening is not None:
            swing = lengths(values[:2])
            values[:2] *= np.minimum(1.0, self._opening / np.maximum(swing, 1e-300))
        return values

    def difference(self, after: Numbers, before: Numbers) -> Numbers:
        """Change of coordinates (size, ...) within the range; at most half a turn about an axis without ends."""
        change = after - before
        if self._endless.any():
            endless = self._endless.reshape(-1, *[1] * (change.ndim - 1))
            change = np.where(endless, change - 2.0 * np.pi * np.rint(change / (2.0 * np.pi)), change)
        return change

    def hold_ends(self, values: Numbers, slope: Numbers, curvature: Numbers) -> None:
        """Keep Newton's method from stepping out of the range, in place.

        `slope` (F, size) and `curvature` (F, size, size) are those of the cost at coordinates (size, F). A coordinate
        that is at an end of its range, and that the cost pulls on outwards, is left where it is; of a swing on the edge
        of a cone its part across the edge.
        """
        rows = np.arange(self.size)
        pull = slope.T
        out = ((values <= self.lower + _ON_END) & (pull > 0.0)) | ((values >= self.upper - _ON_END) & (pull < 0.0))
        if self._opening is not None:
            out[:2] = False
            swing = np.maximum(lengths(values[:2]), 1e-300)
            outward = (values[:2] / swing).T
            along = (outward * slope[:, :2]).sum(1)
            edge = np.flatnonzero((swing >= self._opening - _ON_END) & (along < 0.0))
            slope[edge, :2] -= outward[edge] * along[edge, None]
            curvature[edge, :2, :2] += _FIXED * outward[edge, :, None] * outward[edge, None, :]
        slope[out.T] = 0.0
        curvature[:, rows, rows] += np.where(out.T, _FIXED, 0.0)


def _split(freedom: Freedom) -> list[Freedom]:
    """Parts of a range whose twist is wide, or the whole of it."""
    if isinstance(freedom, EulerLimits):
        low, high = freedom.lower[_BONE], freedom.upper[_BONE]
    elif isinstance(freedom, Cone):
        low, high = freedom.twist_lower, freedom.twist_upper
    else:
        return [freedom]
    if not np.isfinite(high - low) or high - low < _WIDE:
        return [freedom]
    ends = np.linspace(low, high, _PARTS + 1).tolist()
    pairs = list(pairwise(ends))
    if isinstance(freedom, Cone):
        return [replace(freedom, twist_lower=a, twist_upper=b) for a, b in pairs]
    return [replace(freedom, lower=_with(freedom.lower, a), upper=_with(freedom.upper, b)) for a, b in pairs]


def _with(angles: tuple[float, float, float], twist: float) -> tuple[float, float, float]:
    return angles[0], twist, angles[2]

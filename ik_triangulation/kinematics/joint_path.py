# SPDX-License-Identifier: GPL-3.0-or-later
"""Interpolation of a joint between two rotations, inside its limits throughout."""

from __future__ import annotations

from collections.abc import Callable

from mathutils import Quaternion

from .euler_limits import EulerLimits
from .framed import unframed
from .freedom import Freedom
from .hinge import Hinge

JointPath = Callable[[float], Quaternion]

_SAMPLES = 16  # intervals between which the shortest path is checked against the limits


def joint_path(freedom: Freedom, start: Quaternion, end: Quaternion) -> JointPath:
    """Return a function of a share (0 to 1) that interpolates between two allowed rotations.

    It follows the shortest path (slerp) if all of that is allowed, else it interpolates the angles of the degrees of
    freedom: their range has no gap, so a hinge from 100 to -100 degrees goes back through 0 and does not cross the
    forbidden angles.
    """
    shares = [number / _SAMPLES for number in range(1, _SAMPLES)]
    shortest = [start.slerp(end, share) for share in shares]
    if not all(map(freedom.allows, shortest)) and isinstance(unframed(freedom), Hinge | EulerLimits):
        first, last = ([c.value for c in freedom.coordinates(rotation)] for rotation in (start, end))
        return lambda share: freedom.at(start, [a + (b - a) * share for a, b in zip(first, last, strict=True)])
    return lambda share: freedom.nearest(start.slerp(end, share))

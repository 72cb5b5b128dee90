# SPDX-License-Identifier: GPL-3.0-or-later
"""The way of a joint from one rotation to another, inside its freedom all along."""

from __future__ import annotations

from collections.abc import Callable

from mathutils import Quaternion

from .euler_limits import EulerLimits
from .freedom import Freedom
from .hinge import Hinge

Way = Callable[[float], Quaternion]

_LOOKS = 16  # places at which it is looked whether the shortest way is allowed


def way(freedom: Freedom, start: Quaternion, end: Quaternion) -> Way:
    """The rotation at a share (0 to 1) of the way from one allowed rotation to another.

    The shortest way (slerp), if that is allowed. Where limits cut it, the way in angles: their range has no gap, so a
    hinge from 100 to -100 degrees goes back through 0 and does not jump across what is not allowed.
    """
    shares = [number / _LOOKS for number in range(1, _LOOKS)]
    shortest = [start.slerp(end, share) for share in shares]
    cut = any(freedom.nearest(rotation) is not rotation for rotation in shortest)
    if cut and isinstance(freedom, Hinge | EulerLimits):
        first, last = ([c.value for c in freedom.coordinates(rotation)] for rotation in (start, end))
        return lambda share: freedom.at(start, [a + (b - a) * share for a, b in zip(first, last, strict=True)])
    return lambda share: freedom.nearest(start.slerp(end, share))

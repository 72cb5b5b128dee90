# SPDX-License-Identifier: GPL-3.0-or-later
"""The share that a shoulder girdle takes in the elevation of an arm, and what it brings the shoulder nearer.

Source: Inman, Saunders and Abbott 1944, "Observations on the function of the shoulder joint". Deviation: it is faded in
with the distance of what the arm reaches for, and goes ahead for what is across as it goes up for what is overhead.
"""

from __future__ import annotations

from math import radians

import numpy as np

from ...kinematics.arrays import Numbers
from ...kinematics.batch.algebra import cross, dot, exponential, lengths, matrices, normalized

# The girdle turns by this share of the angle to its goal, faded in with the distance in arm's lengths, up to a range.
_SHARE, _FROM, _OVER, _RANGE = 0.28, 0.55, 0.4, radians(24.0)
_NEAR = 0.25  # of an arm's length: way of a hand on which a girdle is not yet moved in full
_LOW, _FADING = 0.3, 0.4  # share of a direction that is down from which on a girdle turns less, as it hardly goes down


def turn_of_girdle(link: Numbers, to: Numbers, way: Numbers, up: Numbers, length: float) -> Numbers:
    """Return the rotation vectors (3, F) of a girdle towards what its arm of this length reaches for.

    `link` (3, F) leads from the girdle's joint to the shoulder, `to` (3, F) from the shoulder to the place, and `way`
    (3, F) to the place from where the hand was.
    """
    far = lengths(to)
    share = np.clip((far / length - _FROM) / _OVER, 0.0, 1.0) * np.clip(lengths(way) / (_NEAR * length), 0.0, 1.0)
    down = -dot(to, up) / np.maximum(far, 1e-300)
    share = share * np.clip(1.0 - (down - _LOW) / _FADING, 0.0, 1.0)
    axis = cross(link, to)
    angle = np.arctan2(lengths(axis), dot(link, to))
    turn: Numbers = normalized(axis) * np.clip(_SHARE * share * angle, 0.0, _RANGE)
    return turn


def nearer_by_girdle(link: Numbers, to: Numbers, turn: Numbers) -> Numbers:
    """Return by how much (F) a turn of the girdle brings the shoulder nearer to the place."""
    moved = np.einsum("ijf,jf->if", matrices(exponential(turn)), link) - link
    nearer: Numbers = np.maximum(lengths(to) - lengths(to - moved), 0.0)
    return nearer

# SPDX-License-Identifier: GPL-3.0-or-later
"""Freedoms and rotations for the tests of joints and their limits."""

from math import inf, pi, radians, tau

import pytest

from ik_triangulation.kinematics.rotation import about

from ..chains import random_rotation

RANGES = {
    "around rest": (-0.5, 1.2),
    "from rest": (0.0, 2.6),
    "one angle": (0.4, 0.4),
    "rest itself": (0.0, 0.0),
    "without rest": (0.7, 1.3),
    "without rest, negative": (-2.4, -0.2),
    "across half a turn": (radians(150.0), radians(210.0)),
    "across minus half a turn": (radians(-200.0), radians(-140.0)),
    "from half a turn": (pi, radians(250.0)),
    "beyond half a turn": (-0.3, 5.0),
    "far round": (10.0, 11.0),
    "a full turn": (-pi, pi),
    "beyond a full turn": (-4.0, 4.0),
    "only from below": (0.5, inf),
    "only from above": (-inf, -0.5),
    "no limit": (-inf, inf),
}
every_range = pytest.mark.parametrize(("lower", "upper"), RANGES.values(), ids=list(RANGES))


def rotations(random, axis, count):
    """Rotations of all kinds: any, those about an axis, and some with the other sign."""
    for n in range(count):
        rotation = random_rotation(random) if n % 2 else about(axis, random.uniform(-tau, tau))
        yield -rotation if n % 3 == 0 else rotation

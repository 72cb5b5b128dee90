# SPDX-License-Identifier: GPL-3.0-or-later
"""Tables 1 to 3 of Mukundan 2009: ten links of length 2 along the x axis, ten targets, three methods."""

from math import degrees

import pytest
from mathutils import Vector

from ..chains import straight

CHAIN = straight((2.0,) * 10)
EXACT = 0.5e-3  # of a cell: what single precision adds to the digits that are printed

# The targets are picks on a screen, whole multiples of 1/12 printed with two decimals.
TARGETS = (
    (182, 55),
    (100, 34),
    (-127, 31),
    (-49, 192),
    (77, -121),
    (-213, 189),
    (40, -156),
    (-13, 83),
    (-100, 4),
    (8, 136),
)
# For each target the rotations over 5 degrees, the sum of all rotations [degrees] and the way of the end effector.
CCD = (
    (12, 512.68, 14.05),
    (9, 668.19, 14.07),
    (49, 2156.80, 72.81),
    (35, 1899.72, 100.64),
    (25, 914.28, 36.80),
    (77, 2753.46, 207.21),
    (37, 1238.17, 57.72),
    (17, 1281.12, 31.22),
    (34, 2067.28, 53.37),
    (28, 1350.44, 40.29),
)
TRIANGULATION = (
    (3, 355.17, 83.34),
    (6, 879.56, 192.76),
    (6, 228.25, 58.27),
    (2, 171.66, 44.69),
    (6, 549.08, 141.94),
    (1, 138.41, 37.39),  # printed 130.41, a misprint: the one rotation is that of the next column
    (4, 346.76, 94.92),
    (8, 593.44, 155.56),
    (2, 191.73, 39.21),
    (6, 465.85, 128.15),
)
SINGLE_PASS = (
    (2, 96.09, 19.42),
    (10, 299.94, 46.35),
    (4, 225.05, 52.98),
    (2, 139.43, 34.21),
    (6, 153.99, 26.17),
    (1, 138.41, 37.39),
    (3, 119.74, 25.69),
    (9, 242.92, 34.33),
    (5, 249.20, 56.95),
    (7, 174.50, 31.40),
)


def aim(row):
    """A target in armature space, where the paper's x axis runs along the chain: +Y, and its y axis along -X."""
    x, y = TARGETS[row]
    return Vector((-y / 12.0, x / 12.0, 0.0))


def cells(pose):
    """The three costs of the turns a pose has recorded, in the units of the tables."""
    cost = pose.cost
    return cost.turns, degrees(cost.total_angle), cost.travel


def printed(cell):
    """What a number may be that the paper prints as `cell`: cut off, not rounded, after two decimals."""
    return pytest.approx(cell + 0.005, abs=0.005 + EXACT)

# SPDX-License-Identifier: GPL-3.0-or-later
"""Tables 1 to 3 of Mukundan 2009: ten links of length 2 along the x axis, ten targets, three methods."""

from math import degrees

import pytest
from mathutils import Vector

from scripts.reproduce.paper_2009 import CCD, CORRECTED, EXACT, LENGTHS, MISPRINT, SINGLE_PASS, TARGETS
from scripts.reproduce.paper_2009 import TRIANGULATION as PRINTED

from ..chains import straight

__all__ = ["CCD", "CHAIN", "SINGLE_PASS", "TRIANGULATION", "aim", "cells", "printed"]

CHAIN = straight(LENGTHS)
TRIANGULATION = [*PRINTED]
TRIANGULATION[MISPRINT] = CORRECTED


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

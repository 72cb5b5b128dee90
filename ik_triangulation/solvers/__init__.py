# SPDX-License-Identifier: GPL-3.0-or-later
"""The solvers and the loop they share. Needs mathutils, nothing else of Blender."""

from .registry import SOLVERS
from .soft import Direction, Orientation, Pole
from .solve import Solution, solve
from .solver import Solver

__all__ = ["SOLVERS", "Direction", "Orientation", "Pole", "Solution", "Solver", "solve"]

# SPDX-License-Identifier: GPL-3.0-or-later
"""The solvers and the loop they share. Needs mathutils, nothing else of Blender."""

from .comfort import Effort, Near
from .obstacles import Avoid, Ball, Block
from .registry import SOLVERS
from .soft import Direction, Orientation, Pole
from .solve import Solution, solve
from .solver import Solver

__all__ = [
    "SOLVERS",
    "Avoid",
    "Ball",
    "Block",
    "Direction",
    "Effort",
    "Near",
    "Orientation",
    "Pole",
    "Solution",
    "Solver",
    "solve",
]

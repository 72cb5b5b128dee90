# SPDX-License-Identifier: GPL-3.0-or-later
"""The solvers and the loop they share. Needs mathutils and numpy, nothing else of Blender."""

from .registry import SOLVERS
from .settings import SolverSettings
from .solve import Solution, solve, solve_goal
from .solver import Solver

__all__ = ["SOLVERS", "Solution", "Solver", "SolverSettings", "solve", "solve_goal"]

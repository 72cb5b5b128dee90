# SPDX-License-Identifier: GPL-3.0-or-later
"""The solvers and the loop they share. Needs mathutils and numpy, nothing else of Blender."""

from .body.solve_body import BodySolution, TipResult, solve_body
from .solve import SOLVERS, Solution, SolverSettings, solve, solve_goal
from .solver import Solver

__all__ = [
    "SOLVERS",
    "BodySolution",
    "Solution",
    "Solver",
    "SolverSettings",
    "TipResult",
    "solve",
    "solve_body",
    "solve_goal",
]

# SPDX-License-Identifier: GPL-3.0-or-later
"""Settings of the solver, for each frame by itself."""

from __future__ import annotations

from math import pi, radians

from bpy.props import BoolProperty, EnumProperty, FloatProperty, IntProperty

from ..solvers import SOLVERS
from .table import Flag, group, setting

SOLVER_ITEMS = [(key, solver.label, solver.description, solver.number) for key, solver in SOLVERS.items()]


@group(page="solvers.html#choose-a-solver")
class MethodSettings:
    """The method that rotates the bones, and when it ends."""

    solver: str = setting(
        EnumProperty,
        "Solver",
        "Method that rotates the bones",
        items=SOLVER_ITEMS,
        default="NATURAL",
        flag="--solver",
        preset=True,
    )
    tolerance: float = setting(
        FloatProperty,
        "Tolerance",
        "Largest distance from the target that counts as reached",
        default=1e-3,
        min=1e-6,
        soft_max=0.1,
        subtype="DISTANCE",
        precision=4,
        page="goals.html#reached",
        flag="--tolerance",
        per_frame=True,
    )
    angle_tolerance: float = setting(
        FloatProperty,
        "Angle Tolerance",
        "Largest angle from the orientation asked for that counts as reached",
        default=radians(1.0),
        min=0.0,
        max=pi,
        soft_max=radians(30.0),
        subtype="ANGLE",
        page="goals.html#reached",
        flag="--angle-tolerance",
        per_frame=True,
    )
    iterations: int = setting(
        IntProperty,
        "Iterations",
        "Maximum number of solver iterations per frame",
        default=100,
        min=1,
        soft_max=1000,
        page="solvers.html#refine-result",
        flag="--iterations",
        preset=True,
    )
    finish: bool = setting(
        BoolProperty,
        "Finish",
        "Refine the solution where the solver alone stops short of the target",
        default=True,
        page="solvers.html#refine-result",
        flag=Flag("--no-finish", "use the solver alone, do not refine its solution"),
        preset=True,
    )
    seed: int = setting(
        IntProperty,
        "Seed",
        "Another seed makes Finish try other poses",
        default=0,
        min=0,
        page="solvers.html#refine-result",
        flag=Flag("--seed", "another seed makes the refinement try other poses"),
    )

# SPDX-License-Identifier: GPL-3.0-or-later
"""Settings of the solver, for each frame by itself."""

from __future__ import annotations

from collections.abc import Iterable
from math import pi, radians

from bpy.props import BoolProperty, EnumProperty, FloatProperty, IntProperty

from ..items import SOLVER_ROWS, WHOLE_SOLVERS
from .table import Flag, group, setting

_FOR_ANIMATORS = ("NATURAL", "CIRCULAR", "TWO_BONE")


def _items(names: Iterable[str]) -> list[tuple[str, str, str, int]]:
    rows = [(name, SOLVER_ROWS[name]) for name in names]
    return [(name, row.label, row.description, row.number) for name, row in rows]


# In the menu the published methods are under a heading of their own.
SOLVER_ITEMS = [
    *_items(_FOR_ANIMATORS),
    ("", "Published Methods", "", 0),
    *_items(name for name in SOLVER_ROWS if name not in _FOR_ANIMATORS),
]


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
        "Reached Within",
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
        "Angle Within",
        "Largest difference from the wanted orientation that counts as reached",
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
        "Maximum Steps",
        "Largest number of steps that the solver takes per frame",
        default=100,
        min=1,
        soft_max=1000,
        page="solvers.html#refine-result",
        flag="--iterations",
        preset=True,
    )
    finish: bool = setting(
        BoolProperty,
        "Refine Result",
        "Bring the tip closer where the solver alone stops short of the target; Natural always does",
        default=True,
        page="solvers.html#refine-result",
        flag=Flag("--no-finish", "use a published method alone, do not refine its result"),
        preset=True,
    )
    seed: int = setting(
        IntProperty,
        "Variation",
        "Another number tries other poses where the first search does not reach the target",
        default=0,
        min=0,
        page="solvers.html#refine-result",
        flag="--seed",
    )

    @property
    def refines(self) -> bool:
        """True if results are refined: by choice with a published method, always with one that solves a whole goal."""
        return self.finish or self.solver in WHOLE_SOLVERS

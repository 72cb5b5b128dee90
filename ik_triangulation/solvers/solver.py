# SPDX-License-Identifier: GPL-3.0-or-later
"""The interface of every solver."""

from collections.abc import Callable
from typing import NamedTuple, Protocol

from mathutils import Vector

from ..goals import Goal
from ..kinematics import Pose
from .natural.form import LimbForm


class Step(Protocol):
    """Moves a pose once towards the point to aim at."""

    def __call__(self, pose: Pose, aim: Vector) -> None: ...


class Solver(NamedTuple):
    """One entry of SOLVERS, from which the user interface, the command line and the shared tests take their lists.

    `number` is stored in .blend files and never changes. `step` moves the pose once towards the point to aim at
    (armature space): one pass of a direct method, one iteration of the others. It raises ChainError for a chain that
    the method cannot solve at all. A method that solves a `whole` goal at once, with its soft goals,
    takes its step only where that returns False.
    """

    number: int
    label: str
    description: str
    source: str
    step: Step | type[Step]
    whole: Callable[[Pose, Goal, LimbForm], bool] | None = None

    def begin(self) -> Step:
        """The step for one solve: a method with a state is a class, and each solve has its own instance."""
        return self.step() if isinstance(self.step, type) else self.step

# SPDX-License-Identifier: GPL-3.0-or-later
"""What every solver is."""

from typing import NamedTuple, Protocol

from mathutils import Vector

from ..kinematics import Pose


class Step(Protocol):
    """Moves a pose once towards the place to aim at."""

    def __call__(self, pose: Pose, aim: Vector) -> None: ...


class Solver(NamedTuple):
    """One entry of SOLVERS: it feeds the user interface's list, the command line and the shared tests.

    `number` is what .blend files store and never changes. `step` moves the pose once towards the place to aim at
    (armature space): one pass of a direct method, one iteration of the others. Raises ChainError for a chain that the
    method cannot solve at all.
    """

    number: int
    label: str
    description: str
    source: str
    step: Step | type[Step]

    def begin(self) -> Step:
        """The step for one solve: a method that remembers from step to step is a class, and each solve has its own."""
        return self.step() if isinstance(self.step, type) else self.step

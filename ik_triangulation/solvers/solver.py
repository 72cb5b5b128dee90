# SPDX-License-Identifier: GPL-3.0-or-later
"""What every solver is."""

from collections.abc import Callable
from typing import NamedTuple

from mathutils import Vector

from ..kinematics import Pose


class Solver(NamedTuple):
    """One entry of SOLVERS: it feeds the user interface's list, the command line and the shared tests.

    `number` is what .blend files store and never changes. `step` moves the pose once towards the place to aim at
    (armature space): one pass of a direct method, one iteration of the others.
    """

    number: int
    label: str
    description: str
    source: str
    step: Callable[[Pose, Vector], None]

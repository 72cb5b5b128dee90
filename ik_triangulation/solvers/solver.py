# SPDX-License-Identifier: GPL-3.0-or-later
"""The interface of every solver: a step, its repetition, and the form of a limb that the natural one uses."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple, Protocol

from mathutils import Vector

from ..goals import Goal, Target
from ..kinematics import Pose
from .batch.along_path import Follow

STALLED = 8  # iterations in a row without gain, after which the iteration has converged
GAIN = 1e-3  # relative decrease of the excess error that counts as a gain


class LimbForm(NamedTuple):
    """A limb as a part of a body.

    With `has_end` the last of three joints is a hand or foot, which turns as the target says, and keeps its rotation
    where that says nothing.
    `flexion` is the direction to which the elbow or knee goes where the limb is straight, in the axes of the root's
    parent; None: that of the limb's bend at rest.
    """

    has_end: bool = False
    flexion: Vector | None = None


PLAIN_LIMB = LimbForm()


class Step(Protocol):
    """Moves a pose once towards the point to aim at."""

    def __call__(self, pose: Pose, aim: Vector) -> None: ...


class Solver(NamedTuple):
    """One entry of SOLVERS, from which the user interface, the command line and the shared tests take their lists.

    `number` is stored in .blend files and never changes. `step` moves the pose once towards the point to aim at
    (armature space): one pass of a direct method, one iteration of the others. It raises ChainError for a chain that
    the method cannot solve at all. A method that solves a `whole` goal at once, with its soft goals,
    takes its step only where that returns False. Of a `direct` method one pass is all, and it may do that `along`
    all frames of a path at once, for chains without limits.
    """

    number: int
    label: str
    description: str
    source: str
    step: Step | type[Step]
    whole: Callable[[Pose, Goal, LimbForm], bool] | None = None
    direct: bool = False
    along: Follow | None = None

    def begin(self) -> Step:
        """The step for one solve: a method with a state is a class, and each solve has its own instance."""
        return self.step() if isinstance(self.step, type) else self.step


def iterate(
    step: Step,
    pose: Pose,
    target: Target,
    enough: float,
    iterations: int,
    patience: int = STALLED,
    gain: float = GAIN,
) -> tuple[float, int]:
    """Repeat `step` until the error is at most `enough` or it has converged; leaves the best pose seen.

    Converged means a decrease of less than `gain` of the error in excess of `enough`, `patience` times in a row.
    Returns the error [Blender units] and the number of steps.
    """
    tip = pose.tip
    aim = target.closest(tip)
    error = least = (aim - tip).length
    if least <= enough or iterations <= 0:
        return least, 0
    best, turns = pose.rotations[:], len(pose.turns)
    count = stalled = 0
    while least > enough and count < iterations and stalled < patience:
        before = len(pose.turns)
        step(pose, aim)
        count += 1
        if len(pose.turns) == before:  # a step without effect will have none next time
            break
        tip = pose.tip
        aim = target.closest(tip)
        error = (aim - tip).length
        stalled = 0 if least - error > gain * (least - enough) else stalled + 1
        if error < least:
            least, best, turns = error, pose.rotations[:], len(pose.turns)
    if error > least:
        pose.restore(best, turns)
    return least, count

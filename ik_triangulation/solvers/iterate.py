# SPDX-License-Identifier: GPL-3.0-or-later
"""Iteration of a step until convergence."""

from ..goals import Target
from ..kinematics import Pose
from .solver import Step

STALLED = 8  # iterations in a row without gain, after which the iteration has converged
GAIN = 1e-3  # relative decrease of the excess error that counts as a gain


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

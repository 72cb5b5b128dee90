# SPDX-License-Identifier: GPL-3.0-or-later
"""A method repeated until it is near enough or gains no more."""

from ..goals import Target
from ..kinematics import Pose
from .solver import Step

STALLED = 8  # iterations in a row without gain after which nothing more is expected
GAIN = 1e-3  # share of the error above what is enough that an iteration must take off to count as a gain


def repeat(
    step: Step,
    pose: Pose,
    target: Target,
    enough: float,
    iterations: int,
    patience: int = STALLED,
    gain: float = GAIN,
) -> tuple[float, int]:
    """Repeat `step` until the error is `enough` or little is gained any more; leaves the best pose seen.

    Little is less than the share `gain` of what the error is above `enough`, `patience` times in a row.
    Returns the error [Blender units] and the number of steps taken.
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
        if len(pose.turns) == before:  # it could do nothing, so it never will
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

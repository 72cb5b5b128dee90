# SPDX-License-Identifier: GPL-3.0-or-later
"""What makes every target that can be reached reached: bounded Gauss-Newton, and restarts from other poses.

Source: the annealing of seed document quaternion-ccd ("exercise for the reader"): random poses inside the limits, ever
farther away, of which the best is kept.
"""

from random import Random

from ..goals import Point, Target
from ..kinematics import Pose
from . import gauss_newton, triangulation
from .iterate import repeat

NEARBY = 4  # restarts ever farther from the best pose, before those from anywhere within the limits
RESTARTS = 40  # in all, where a pose inside the limits may still reach
CONVINCED = 8  # restarts from anywhere that end at the same distance, after which no nearer one is expected
CLOSE = 1e-4  # of the reach: distances that are the same


def polish(pose: Pose, target: Target, enough: float, iterations: int, random: Random) -> tuple[float, int]:
    """Polish by Gauss-Newton, then again from seeded poses ever farther away; leaves the best pose seen.

    A pass of triangulation comes first: where the joints are free it is the answer, also to what is out of reach.
    """
    free = not pose.chain.limited
    least, count = repeat(triangulation.step, pose, target, enough, 1 if free else 0)
    if least > enough:
        least, more = repeat(gauss_newton.step, pose, target, enough, iterations)
        count += more
    best, turns = pose.rotations[:], len(pose.turns)
    again = 0  # restarts from anywhere that led no nearer than the best one
    for number in range(RESTARTS):
        if least <= enough or again == CONVINCED:
            break
        pose.restore(best, turns)
        share = min(1.0, (number + 1) / NEARBY)
        stray(pose, random, share)
        error, more = repeat(gauss_newton.step, pose, target, enough, iterations)
        count += more
        if share == 1.0 and abs(error - least) < CLOSE * pose.chain.reach:
            again += 1
        if error < least:
            least, best, turns = error, pose.rotations[:], len(pose.turns)
    pose.restore(best, turns)
    return least, count


def stray(pose: Pose, random: Random, share: float) -> None:
    """Turn every joint by that `share` of the way to a random rotation that its freedom allows."""
    for i, joint in enumerate(pose.chain.joints):
        if joint.freedom.moves:
            away = pose.rotations[i].slerp(joint.freedom.random(random), share)
            away.normalize()  # between rotations less than 2 degrees apart slerp() cuts the corner
            pose.put(i, joint.freedom.nearest(away))


def least_error(pose: Pose, target: Target) -> float:
    """Distance that must remain whatever the joints do, from the lengths alone; 0 where that is not known."""
    if not pose.chain.plain:
        return 0.0
    nearest, farthest = pose.chain.reaches[0]
    root = pose.head(0)
    distance = (target.closest(root) - root).length
    inside = nearest - distance if isinstance(target, Point) else 0.0
    return max(0.0, distance - farthest, inside)

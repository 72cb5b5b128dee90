# SPDX-License-Identifier: GPL-3.0-or-later
"""Finish: bounded Gauss-Newton with restarts from other poses, so that every reachable target is reached.

Source: the annealing of seed document quaternion-ccd ("exercise for the reader"): restarts from random poses inside the
limits, increasingly far away, of which the best is kept.
"""

from random import Random

from ..goals import Point, Target
from ..kinematics import Pose
from . import gauss_newton, triangulation
from .iterate import iterate

_NEARBY = 4  # restarts increasingly far from the best pose, before those from anywhere within the limits
RESTARTS = 40  # restarts in all
_CONVINCED = 8  # restarts from anywhere that end at the same distance, after which that is taken as the minimum
_SAME_DISTANCE = 1e-4  # of the reach: difference up to which distances are equal


def finish(
    pose: Pose, target: Target, enough: float, iterations: int, random: Random, restarts: bool = True
) -> tuple[float, int]:
    """Minimise the distance by Gauss-Newton, with restarts from random poses; leaves the best pose seen.

    For a chain without limits a pass of triangulation comes first: it is the optimum, also for a target out of reach.
    Returns the distance [Blender units] and the number of steps.
    """
    free = not pose.chain.limited
    least, count = iterate(triangulation.step, pose, target, enough, 1 if free else 0)
    if least > enough:
        least, more = iterate(gauss_newton.step, pose, target, enough, iterations)
        count += more
    best, turns = pose.rotations[:], len(pose.turns)
    again = 0  # restarts from anywhere that ended at the distance of the best one
    for number in range(RESTARTS if restarts else 0):
        if least <= enough or again == _CONVINCED:
            break
        pose.restore(best, turns)
        share = min(1.0, (number + 1) / _NEARBY)
        perturb(pose, random, share)
        error, more = iterate(gauss_newton.step, pose, target, enough, iterations)
        count += more
        if share == 1.0 and abs(error - least) < _SAME_DISTANCE * pose.chain.reach:
            again += 1
        if error < least:
            least, best, turns = error, pose.rotations[:], len(pose.turns)
    pose.restore(best, turns)
    return least, count


def perturb(pose: Pose, random: Random, share: float) -> None:
    """Rotate every joint by `share` of the rotation to a random one inside its limits."""
    for i, joint in enumerate(pose.chain.joints):
        if joint.freedom.moves:
            away = pose.rotations[i].slerp(joint.freedom.random(random), share)
            away.normalize()  # slerp() does not return unit quaternions for rotations less than 2 degrees apart
            pose.put(i, joint.freedom.nearest(away))


def least_error(pose: Pose, target: Target) -> float:
    """Lower bound of the distance for any pose, from the lengths alone [Blender units]; 0 where none is known."""
    if not pose.chain.plain:
        return 0.0
    nearest, farthest = pose.chain.reaches[0]
    root = pose.head(0)
    distance = (target.closest(root) - root).length
    inside = nearest - distance if isinstance(target, Point) else 0.0
    return max(0.0, distance - farthest, inside)

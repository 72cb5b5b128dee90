# SPDX-License-Identifier: GPL-3.0-or-later
"""The loop all solvers share."""

from random import Random
from typing import NamedTuple

from ..errors import SettingError
from ..kinematics import Cost, Pose
from ..targets import Point, Target
from . import gauss_newton, triangulation
from .registry import SOLVERS
from .solver import Step

STALLED = 8  # iterations in a row without gain after which nothing more is expected
GAIN = 1e-3  # share of the error above what is enough that an iteration must take off to count as a gain
LITTLE = 0.5  # share of that error below which what a step takes off is little, and Finish takes over
NEARBY = 4  # restarts ever farther from the best pose, before those from anywhere within the limits
RESTARTS = 40  # in all, where a pose inside the limits may still reach
CONVINCED = 8  # restarts from anywhere that end at the same distance, after which no nearer one is expected
CLOSE = 1e-4  # of the reach: distances that are the same
ROUNDING = 1e-6  # of the reach: what single precision cannot tell apart


class Solution(NamedTuple):
    """What came of a solve. Not reaching is a result, never an exception.

    `error` is the distance from end effector to target [Blender units, armature space], `reached` whether that is
    within tolerance, `projected` whether the pose given stood outside its limits and had to be moved inside first.
    """

    pose: Pose
    error: float
    iterations: int
    reached: bool
    projected: bool = False

    @property
    def cost(self) -> Cost:
        """Turns, total angle and travel on the way from the start to this pose."""
        return self.pose.cost


def solve(
    start: Pose,
    target: Target,
    solver: str = "TRIANGULATION",
    tolerance: float = 1e-3,
    iterations: int = 100,
    finish: bool = True,
    seed: int = 0,
    refine: bool = False,
) -> Solution:
    """Turn the joints of `start` until the end effector is within `tolerance` [Blender units] of `target`.

    Both are in armature space; `start` is not changed. The best pose seen is kept, so the error is never greater than
    that of the start inside its limits. `iterations` bounds the solver's steps; with `finish` a pose that stopped short
    is polished by Gauss-Newton, from where it is and from others drawn with `seed`. With `refine` one step is taken
    even if the start is within tolerance, so that a tip does not trail a creeping target by that much. The same
    arguments give the same result. Raises SettingError for an unknown solver, or a tolerance or count that is none.
    """
    if solver not in SOLVERS:
        raise SettingError(f"Solver '{solver}' is unknown. Choose one of {', '.join(SOLVERS)}.")
    if not tolerance > 0.0:
        raise SettingError(f"Tolerance {tolerance} is not a distance. Give it a length above zero.")
    if iterations < 0:
        raise SettingError(f"{iterations} iterations cannot be done. Give it a number from 0 up.")
    pose = start.copy()
    projected = pose.project()
    step = SOLVERS[solver].begin()
    start_error = (target.closest(pose.tip) - pose.tip).length
    error, count = repeat(step, pose, target, ROUNDING * pose.chain.reach if refine else tolerance, min(iterations, 1))
    enough = tolerance
    if error > tolerance:  # the first step often does it; if not, no more is asked than can be done
        enough = max(tolerance, _least_error(pose, target) + ROUNDING * pose.chain.reach)
        if not finish:
            error, more = repeat(step, pose, target, enough, iterations - count)
            count += more
        elif error <= (1.0 - LITTLE) * start_error:
            error, more = repeat(step, pose, target, enough, iterations - count, 1, LITTLE)
            count += more
    if finish and error > enough:
        error, more = _finish(pose, target, enough, iterations, Random(seed))
        count += more
    return Solution(pose, error, count, error <= tolerance, projected)


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


def _finish(pose: Pose, target: Target, enough: float, iterations: int, random: Random) -> tuple[float, int]:
    """Polish by Gauss-Newton, then again from seeded poses ever farther away; leaves the best pose seen.

    A pass of triangulation comes first: where the joints are free it is the answer, also to what is out of reach.
    """
    free = not pose.chain.limited
    least, count = repeat(triangulation.step, pose, target, enough, 1 if free else 0)
    if least > enough:
        least, more = repeat(gauss_newton.step, pose, target, enough, iterations)
        count += more
    best, turns = pose.rotations[:], len(pose.turns)
    moving = [i for i, joint in enumerate(pose.chain.joints) if joint.freedom.moves]
    again = 0  # restarts from anywhere that led no nearer than the best one
    for number in range(RESTARTS):
        if least <= enough or again == CONVINCED:
            break
        pose.restore(best, turns)
        share = min(1.0, (number + 1) / NEARBY)
        for i in moving:
            freedom = pose.chain.joints[i].freedom
            pose.put(i, freedom.nearest(best[i].slerp(freedom.random(random), share)))
        error, more = repeat(gauss_newton.step, pose, target, enough, iterations)
        count += more
        if share == 1.0 and abs(error - least) < CLOSE * pose.chain.reach:
            again += 1
        if error < least:
            least, best, turns = error, pose.rotations[:], len(pose.turns)
    pose.restore(best, turns)
    return least, count


def _least_error(pose: Pose, target: Target) -> float:
    """Distance that must remain whatever the joints do, from the lengths alone; 0 where that is not known."""
    if not pose.chain.plain:
        return 0.0
    nearest, farthest = pose.chain.reaches[0]
    root = pose.head(0)
    distance = (target.closest(root) - root).length
    inside = nearest - distance if isinstance(target, Point) else 0.0
    return max(0.0, distance - farthest, inside)

# SPDX-License-Identifier: GPL-3.0-or-later
"""The loop all solvers share."""

from collections.abc import Sequence
from math import isfinite
from random import Random
from typing import NamedTuple

from ..errors import ChainError, SettingError
from ..goals import Target
from ..goals.soft import Soft
from ..kinematics import Cost, Pose
from .finish import least_error, polish
from .iterate import repeat
from .null_space import settle, settle_elsewhere
from .registry import SOLVERS

LITTLE = 0.5  # share of the error below which what a step takes off is little, and Finish takes over
ROUNDING = 1e-6  # of the reach: what single precision cannot tell apart
NO_UNIT = 1e-3  # by how much the length of a quaternion differs from 1 that is no unit quaternion


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
    soft: Sequence[Soft] = (),
    follow: bool = False,
) -> Solution:
    """Turn the joints of `start` until the end effector is within `tolerance` [Blender units] of `target`.

    Both are in armature space; `start` is not changed. The best pose seen is kept, so the error is never greater than
    that of the start inside its limits. `iterations` bounds the solver's steps; with `finish` a pose that stopped short
    is polished by Gauss-Newton, from where it is and from others drawn with `seed`, and then what it leaves open is
    used for the `soft` constraints. With `follow` the start is taken for the solution of a target that has moved on a
    little: a step is taken even if it is within tolerance, so that the tip does not trail by that much, and soft
    constraints are met from there only, so that the pose does not jump. The same arguments give the same result.
    Raises SettingError for an unknown solver, or a tolerance or count that is none, and ChainError for a start whose
    rotations are no unit quaternions or whose place is not finite.
    """
    if solver not in SOLVERS:
        raise SettingError(f"Solver '{solver}' is unknown. Choose one of {', '.join(SOLVERS)}.")
    if not tolerance > 0.0:
        raise SettingError(f"Tolerance {tolerance} is not a distance. Give it a length above zero.")
    if iterations < 0:
        raise SettingError(f"{iterations} iterations cannot be done. Give it a number from 0 up.")
    units = follow or all(abs(turned.magnitude - 1.0) < NO_UNIT for turned in start.rotations)
    if not (units and isfinite(sum(start.tip[:]))):
        raise ChainError("The start pose is none. Give it unit quaternions and a base of finite numbers.")
    pose = start.copy()
    projected = pose.project()
    step = SOLVERS[solver].begin()
    rounding = ROUNDING * pose.chain.reach
    begun = pose.tip
    error, count = repeat(step, pose, target, rounding if follow else tolerance, min(iterations, 1))
    enough = tolerance
    if error > tolerance:  # the first step often does it; if not, no more is asked than can be done
        enough = max(tolerance, least_error(pose, target) + rounding)
        before = (target.closest(begun) - begun).length
        patience = (1, LITTLE) if finish else ()
        if not finish or error <= LITTLE * before:
            error, more = repeat(step, pose, target, enough, iterations - count, *patience)
            count += more
    if finish and error > enough:
        error, more = polish(pose, target, enough, iterations, Random(seed))
        count += more
    if finish and soft:
        count += settle(pose, target, soft, enough)
        if not follow:
            count += settle_elsewhere(pose, target, soft, enough, Random(seed))
        error = (target.closest(pose.tip) - pose.tip).length
    return Solution(pose, error, count, error <= tolerance, projected)

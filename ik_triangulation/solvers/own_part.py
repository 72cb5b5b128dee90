# SPDX-License-Identifier: GPL-3.0-or-later
"""The part of a published method in a solve: its own steps, until the target is reached or Finish takes over."""

from __future__ import annotations

from typing import NamedTuple

from ..goals import Goal
from ..goals.soft import soft_cost
from ..kinematics import Pose
from ..kinematics.chain import LENGTH_ROUNDING
from .finish import least_error
from .iterate import iterate
from .null_space import MET
from .registry import SOLVERS
from .settings import SolverSettings

LITTLE = 0.5  # relative decrease of the error by one step, below which Finish takes over


class OwnPart(NamedTuple):
    """Distance [Blender units] after so many `steps` of the method; `enough` is what is asked of the finish.

    With `out_of_reach` the target is farther away than the tolerance for certain, by the lengths alone.
    """

    error: float
    steps: int
    enough: float
    out_of_reach: bool


def take_own_steps(pose: Pose, goal: Goal, settings: SolverSettings, at_first: float | None = None) -> OwnPart:
    """Take the steps of the method of the settings; leaves the best pose seen.

    The first step is taken unless the pose is within `at_first` [Blender units], by default the tolerance.
    """
    target, tolerance = goal.target, goal.tolerance
    solver, first = SOLVERS[settings.solver], tolerance if at_first is None else at_first
    if solver.whole and settings.iterations:
        error, met = (target.closest(pose.tip) - pose.tip).length, soft_cost(pose, goal.soft) <= MET
        done = error <= first and met
        if done or solver.whole(pose, goal, settings.form):
            error, least = (target.closest(pose.tip) - pose.tip).length, least_error(pose, target)
            return OwnPart(error, 0 if done else 1, _enough(pose, least, tolerance), least > tolerance)
    step, begun = solver.begin(), pose.tip
    error, count = iterate(step, pose, target, first, min(settings.iterations, 1))
    if error <= tolerance:
        return OwnPart(error, count, tolerance, False)
    least = least_error(pose, target)  # one step is often enough; if not, no more is asked than is possible
    enough = _enough(pose, least, tolerance)
    before = (target.closest(begun) - begun).length
    if not settings.finish or error <= LITTLE * before:
        patience = (1, LITTLE) if settings.finish else ()
        error, more = iterate(step, pose, target, enough, settings.iterations - count, *patience)
        count += more
    return OwnPart(error, count, enough, least > tolerance)


def _enough(pose: Pose, least: float, tolerance: float) -> float:
    """The distance that is asked for, given the least one."""
    return max(tolerance, least + LENGTH_ROUNDING * pose.chain.reach)

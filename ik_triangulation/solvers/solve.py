# SPDX-License-Identifier: GPL-3.0-or-later
"""Solving: the table of solvers, the settings of a solve, and the chosen method, then Finish, then the null space."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import isfinite
from typing import NamedTuple

from ..errors import ChainError, SettingError
from ..goals import Flow, Goal, Point, SoftGoal, Target
from ..goals.from_goals import BATCHED
from ..goals.goal import soft_cost
from ..items import SOLVER_ROWS
from ..kinematics import Cost, Pose
from ..kinematics.pose import LENGTH_ROUNDING
from . import (
    ccd,
    circular,
    direct_search,
    fabrik,
    gauss_newton,
    gradient,
    natural,
    single_pass,
    triangulation,
    two_bone,
)
from . import finish as finishing
from .batch.along_path import triangulated
from .batch.restarts import ROUNDS
from .finish import least_error
from .natural import PLAIN_LIMB, LimbForm
from .null_space import MET, optimise, optimise_from_restarts
from .solver import Solver, iterate

SOLVERS = {
    "NATURAL": Solver(
        *SOLVER_ROWS["NATURAL"],
        "Tolani, Goswami and Badler 2000, with the posture of a reference",
        natural.step,
        natural.natural_pose,
    ),
    "CIRCULAR": Solver(
        *SOLVER_ROWS["CIRCULAR"],
        "Cardwell and Mukundan, metric maps",
        circular.step,
        direct=True,
    ),
    "TWO_BONE": Solver(
        *SOLVER_ROWS["TWO_BONE"],
        "Law of cosines",
        two_bone.step,
        direct=True,
    ),
    "TRIANGULATION": Solver(
        *SOLVER_ROWS["TRIANGULATION"],
        "Mueller-Cajar and Mukundan 2007, generalised",
        triangulation.step,
        direct=True,
        along=triangulated,
    ),
    "TRIANGULATION_2007": Solver(
        *SOLVER_ROWS["TRIANGULATION_2007"],
        "Mueller-Cajar and Mukundan 2007",
        triangulation.step_2007,
        direct=True,
    ),
    "TRIANGULATION_RIGHT_ANGLE": Solver(
        *SOLVER_ROWS["TRIANGULATION_RIGHT_ANGLE"],
        "Mueller-Cajar and Mukundan 2007, section 7",
        triangulation.step_right_angle,
        direct=True,
    ),
    "TRIANGULATION_CHEAPEST": Solver(
        *SOLVER_ROWS["TRIANGULATION_CHEAPEST"],
        "Mueller-Cajar and Mukundan 2007, with any two joints",
        triangulation.step_cheapest_pair,
        direct=True,
    ),
    "SINGLE_PASS": Solver(
        *SOLVER_ROWS["SINGLE_PASS"],
        "Mukundan 2009",
        single_pass.step,
        direct=True,
    ),
    "CCD": Solver(
        *SOLVER_ROWS["CCD"],
        "Inverse Kinematics: quaternion CCD",
        ccd.step,
    ),
    "CCD_STAGES": Solver(
        *SOLVER_ROWS["CCD_STAGES"],
        "Inverse Kinematics: quaternion CCD",
        ccd.step_in_stages,
    ),
    "CIRCULAR_NEWTON": Solver(
        *SOLVER_ROWS["CIRCULAR_NEWTON"],
        "Cardwell and Mukundan, metric maps, eq. 5 to 8",
        circular.Newton,
    ),
    "GRADIENT": Solver(
        *SOLVER_ROWS["GRADIENT"],
        "Gradient methods, Method 1, gradient by calculation",
        gradient.step,
    ),
    "GRADIENT_MEASURED": Solver(
        *SOLVER_ROWS["GRADIENT_MEASURED"],
        "Gradient methods, Method 1, gradient by measurement",
        gradient.step_measured,
    ),
    "GRADIENT_ACCELERATED": Solver(
        *SOLVER_ROWS["GRADIENT_ACCELERATED"],
        "Gradient methods, Method 2, corrected",
        gradient.Accelerated,
    ),
    "GAUSS_NEWTON": Solver(
        *SOLVER_ROWS["GAUSS_NEWTON"],
        "Gradient methods, with the step of Levenberg and Marquardt",
        gauss_newton.step,
    ),
    "JACOBIAN_TRANSPOSE": Solver(
        *SOLVER_ROWS["JACOBIAN_TRANSPOSE"],
        "Wolovich and Elliott 1984; Buss 2004",
        gradient.step_transposed,
    ),
    "FABRIK": Solver(
        *SOLVER_ROWS["FABRIK"],
        "Aristidou and Lasenby 2011",
        fabrik.step,
    ),
    "SIMPLEX": Solver(
        *SOLVER_ROWS["SIMPLEX"],
        "Nelder and Mead 1965",
        direct_search.Simplex,
    ),
    "ROSENBROCK": Solver(
        *SOLVER_ROWS["ROSENBROCK"],
        "Rosenbrock 1960",
        direct_search.Rosenbrock,
    ),
}

LITTLE = 0.5  # relative decrease of the error by one step, below which Finish takes over

_LEAST_LENGTH = 1e-12  # [Blender units] of a chain with soft goals, whose residuals are divided by its square
_NO_UNIT = 1e-3  # deviation of the length of a quaternion from 1 beyond which it is no unit quaternion


@dataclass(frozen=True, kw_only=True)
class SolverSettings:
    """The method and its bounds: a key of SOLVERS, its maximum number of iterations, Finish, and the seed of restarts.

    Without `restarts` Finish goes down from the start only. `form` is that of the limb, for the natural solver.

    Raises SettingError for an unknown solver or a negative number of iterations.
    """

    solver: str = "TRIANGULATION"
    iterations: int = 100
    finish: bool = True
    seed: int = 0
    restarts: bool = True
    form: LimbForm = PLAIN_LIMB

    def __post_init__(self) -> None:
        if self.solver not in SOLVERS:
            raise SettingError(f"Solver '{self.solver}' is unknown. Choose one of {', '.join(SOLVERS)}.")
        if self.iterations < 0:
            raise SettingError(f"{self.iterations} iterations cannot be done. Give it a number from 0 up.")


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


class Solution(NamedTuple):
    """Result of a solve. A target that is not reached is a result, never an exception.

    `error` is the distance from end effector to target [Blender units, armature space], `reached` whether that is
    within tolerance, `iterations` the number of steps: those of the solver, of Finish and of the soft goals, with those
    of every restart, which may be many hundred. `projected` tells whether the start was outside its limits and was
    projected onto them first.
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
    *,
    solver: str = "TRIANGULATION",
    tolerance: float = 1e-3,
    iterations: int = 100,
    finish: bool = True,
    seed: int = 0,
    soft: Sequence[SoftGoal] = (),
    follow: bool = False,
) -> Solution:
    """Rotate the joints of `start` until the end effector is within `tolerance` [Blender units] of `target`.

    Both are in armature space; `start` is not changed. The best pose seen is kept, so the error is never greater than
    that of the start inside its limits. `iterations` bounds the steps of the `solver`, a key of SOLVERS. With `finish`
    a pose that is not within tolerance is improved by Gauss-Newton, with restarts drawn with `seed`, and the remaining
    freedom is used for the `soft` goals. With `follow` the start counts as the solution for a target that has moved a
    little: one step is taken even if the start is within tolerance, so that the tip does not lag behind, and soft goals
    are optimised from there only, so that the pose does not jump. The default is a published method, not that of limbs:
    a chain without a rig has no pose made by hand to keep to. The same arguments give the same result. Raises
    SettingError for an unknown solver, or a tolerance or number of iterations that is not valid, and ChainError for a
    start whose rotations are no unit quaternions or whose position is not finite, for soft goals of a chain without
    length, and for a chain that is scaled flat.

    A Flow is followed by one step from where the end effector is, without restarts: `error` is what is left of that.
    """
    settings = SolverSettings(solver=solver, iterations=iterations, finish=finish, seed=seed)
    return solve_goal(start, Goal(target, tuple(soft), tolerance), settings, follow=follow)


def solve_goal(start: Pose, goal: Goal, settings: SolverSettings, *, follow: bool = False) -> Solution:
    """Do what solve() does, with its arguments as records. Raises SettingError and ChainError as it does."""
    target, soft, tolerance = goal[:3]
    if not tolerance > 0.0:
        raise SettingError(f"Tolerance {tolerance} is not a distance. Give it a length above zero.")
    units = follow or all(abs(rotation.magnitude - 1.0) < _NO_UNIT for rotation in start.rotations)
    if not (units and isfinite(sum(start.tip[:]))):
        raise ChainError("The start pose is not valid. Give it unit quaternions and a base of finite numbers.")
    if soft and not sum(start.lengths) > _LEAST_LENGTH:
        raise ChainError("A chain without length has nothing to point or to bend. Choose bones that have a length.")
    pose = start.copy()
    projected = pose.project()
    if isinstance(target, Flow):
        target, settings = Point(target.after(pose.tip)), replace(settings, restarts=False)
        goal = goal._replace(target=target)
    at_first = LENGTH_ROUNDING * pose.chain.reach if follow else tolerance
    error, count, enough, out_of_reach = take_own_steps(pose, goal, settings, at_first)
    if settings.finish and error > enough:
        rounds = ROUNDS if settings.restarts else ()
        if out_of_reach and follow:
            rounds = rounds[:1]  # they only look for a nearer pose than the one of before
        error, more = finishing.finish(pose, target, enough, settings.iterations, settings.seed, rounds)
        count += more
    # A method that solves the whole goal has done for these soft goals what can be done from here.
    done = SOLVERS[settings.solver].whole and (
        soft_cost(pose, soft) <= MET or (follow and all(isinstance(each, BATCHED) for each in soft))
    )
    if settings.finish and soft and not done:
        count += optimise(pose, target, soft, enough)
        if not follow:
            count += optimise_from_restarts(pose, target, soft, enough, settings.seed)
        error = (target.closest(pose.tip) - pose.tip).length
    return Solution(pose, error, count, error <= tolerance, projected)

# SPDX-License-Identifier: GPL-3.0-or-later
"""The table of solvers, and the settings of a solve."""

from dataclasses import dataclass

from ..errors import SettingError
from . import (
    ccd,
    cheapest_pair,
    circular,
    direct_search,
    fabrik,
    gauss_newton,
    gradient,
    jacobian_transpose,
    natural,
    single_pass,
    triangulation,
    two_bone,
)
from .batch.along_path import triangulated
from .natural import PLAIN_LIMB, LimbForm
from .solver import Solver

SOLVERS = {
    "NATURAL": Solver(
        17,
        "Natural",
        "Stay near the animator's pose, reach exactly and bend as limbs do; solves all frames together",
        "Tolani, Goswami and Badler 2000, with the posture of a reference",
        natural.step,
        natural.natural_pose,
    ),
    "CIRCULAR": Solver(
        4,
        "Even Bend",
        "Bend all joints evenly, along the arc of a circle (circular alignment); for tails and tentacles",
        "Cardwell and Mukundan, metric maps",
        circular.step,
        direct=True,
    ),
    "TWO_BONE": Solver(
        11,
        "Two-Bone",
        "Bend one elbow or knee, computed exactly; for limbs with two moving joints",
        "Law of cosines",
        two_bone.step,
        direct=True,
    ),
    "TRIANGULATION": Solver(
        0,
        "Triangulation",
        "Reach in one pass from the root, with the smallest rotation at each joint",
        "Mueller-Cajar and Mukundan 2007, generalised",
        triangulation.step,
        direct=True,
        along=triangulated,
    ),
    "TRIANGULATION_2007": Solver(
        1,
        "Triangulation 2007",
        "As published: bend the first joints and keep the rest of the chain straight",
        "Mueller-Cajar and Mukundan 2007",
        triangulation.step_2007,
        direct=True,
    ),
    "TRIANGULATION_RIGHT_ANGLE": Solver(
        14,
        "Triangulation, Right Angle",
        "Turn the first bones at right angles to the target, which spreads the bend over several joints",
        "Mueller-Cajar and Mukundan 2007, section 7",
        triangulation.step_right_angle,
        direct=True,
    ),
    "TRIANGULATION_CHEAPEST": Solver(
        15,
        "Triangulation, Cheapest Pair",
        "Rotate only the two joints that reach with the least rotation; the others keep their pose",
        "Mueller-Cajar and Mukundan 2007, with any two joints",
        cheapest_pair.step,
        direct=True,
    ),
    "SINGLE_PASS": Solver(
        2,
        "Single Pass",
        "Move around a target that is near, then reach with one wide bend; avoids sharp angles",
        "Mukundan 2009",
        single_pass.step,
        direct=True,
    ),
    "CCD": Solver(
        3,
        "Cyclic Coordinate Descent",
        "Rotate joint by joint from the tip, each so that the tip points at the target",
        "Inverse Kinematics: quaternion CCD",
        ccd.step,
    ),
    "CCD_STAGES": Solver(
        16,
        "CCD in Stages",
        "As published: each bone rotates freely, then returns to its hinge and limits",
        "Inverse Kinematics: quaternion CCD",
        ccd.step_in_stages,
    ),
    "GRADIENT": Solver(
        5,
        "Gradient",
        "Rotate every joint a little, in proportion to its effect on the tip",
        "Gradient methods, Method 1, gradient by calculation",
        gradient.step,
    ),
    "GRADIENT_MEASURED": Solver(
        6,
        "Gradient, Measured",
        "The same, with the effect of each joint found by trial rotations; slower, for comparison",
        "Gradient methods, Method 1, gradient by measurement",
        gradient.step_measured,
    ),
    "GRADIENT_ACCELERATED": Solver(
        7,
        "Gradient, Accelerated",
        "Rotate every joint at a speed that grows until it overshoots",
        "Gradient methods, Method 2, corrected",
        gradient.Accelerated,
    ),
    "GAUSS_NEWTON": Solver(
        8,
        "Gauss-Newton",
        "Rotate all joints together, within their limits; smooth where the target moves",
        "Gradient methods, with the step of Levenberg and Marquardt",
        gauss_newton.step,
    ),
    "JACOBIAN_TRANSPOSE": Solver(
        9,
        "Jacobian Transpose",
        "Rotate all joints in proportion to their effect, by the step that brings the tip nearest",
        "Wolovich and Elliott 1984; Buss 2004",
        jacobian_transpose.step,
    ),
    "FABRIK": Solver(
        10,
        "FABRIK",
        "Pull the joints along straight lines, from the target to the root and back",
        "Aristidou and Lasenby 2011",
        fabrik.step,
    ),
    "SIMPLEX": Solver(
        12,
        "Downhill Simplex",
        "A general minimizer that compares many poses at once; slow, for comparison",
        "Nelder and Mead 1965",
        direct_search.Simplex,
    ),
    "ROSENBROCK": Solver(
        13,
        "Rosenbrock",
        "A general minimizer that tries steps along adapted directions; slow, for comparison",
        "Rosenbrock 1960",
        direct_search.Rosenbrock,
    ),
}


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

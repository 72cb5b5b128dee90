# SPDX-License-Identifier: GPL-3.0-or-later
"""The table of solvers, and the settings of a solve."""

from dataclasses import dataclass

from ..errors import SettingError
from ..items import SOLVER_ROWS
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
from .batch.along_path import triangulated
from .natural import PLAIN_LIMB, LimbForm
from .solver import Solver

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

# SPDX-License-Identifier: GPL-3.0-or-later
"""Settings of a solve, as one record that is passed on as a whole."""

from dataclasses import dataclass

from ..errors import SettingError
from .natural import PLAIN_LIMB, LimbForm
from .registry import SOLVERS


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

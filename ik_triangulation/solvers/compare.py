# SPDX-License-Identifier: GPL-3.0-or-later
"""Comparison of solvers on the same tasks, in the measures of kinematics/cost.py."""

from collections.abc import Iterable
from dataclasses import replace
from math import degrees
from time import perf_counter
from typing import NamedTuple

from ..cooperative import Job, cooperative
from ..errors import ChainError, SettingError
from ..goals import Goal, Target
from ..kinematics import Pose
from .registry import SOLVERS
from .settings import SolverSettings
from .solve import solve_goal

COSTS = ("error", "iterations", "turns", "total_angle", "travel", "seconds")


class SolverResult(NamedTuple):
    """Totals of one solver over a number of `tasks`.

    `reached` is the number of tasks within tolerance, `error` the largest remaining distance [Blender units]; the
    others are sums: `total_angle` in radians, `travel` in Blender units, `seconds` of solving. `refusal` is the reason
    why the solver cannot solve this chain at all, if so.
    """

    solver: str
    tasks: int
    reached: int = 0
    error: float = 0.0
    iterations: int = 0
    turns: int = 0
    total_angle: float = 0.0
    travel: float = 0.0
    seconds: float = 0.0
    refusal: str = ""


def compare_solvers(
    start: Pose,
    target: Target,
    solvers: Iterable[str] = tuple(SOLVERS),
    *,
    tolerance: float = 1e-3,
    iterations: int = 100,
    finish: bool = True,
    seed: int = 0,
    by: str = "total_angle",
) -> list[SolverResult]:
    """Return a result for each solver from the same pose to the same target: see compare_all()."""
    settings = SolverSettings(iterations=iterations, finish=finish, seed=seed)
    return compare_all([(start, Goal(target, tolerance=tolerance))], solvers, settings, by=by)


@cooperative
def compare_all(
    tasks: Iterable[tuple[Pose, Goal]],
    solvers: Iterable[str] = tuple(SOLVERS),
    settings: SolverSettings | None = None,
    *,
    by: str = "total_angle",
) -> Job[list[SolverResult]]:
    """Return a result for each solver, summed over `tasks`: pairs of a start pose and a goal, for example one a frame.

    The solver of the `settings` is replaced by each of `solvers`. Results are sorted by the cost `by`, one of COSTS;
    solvers that reach fewer targets come after the others, and those that refuse the chain last. A step is one solve.
    Raises SettingError for an unknown cost, and as solve() does.
    """
    if by not in COSTS:
        raise SettingError(f"Cost '{by}' is unknown. Choose one of {', '.join(COSTS)}.")
    pairs, keys = list(tasks), list(solvers)
    results = []
    for number, solver in enumerate(keys):
        result, own = SolverResult(solver, len(pairs)), replace(settings or SolverSettings(), solver=solver)
        for done, (start, goal) in enumerate(pairs, 1):
            result = _added(result, start, goal, own)
            yield number * len(pairs) + done, len(keys) * len(pairs)
            if result.refusal:
                break
        results.append(result)
    return sorted(results, key=lambda result: (bool(result.refusal), -result.reached, getattr(result, by)))


def table(results: Iterable[SolverResult]) -> str:
    """Format results as text with a line of headings; angles in degrees."""
    rows = list(results)
    width = max((len(row.solver) for row in rows), default=0)
    lines = [f"{'solver':<{width}} {'reached':>11} {'error':>9} iterations  turns     angle    travel        ms"]
    for row in rows:
        name, reached = f"{row.solver:<{width}}", f"{row.reached}/{row.tasks}"
        angle, milliseconds = degrees(row.total_angle), 1e3 * row.seconds
        costs = f"{row.iterations:>10} {row.turns:>6} {angle:>9.2f} {row.travel:>9.4g} {milliseconds:>9.2f}"
        lines.append(f"{name} {row.refusal or f'{reached:>11} {row.error:>9.3g} {costs}'}")
    return "\n".join(lines)


def _added(total: SolverResult, start: Pose, goal: Goal, settings: SolverSettings) -> SolverResult:
    """The totals with one more task."""
    started = perf_counter()
    try:
        solution = solve_goal(start, goal, settings)
    except ChainError as error:
        return SolverResult(total.solver, total.tasks, refusal=str(error))
    seconds = perf_counter() - started
    cost = solution.cost
    return total._replace(
        reached=total.reached + solution.reached,
        error=max(total.error, solution.error),
        iterations=total.iterations + solution.iterations,
        turns=total.turns + cost.turns,
        total_angle=total.total_angle + cost.total_angle,
        travel=total.travel + cost.travel,
        seconds=total.seconds + seconds,
    )

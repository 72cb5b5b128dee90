# SPDX-License-Identifier: GPL-3.0-or-later
"""Comparison of solvers on the same tasks, by naturalness and in the measures of kinematics/cost.py."""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from math import degrees
from time import perf_counter
from typing import NamedTuple

from mathutils import Quaternion

from ..cooperative import Job, cooperative
from ..errors import ChainError, SettingError
from ..goals import Goal
from ..kinematics import Pose
from .naturalness import naturalness
from .registry import SOLVERS
from .settings import SolverSettings
from .solve import Solution, solve_goal

COSTS = ("naturalness", "error", "iterations", "turns", "total_angle", "travel", "seconds")


class SolverResult(NamedTuple):
    """Totals of one solver over a number of `tasks`.

    `reached` is the number of tasks within tolerance, `naturalness` the mean of naturalness() in degrees, the lower
    the better, `error` the largest remaining distance [Blender units]; the others are sums: `total_angle` in radians,
    `travel` in Blender units, `seconds` of solving. `refusal` is the reason why the solver cannot solve this chain at
    all, if so.
    """

    solver: str
    tasks: int
    reached: int = 0
    naturalness: float = 0.0
    error: float = 0.0
    iterations: int = 0
    turns: int = 0
    total_angle: float = 0.0
    travel: float = 0.0
    seconds: float = 0.0
    refusal: str = ""


@cooperative
def compare_all(
    tasks: Iterable[tuple[Pose, Goal]],
    solvers: Iterable[str] = tuple(SOLVERS),
    settings: SolverSettings | None = None,
    *,
    by: str = "naturalness",
    references: Sequence[Sequence[Quaternion]] | None = None,
    of_body: bool = True,
) -> Job[list[SolverResult]]:
    """Return a result for each solver, summed over `tasks`: pairs of a start pose and a goal, for example one a frame.

    A method that solves whole goals starts from its reference. The solver of the `settings` is replaced by each of
    `solvers`. Results are sorted by the cost `by`, one of COSTS; solvers that reach fewer targets come after the
    others, and those that refuse the chain last. Naturalness is judged by `references`, for each task the rotations of
    the joints in its reference pose, by default its start pose, and `of_body` as in naturalness(). A step is one solve.
    Raises SettingError for an unknown cost, and as solve() and naturalness() do.
    """
    if by not in COSTS:
        raise SettingError(f"Cost '{by}' is unknown. Choose one of {', '.join(COSTS)}.")
    pairs, keys = list(tasks), list(solvers)
    known = [start.rotations for start, _ in pairs] if references is None else references
    if len(known) != len(pairs):
        raise SettingError(f"There are {len(known)} references for {len(pairs)} tasks. Give one for each.")
    results = []
    for number, solver in enumerate(keys):
        result, own = SolverResult(solver, len(pairs)), replace(settings or SolverSettings(), solver=solver)
        for done, ((start, goal), reference) in enumerate(zip(pairs, known, strict=True), 1):
            started = perf_counter()
            try:
                begin = Pose(start.chain, start.base, reference) if SOLVERS[solver].whole else start
                solution = solve_goal(begin, goal, own)
            except ChainError as error:
                result = SolverResult(solver, len(pairs), refusal=str(error))
            else:
                seconds = perf_counter() - started
                result = _added(result, solution, naturalness(solution.pose, reference, of_body=of_body), seconds)
            yield number * len(pairs) + done, len(keys) * len(pairs)
            if result.refusal:
                break
        results.append(result)
    return sorted(results, key=lambda result: (bool(result.refusal), -result.reached, getattr(result, by)))


def table(results: Iterable[SolverResult]) -> str:
    """Format results as text with a line of headings; angles in degrees."""
    rows = list(results)
    width = max((len(row.solver) for row in rows), default=0)
    costs = "iterations  turns     angle    travel        ms"
    lines = [f"{'solver':<{width}} {'reached':>11} naturalness {'error':>9} {costs}"]
    for row in rows:
        name, reached = f"{row.solver:<{width}}", f"{row.reached}/{row.tasks}"
        angle, milliseconds = degrees(row.total_angle), 1e3 * row.seconds
        costs = f"{row.iterations:>10} {row.turns:>6} {angle:>9.2f} {row.travel:>9.4g} {milliseconds:>9.2f}"
        judged = f"{reached:>11} {row.naturalness:>11.1f} {row.error:>9.3g} {costs}"
        lines.append(f"{name} {row.refusal or judged}")
    return "\n".join(lines)


def _added(total: SolverResult, solution: Solution, natural: float, seconds: float) -> SolverResult:
    """The totals with one more task."""
    cost = solution.cost
    return total._replace(
        reached=total.reached + solution.reached,
        naturalness=total.naturalness + natural / total.tasks,
        error=max(total.error, solution.error),
        iterations=total.iterations + solution.iterations,
        turns=total.turns + cost.turns,
        total_angle=total.total_angle + cost.total_angle,
        travel=total.travel + cost.travel,
        seconds=total.seconds + seconds,
    )

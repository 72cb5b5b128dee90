# SPDX-License-Identifier: GPL-3.0-or-later
"""All solvers on the same work, side by side, in the measures of kinematics/cost.py."""

from collections.abc import Iterable
from math import degrees
from time import perf_counter
from typing import NamedTuple

from ..errors import ChainError, SettingError
from ..goals import Target
from ..kinematics import Pose
from ..work import Job, run_through
from . import SOLVERS, solve

COSTS = ("error", "iterations", "turns", "total_angle", "travel", "seconds")


class Row(NamedTuple):
    """What one solver made of a number of `tasks`.

    `reached` of them it brought within tolerance; `error` is the greatest that remained [Blender units]; the others are
    sums: `total_angle` in radians, `travel` in Blender units, `seconds` of solving. `refusal` says why the solver
    cannot do the chain at all, if so.
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


def compare(
    start: Pose,
    target: Target,
    solvers: Iterable[str] = tuple(SOLVERS),
    tolerance: float = 1e-3,
    iterations: int = 100,
    finish: bool = True,
    by: str = "total_angle",
    seed: int = 0,
) -> list[Row]:
    """A row for each solver from the same pose to the same target: see compare_all()."""
    return compare_all([(start, target)], solvers, tolerance, iterations, finish, by, seed)


def compare_all(
    tasks: Iterable[tuple[Pose, Target]],
    solvers: Iterable[str] = tuple(SOLVERS),
    tolerance: float = 1e-3,
    iterations: int = 100,
    finish: bool = True,
    by: str = "total_angle",
    seed: int = 0,
) -> list[Row]:
    """A row for each solver, summed over `tasks`: pairs of a pose to start from and a target, one a frame, say.

    The rest is as solve() takes it. The cheapest by the cost `by`, one of COSTS, comes first; those that reach fewer
    targets come after, and those that refuse the chain last. Raises SettingError for an unknown cost, and as solve()
    does.
    """
    return run_through(comparing(tasks, solvers, tolerance, iterations, finish, by, seed))


def comparing(
    tasks: Iterable[tuple[Pose, Target]],
    solvers: Iterable[str],
    tolerance: float,
    iterations: int,
    finish: bool,
    by: str,
    seed: int,
) -> Job[list[Row]]:
    """What compare_all() does, solve by solve: yields those done and those in all."""
    if by not in COSTS:
        raise SettingError(f"Cost '{by}' is unknown. Choose one of {', '.join(COSTS)}.")
    pairs, keys = list(tasks), list(solvers)
    rows = []
    for number, solver in enumerate(keys):
        row = Row(solver, len(pairs))
        for done, (start, target) in enumerate(pairs, 1):
            row = _with(row, start, target, tolerance, iterations, finish, seed)
            yield number * len(pairs) + done, len(keys) * len(pairs)
            if row.refusal:
                break
        rows.append(row)
    return sorted(rows, key=lambda row: (bool(row.refusal), -row.reached, getattr(row, by)))


def table(rows: Iterable[Row]) -> str:
    """Rows as text with a line of headings; angles in degrees."""
    rows = list(rows)
    width = max((len(row.solver) for row in rows), default=0)
    lines = [f"{'solver':<{width}} {'reached':>11} {'error':>9} iterations  turns     angle    travel        ms"]
    for row in rows:
        name, reached = f"{row.solver:<{width}}", f"{row.reached}/{row.tasks}"
        angle, milliseconds = degrees(row.total_angle), 1e3 * row.seconds
        costs = f"{row.iterations:>10} {row.turns:>6} {angle:>9.2f} {row.travel:>9.4g} {milliseconds:>9.2f}"
        lines.append(f"{name} {row.refusal or f'{reached:>11} {row.error:>9.3g} {costs}'}")
    return "\n".join(lines)


def _with(row: Row, start: Pose, target: Target, tolerance: float, iterations: int, finish: bool, seed: int) -> Row:
    """The row with one more task done."""
    started = perf_counter()
    try:
        solution = solve(start, target, row.solver, tolerance, iterations, finish, seed)
    except ChainError as error:
        return Row(row.solver, row.tasks, refusal=str(error))
    seconds = perf_counter() - started
    cost = solution.cost
    return row._replace(
        reached=row.reached + solution.reached,
        error=max(row.error, solution.error),
        iterations=row.iterations + solution.iterations,
        turns=row.turns + cost.turns,
        total_angle=row.total_angle + cost.total_angle,
        travel=row.travel + cost.travel,
        seconds=row.seconds + seconds,
    )

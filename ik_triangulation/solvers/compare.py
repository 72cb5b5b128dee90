# SPDX-License-Identifier: GPL-3.0-or-later
"""Comparison of the solvers on a pose, by cost and naturalness.

Naturalness of a pose: how far it is from a reference pose, and how far joints bend as those of a body do not.

It is a sum of angles in degrees; 0 is best:

- the mean, over the joints that can move, of the rotation from the reference to the pose;
- of each joint the angle by which it is outside its limits;
- of an arm or a leg, two long bones with or without an end such as a hand or a foot: the angle by which the elbow or
  knee bends backwards, the angle by which it bends sideways beyond 30 degrees, and the angle by which the end swings
  from its rest pose beyond 60 degrees.

An elbow or knee bends forwards as it does at rest, or, where the limb is straight at rest, as in the reference. Angles
are measured in the frame of the first bone: backwards about the axis of that bend, sideways out of its plane. Where the
limb is straight in both neither counts.
"""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from math import asin, atan2, degrees, hypot
from time import perf_counter
from typing import NamedTuple

from mathutils import Quaternion, Vector

from ..cooperative import Job, cooperative
from ..errors import ChainError, SettingError
from ..goals import Goal
from ..kinematics import Pose
from ..kinematics.framed import bend_about, flexion_axis
from ..kinematics.rotation import orientation, rotation_angle
from .solve import SOLVERS, Solution, SolverSettings, solve_goal

# [degrees]
_SIDEWAYS = 30.0  # that count nothing: joints of a body, and axes of a rig, are that loose
_SWING = 60.0  # of a wrist or an ankle, likewise

COSTS = ("naturalness", "error", "iterations", "turns", "total_angle", "travel", "seconds")


def naturalness(pose: Pose, reference: Sequence[Quaternion], *, of_body: bool = True) -> float:
    """Return the naturalness of a pose [degrees], by the rotations that its joints have in the reference pose.

    Without `of_body` the bends of arms and legs are not looked at; with it a chain of two or three joints that can move
    counts as one. Raises SettingError unless there is a reference for each joint.
    """
    joints = pose.chain.joints
    if len(reference) != len(joints):
        raise SettingError(f"The reference has {len(reference)} rotations for {len(joints)} joints. Give it as many.")
    moving = [i for i, joint in enumerate(joints) if joint.freedom.moves]
    if not moving:
        return 0.0
    turns = [rotation_angle(reference[i], pose.rotations[i]) for i in moving]
    outside = [rotation_angle(joints[i].freedom.nearest(pose.rotations[i]), pose.rotations[i]) for i in moving]
    bends = _bends(pose, reference, moving) if of_body and len(moving) in (2, 3) else 0.0
    return degrees(sum(turns) / len(moving) + sum(outside)) + bends


def _bends(pose: Pose, reference: Sequence[Quaternion], moving: Sequence[int]) -> float:
    """Return the unnatural bends of an arm or a leg [degrees]."""
    root, middle, *ends = moving
    end = ends[0] if ends else None
    total = 0.0
    if end is not None:
        w, x, y, z = pose.rotations[end]
        total += max(degrees(2.0 * atan2(hypot(x, z), hypot(w, y))) - _SWING, 0.0)
    links = _links(pose, root, middle, end)
    others = pose.chain.rest_pose(), Pose(pose.chain, pose.base, reference)
    axes = (flexion_axis(_links(other, root, middle, end), [1]) for other in others)
    axis = next((axis for axis in axes if axis is not None), None)
    if axis is None or not all(link.length for link in links):
        return total
    backwards = -degrees(bend_about(axis, *links))
    sideways = degrees(asin(min(abs(links[1].normalized().dot(axis)), 1.0)))
    return total + max(backwards, 0.0) + max(sideways - _SIDEWAYS, 0.0)


def _links(pose: Pose, root: int, middle: int, end: int | None) -> tuple[Vector, Vector]:
    """Return the vectors from root to middle joint and on to the end or the tip, in the frame of the first bone."""
    last = pose.tip if end is None else pose.head(end)
    back = orientation(pose.frame(root)).inverted()
    return back @ (pose.head(middle) - pose.head(root)), back @ (last - pose.head(middle))


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

# SPDX-License-Identifier: GPL-3.0-or-later
"""Finish: bounded Gauss-Newton with restarts from other poses, so that every reachable target is reached.

Source: the annealing of seed document quaternion-ccd ("exercise for the reader"): restarts from random poses inside the
limits, increasingly far away, of which the best is kept. They are made in rounds of solvers.batch.restarts, as a batch;
where a chain is scaled, or a target has no formula on arrays, one after the other in the same way.
"""

from collections.abc import Sequence
from random import Random

from ..goals import Goal, Point, Target
from ..goals.batch import are_formulas, tasks_of
from ..kinematics import Pose
from ..kinematics.chain import LENGTH_ROUNDING
from . import gauss_newton, triangulation
from .batch.descent import PLAIN, Descent
from .batch.one_pose import is_batched, search
from .batch.restarts import ROUNDS
from .iterate import iterate
from .restarts import restart_one_by_one

_CORRECTIONS = 8  # steps of Gauss-Newton that correct the rounding of a pose found in double precision


def finish(
    pose: Pose, target: Target, enough: float, iterations: int, seed: int, rounds: Sequence[int] = ROUNDS
) -> tuple[float, int]:
    """Minimise the distance by Gauss-Newton, with restarts from random poses; leaves the best pose seen.

    For a chain without limits a pass of triangulation comes first: it is the optimum, also for a target out of reach.
    Returns the distance [Blender units] and the number of steps, those of all restarts together.
    """
    free = not pose.chain.limited
    least, count = iterate(triangulation.step, pose, target, enough, 1 if free else 0)
    if least > enough:
        least, more = iterate(gauss_newton.step, pose, target, enough, iterations)
        count += more
    if least <= enough or not iterations or not rounds:
        return least, count
    rounding = LENGTH_ROUNDING * pose.chain.reach
    goal = Goal(target, (), max(0.5 * enough, enough - 2.0 * rounding))
    tasks = tasks_of([goal], pose.chain.reach) if is_batched(pose) else None
    if tasks is None or not are_formulas(tasks):
        least, more = restart_one_by_one(pose, target, enough, iterations, Random(seed), rounds)
        return least, count + more
    best, turns = pose.rotations[:], len(pose.turns)
    met, more = search(pose, tasks, seed, rounds, Descent(iterations=min(iterations, PLAIN.iterations)), stuck=True)
    count += more
    error, more = iterate(gauss_newton.step, pose, target, enough, min(iterations, _CORRECTIONS) if met else 0)
    if error >= least:
        pose.restore(best, turns)
    return min(error, least), count + more


def least_error(pose: Pose, target: Target) -> float:
    """Lower bound of the distance for any pose, from the lengths alone [Blender units]; 0 where none is known."""
    if not pose.chain.plain:
        return 0.0
    nearest, farthest = pose.chain.reaches[0]
    root = pose.head(0)
    distance = (target.closest(root) - root).length
    inside = nearest - distance if isinstance(target, Point) else 0.0
    return max(0.0, distance - farthest, inside)

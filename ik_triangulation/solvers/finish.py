# SPDX-License-Identifier: GPL-3.0-or-later
"""Finish after the chosen solver: Gauss-Newton with restarts, until the target is reached or out of reach.

Restarts of one pose, one after the other, for what cannot be solved on arrays: scaled chains and fields. Rounds and
draws are those of solvers.batch.restarts, where the source is named.

Finish: bounded Gauss-Newton with restarts from other poses, so that every reachable target is reached. Source: the
annealing of seed document quaternion-ccd ("exercise for the reader"): restarts from random poses inside the limits,
increasingly far away, of which the best is kept. They are made in rounds of solvers.batch.restarts, as a batch; where a
chain is scaled, or a target has no formula on arrays, one after the other in the same way.
"""

from collections.abc import Callable, Sequence
from math import isfinite
from operator import itemgetter
from random import Random
from typing import NamedTuple

from mathutils import Quaternion

from ..goals import Goal, Point, Target
from ..goals.from_goals import are_formulas, tasks_of
from ..kinematics import Pose
from ..kinematics.freedom import Coordinate
from ..kinematics.pose import LENGTH_ROUNDING
from . import gauss_newton, triangulation
from .batch.descent import PLAIN, Descent
from .batch.restarts import AT_ENDS, DRAWN, KEPT, NEARBY, ROUNDS, TRIAL_STEPS, is_batched, search
from .solver import iterate

_CORRECTIONS = 8  # steps of Gauss-Newton that correct the rounding of a pose found in double precision
# Steps of Gauss-Newton from the nearest pose that the restarts have found for a target that is missed.
_LAST_STEPS, _LAST_PATIENCE, _LAST_GAIN = 60, 10, 1e-5


class _Try(NamedTuple):
    """A pose that was tried, with its distance, and the number of turns that led to it."""

    error: float
    rotations: list[Quaternion]
    turns: list[tuple[int, Quaternion]]


def restart_one_by_one(
    pose: Pose, target: Target, enough: float, iterations: int, random: Random, rounds: Sequence[int]
) -> tuple[float, int]:
    """Restart Gauss-Newton from random poses until the error is at most `enough`; leaves the best pose seen.

    Returns the error [Blender units] and the number of steps.
    """
    steps = 0
    best = _tried(pose, target)
    for count in rounds:
        begun, tries = best, []
        for number in range(count):
            if best.error <= enough:
                break
            _show(pose, begun)
            perturb_best(pose, lambda: _tried(pose, target).error, min(1.0, (number + 1) / NEARBY), random)
            steps += iterate(gauss_newton.step, pose, target, enough, min(iterations, TRIAL_STEPS))[1]
            tries.append(_tried(pose, target))
            best = min(best, tries[-1], key=_error)
        for each in sorted(tries, key=_error)[: max(1, round(KEPT * count))]:
            if best.error <= enough:
                break
            _show(pose, each)
            steps += iterate(gauss_newton.step, pose, target, enough, iterations)[1]
            best = min(best, _tried(pose, target), key=_error)
    _show(pose, best)
    return best.error, steps


def perturb_best(pose: Pose, measure: Callable[[], float], share: float, random: Random) -> None:
    """Rotate every joint by `share` of the rotation to a random one inside its limits: the best draw of several.

    `measure` returns the value of the pose as it is at the moment; the least is the best.
    """
    start, turns = pose.rotations[:], pose.turns[:]
    drawn = []
    for _ in range(DRAWN):
        pose.restore(start, len(turns))
        perturb(pose, random, share, AT_ENDS)
        drawn.append((measure(), pose.rotations[:]))
    pose.restore(start, len(turns))
    for i, rotation in enumerate(min(drawn, key=itemgetter(0))[1]):
        if rotation is not start[i]:
            pose.put(i, rotation)


def perturb(pose: Pose, random: Random, share: float, ends: float = 0.0) -> None:
    """Rotate every joint by `share` of the rotation to a random one inside its limits, `ends` of its angles at an end.

    An angle has an end where its range is finite.
    """
    for i, joint in enumerate(pose.chain.joints):
        if joint.freedom.moves:
            drawn = joint.freedom.random(random)
            if ends > 0.0:
                values = [_at_end(each, ends, random) for each in joint.freedom.coordinates(drawn)]
                drawn = joint.freedom.at(drawn, values)
            away = pose.rotations[i].slerp(drawn, share)
            away.normalize()  # slerp() does not return unit quaternions for rotations less than 2 degrees apart
            pose.put(i, joint.freedom.nearest(away))


def _at_end(coordinate: Coordinate, ends: float, random: Random) -> float:
    _, value, lower, upper = coordinate
    end = random.choice((lower, upper))
    return end if random.random() < ends and isfinite(end) else value


def _tried(pose: Pose, target: Target) -> _Try:
    return _Try((target.closest(pose.tip) - pose.tip).length, pose.rotations[:], pose.turns[:])


def _show(pose: Pose, tried: _Try) -> None:
    pose.restore(tried.rotations, 0)
    pose.turns[:] = tried.turns


def _error(tried: _Try) -> float:
    return tried.error


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
    if met:
        error, more = iterate(gauss_newton.step, pose, target, enough, min(iterations, _CORRECTIONS))
    else:  # at ends of ranges the nearest pose is come to slowly
        last = min(iterations, _LAST_STEPS) if len(rounds) > 1 else 0
        error, more = iterate(gauss_newton.step, pose, target, enough, last, _LAST_PATIENCE, _LAST_GAIN)
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

# SPDX-License-Identifier: GPL-3.0-or-later
"""Null-space optimisation: residuals of soft goals minimised with the tip kept, of one pose or of many states.

Bounded, damped least squares subject to J_tip dq = 0. Source: the soft constraints of "Inverse Kinematics" (seed
document gradient-methods); task priority by Nakamura, Hanafusa and Yoshikawa 1987, "Task-priority based redundancy
control of robot manipulators"; damping as by Levenberg 1944 and Marquardt 1963, increasing with the cost as by
Yamashita and Fukushima 2001, for soft goals that cannot be met. With r the residuals of the soft goals, J their
Jacobian and T that of the tip, a step d minimises |r + J d|^2 + damping |d|^2 subject to T d = 0. The tip then moves
only by the curvature of its path, which Gauss-Newton corrects. On a target of more than one point T is restricted to
the directions that lead off it: the tip may slide along a line or a plane.

Many states, for comfort and links out of obstacles: a damped least-squares step of all that is below the most urgent
level, in the null space of that, is put right by Gauss-Newton and accepted state by state where it costs less.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from math import sqrt
from random import Random
from typing import Any

import numpy as np
from mathutils import Quaternion, Vector

from ..goals import Goal, Point, Target
from ..goals.from_goals import BATCHED, RADIAN, are_formulas, tasks_of
from ..goals.goal import JointAxis, SoftGoal, ranked, soft_cost
from ..goals.task import Task
from ..kinematics import Pose
from ..kinematics.arrays import Numbers
from ..kinematics.batch import States, Tree
from . import gauss_newton
from .batch.change import System, bounded_change
from .batch.descent import Descent, at_one_level, descend, precisely
from .batch.restarts import ROUNDS, is_batched, search
from .finish import perturb_best
from .jacobian import apply_changes, jacobian
from .solver import iterate

_DAMPING, _MORE, _LESS, _LEAST = 1e-3, 8.0, 0.25, 1e-6
_STEPS, _ATTEMPTS = 60, 6
_CONVERGED = 1e-5  # relative decrease of the cost below which the steps have converged
_NO_COST = 1e-12  # [rad^2] cost that counts as zero
_MAX_STEP = 0.7  # [rad] change of a coordinate in one step
_CORRECTIONS = 4  # steps of Gauss-Newton that correct the tip
_TIP_PRECISION = 1e-6  # of the reach: their tolerance, at the limit of single precision
_RESTARTS = 8  # one after the other, while soft goals without a formula on arrays are not met
MET = 1e-6  # [rad^2] cost up to which they count as met
_LEAST_ANGLE = 1e-5  # [rad] to which the restarts made as a batch meet an angle; optimise() goes on from there
_SLIDE = 1e-3  # of the reach: step of the finite differences along a target
# Of many states: steps at most, those in a row that were refused, decrease that ends them, [rad] change in a step
_STEPS_OF_MANY, _TRIES, _CONVERGED_OF_MANY, _LARGEST = 40, 8, 1e-4, 0.5
_CORRECTION = Descent(iterations=4, stall=2)


def settle_preferences(tree: Tree, states: States, tasks: Sequence[Task], preferences: Sequence[Task]) -> None:
    """Lower the cost of `preferences`, and of the less urgent `tasks`, in place, where the urgent tasks are met.

    The cost never increases, and states that miss an urgent task stay as they are.
    """
    urgent = [task for task in precisely(tree, tasks) if task.level == 0]
    soft = [*(task for task in tasks if task.level > 0), *preferences]
    active = np.flatnonzero(System(tree, states, [task for task in tasks if task.level == 0]).met)
    some, damping = states.take(active), np.full(len(active), _DAMPING)
    refused = np.zeros(len(active), int)
    for _ in range(_STEPS_OF_MANY):
        if not len(active):
            break
        held, others = ([task.take(active) for task in each] for each in (urgent, soft))
        now = System(tree, some, [*held, *others])
        before = _cost(now, len(held))
        low = np.full((tree.columns, len(active)), -_LARGEST)
        high = -low
        low[: tree.angles], high[: tree.angles] = tree.ranges(some, _LARGEST)
        errors, levels = now.errors()
        levels = np.minimum(levels, 1)
        change = bounded_change(now.jacobian(), errors, levels, low, high, tree.compliance, damping, tree.size)
        moved = now.after(change).states
        if held:
            descend(tree, moved, held, _CORRECTION)
        after = System(tree, moved, [*held, *others])
        found = _cost(after, len(held))
        kept = System(tree, moved, [task.take(active) for task in tasks if task.level == 0]).met
        better = kept & (found < before)
        some = some.copy()
        some.put(np.flatnonzero(better), moved.take(np.flatnonzero(better)))
        states.put(active[better], moved.take(np.flatnonzero(better)))
        damping = np.where(better, np.maximum(damping * _LESS, _LEAST), damping * _MORE)
        refused = np.where(better, 0, refused + 1)
        left = np.flatnonzero(np.where(better, before - found > _CONVERGED_OF_MANY * before, refused < _TRIES))
        active, damping, refused, some = active[left], damping[left], refused[left], some.take(left)


def _cost(system: System, urgent: int) -> Numbers:
    """Weighted sum (F) of the squared errors of all tasks but the first so many."""
    cost = np.zeros(len(system.met))
    for measured in system.measured[urgent:]:
        cost += np.einsum("rf,rf->f", measured.errors, measured.errors)
    return cost


def optimise(pose: Pose, target: Target, soft: Sequence[SoftGoal], enough: float) -> int:
    """Minimise the cost of the soft goals with the tip at the target; returns the number of steps.

    The tip stays within `enough` of the target [Blender units], or as near as it was. The cost never increases; in it
    goals that cannot be met rank below those that can.
    """
    soft = ranked(soft)
    cost, damping = soft_cost(pose, soft), _DAMPING
    allowed, close = max(enough, _error(pose, target)), _TIP_PRECISION * pose.chain.reach
    for count in range(_STEPS):
        if cost < _NO_COST:
            return count
        start, recorded = pose.rotations[:], len(pose.turns)
        task = _Linearisation(pose, soft, _off_target(pose, target, enough))
        if not task.joints:
            return count
        for _ in range(_ATTEMPTS):
            task.apply(pose, damping)
            iterate(gauss_newton.step, pose, target, close, _CORRECTIONS)
            found = soft_cost(pose, soft)
            if found < cost and _error(pose, target) <= allowed:
                break
            pose.restore(start, recorded)
            damping *= _MORE
        else:
            return count
        damping = max(damping * _LESS, _LEAST)
        if cost - found < _CONVERGED * cost:
            return count + 1
        cost = found
    return _STEPS


def optimise_from_restarts(pose: Pose, target: Target, soft: Sequence[SoftGoal], enough: float, seed: int) -> int:
    """Restart from random poses while soft goals that can be met are not; leaves the best pose.

    Returns the number of steps, those of all restarts together.
    """
    attainable = [each for each in soft if each.can_be_met]
    if _error(pose, target) > enough or soft_cost(pose, attainable) <= MET:
        return 0
    best = _Best(pose, target, soft, enough)
    searches = [*_searches(pose, target, attainable, enough)]
    for tasks, rounds in searches:
        best.steps += search(pose, tasks, seed, rounds)[1]
        best.improve()
        if soft_cost(pose, attainable) <= MET:
            return best.steps
    if not searches or not all(isinstance(each, BATCHED) for each in attainable):
        random = Random(seed)

        def missing() -> float:
            return (_error(pose, target) / (RADIAN * pose.chain.reach)) ** 2 + 2.0 * soft_cost(pose, attainable)

        for _ in range(_RESTARTS):
            perturb_best(pose, missing, 1.0, random)
            best.improve()
            if soft_cost(pose, attainable) <= MET:
                break
    return best.steps


class _Best:
    """The pose that reaches with the least cost of the soft goals, and the number of `steps` made to find it."""

    def __init__(self, pose: Pose, target: Target, soft: Sequence[SoftGoal], enough: float) -> None:
        self._pose, self._target, self._soft, self._enough = pose, target, ranked(soft), enough
        self.steps, self._cost = 0, soft_cost(pose, self._soft)
        self._rotations, self._turns = pose.rotations[:], pose.turns[:]

    def improve(self) -> None:
        """Reach and optimise from the pose as it now is; leaves the best one."""
        pose, target = self._pose, self._target
        error, count = iterate(gauss_newton.step, pose, target, _TIP_PRECISION * pose.chain.reach, _STEPS)
        if error <= self._enough:
            count += optimise(pose, target, self._soft, self._enough)
            found = soft_cost(pose, self._soft)
            if found < self._cost and _error(pose, target) <= self._enough:
                self._rotations, self._turns, self._cost = pose.rotations[:], pose.turns[:], found
        self.steps += count
        pose.restore(self._rotations, 0)
        pose.turns[:] = self._turns


def _searches(
    pose: Pose, target: Target, soft: Sequence[SoftGoal], enough: float
) -> Iterator[tuple[list[Task], Sequence[int]]]:
    """The tasks to restart with as a batch, and the rounds: everything at once, then the place before the rest."""
    turned = [each for each in soft if isinstance(each, BATCHED) and each.weight > 0.0]
    if not turned or not is_batched(pose):
        return
    most = max(each.weight for each in turned)
    alike = tuple(replace(each, weight=each.weight / most) for each in turned)
    angle = max(_LEAST_ANGLE, sqrt(MET / len(turned)) / max(1.0, most))
    tasks = tasks_of([Goal(target, alike, 0.5 * enough, angle)], pose.chain.reach)
    if are_formulas(tasks):
        yield at_one_level(tasks), ROUNDS
        yield tasks, ROUNDS[:-1]


def _error(pose: Pose, target: Target) -> float:
    return (target.closest(pose.tip) - pose.tip).length


def _off_target(pose: Pose, target: Target, enough: float) -> np.ndarray[Any, Any]:
    """Projection (3x3) of a displacement of the tip onto directions that lead off the target, by finite differences.

    The identity for a point; for a plane only the normal direction remains.
    """
    if isinstance(target, Point) or _error(pose, target) > enough:
        return np.eye(3)
    tip, size = pose.tip, _SLIDE * pose.chain.reach
    steps = (Vector([size * (i == axis) for i in range(3)]) for axis in range(3))
    along = [(target.closest(tip + step) - target.closest(tip - step)) / (2.0 * size) for step in steps]
    off: np.ndarray[Any, Any] = np.eye(3) - np.array(along).T
    return off


class _Linearisation:
    """Residuals of the soft goals and Jacobians of these and of the tip at a pose, in double precision."""

    def __init__(self, pose: Pose, soft: Sequence[SoftGoal], off_target: np.ndarray[Any, Any]) -> None:
        self.joints, columns = jacobian(pose, _MAX_STEP)
        dofs = [
            JointAxis(i, axis, pose.head(i), weight)
            for i, weight, rotation, _ in self.joints
            for axis in _axes(pose, i, rotation)
        ]
        residuals = [residual for goal in soft for residual in goal.residuals(pose, dofs)]
        table = np.array(columns).reshape(-1, 5)
        self.tip = off_target @ table[:, :3].T / pose.chain.reach
        self.least, self.most = table[:, 3], table[:, 4]
        self.residuals = np.array([value for value, _ in residuals])
        self.jacobian = np.array([row for _, row in residuals]).reshape(len(residuals), len(dofs))

    def apply(self, pose: Pose, damping: float) -> None:
        """Take a step from the pose of the linearisation."""
        apply_changes(pose, self.joints, self._step(damping).tolist())

    def _step(self, damping: float) -> np.ndarray[Any, Any]:
        """Solve for the change of every coordinate subject to T d = 0 and the bounds, activated one by one."""
        count = len(self.least)
        step, free = np.zeros(count), np.ones(count, dtype=bool)
        cost = self.residuals @ self.residuals  # bounds the curvature that Gauss-Newton neglects
        while free.any():
            tip, soft = self.tip[:, free], self.jacobian[:, free]
            size = tip.shape[1]
            normal = soft.T @ soft
            normal[np.diag_indices(size)] += damping * max(np.trace(normal) / size + cost, 1e-12)
            system = np.block([[normal, tip.T], [tip, -1e-12 * np.eye(3)]])
            wanted = np.concatenate(
                (
                    -soft.T @ (self.residuals + self.jacobian[:, ~free] @ step[~free]),
                    -self.tip[:, ~free] @ step[~free],
                )
            )
            found = np.linalg.lstsq(system, wanted, rcond=1e-10)[0][:size]
            over = np.maximum(found - self.most[free], self.least[free] - found)
            worst = int(over.argmax())
            if over[worst] <= 1e-12:
                step[free] = found
                break
            n = int(np.flatnonzero(free)[worst])
            step[n] = min(max(found[worst], self.least[n]), self.most[n])
            free[n] = False
        return step


def _axes(pose: Pose, i: int, rotation: Quaternion) -> Iterator[Vector]:
    """Unit axis in armature space of each degree of freedom of joint `i`."""
    socket = pose.socket(i)
    sign = -1.0 if socket.is_negative else 1.0  # a mirrored frame reverses every rotation
    for coordinate in pose.chain.joints[i].freedom.coordinates(rotation):
        yield (socket @ coordinate.axis).normalized() * sign

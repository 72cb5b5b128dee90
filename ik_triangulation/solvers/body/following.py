# SPDX-License-Identifier: GPL-3.0-or-later
"""A body that follows goals which move a little at a time, as while one of its tips is dragged."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ...goals.batch import BalanceTask, Level, PlaceTask, Task
from ...goals.batch.floor import FloorTask
from ...kinematics.arrays import Numbers
from ...kinematics.batch import Geometry, States, Tree
from ...kinematics.batch.algebra import lengths
from ..batch.change import bounded_change
from ..batch.descent import Descent, descend, hold
from ..batch.system import System
from ..natural.posture import Posture
from .flexing import errors_of_tips, inclination, inclined
from .floor import Floor, kept_above
from .priorities import HELD_SHARE, at_two_levels
from .reaching import reaching_of
from .stiffness import body_compliance

_GAIN = 0.3  # of a step of posture: there are many in a drag
_DAMPING = 1e-3  # share of the trace, times error / size, as in a descent
_LARGEST = 0.6  # [rad] change of any column in one step
_STRETCH = 0.3  # of the tree's size: way of a tip in one move at most
_DESCENT = Descent(iterations=1, stall=1, tries=1)  # out of reach more steps only cost time
_HOLDING = Descent(iterations=3, stall=1, tries=1)
_FIRMLY, _ALMOST = Descent(iterations=8, stall=2), 0.02  # for what misses by less than that share of the size


class BodyFollower:
    """Poses of a body that go from one set of goals to the next, with what stays the same for all of them.

    `reference` are the poses made by hand, `held` the tasks of held tips, `steady` balance, and `floor` the bound below
    the body; each for as many poses.
    """

    def __init__(
        self,
        tree: Tree,
        reference: States,
        held: Sequence[Task],
        steady: BalanceTask | None,
        floor: Floor | None = None,
    ) -> None:
        self._tree, self._reference = tree, reference
        self._reaching = reaching_of(tree, reference, held, steady)
        self._amounts: Numbers | None = None  # of the basis of reaching, for the goals before
        self._held = [task.within(HELD_SHARE * task.tolerance) for task in held]
        self._steady = [steady] if steady else []
        self._floor = floor
        self._compliance = body_compliance(tree)

    def moved(self, states: States, goals: Sequence[Task]) -> States:
        """The states for other goals, as near to them as priorities allow.

        One step with posture and balance; then what that leaves of the goals, and last held tips, without a leap.
        """
        tree, held = self._tree, self._held
        goals = self._floor.raised(goals) if self._floor else goals
        bounds = kept_above(self._floor, (), Geometry(tree, states))
        system = System(tree, states, [*held, *goals, *bounds, *self._steady])
        near = [*held, *(_nearer(system.geometry, task, _STRETCH * tree.size) for task in goals), *bounds]
        states = self._relaxed(system, [*near, *self._steady], self._posture(goals))
        met, _ = descend(tree, states, at_two_levels(near), _DESCENT)
        if not met.all():
            self._give_way(states, goals, near)
            if held:
                hold(tree, states, held, _HOLDING, 1.0)
        return states

    def _give_way(self, states: States, goals: Sequence[Task], near: Sequence[Task]) -> None:
        """Meet all goals but the place that is missed most, in place; that comes as near as the others leave it."""
        measured = System(self._tree, states, goals).measured
        missed = {
            task.tip: float((off.off - task.tolerance).max())
            for task, off in zip(goals, measured, strict=True)
            if isinstance(task, PlaceTask) and (off.off > task.tolerance).any()
        }
        if not missed:
            return
        far = max(missed, key=missed.__getitem__)
        if missed[far] < _ALMOST * self._tree.size:  # it may be but the one step that was made which falls short
            tried = states.copy()
            if descend(self._tree, tried, at_two_levels(near), _FIRMLY)[0].all():
                states.put(slice(None), tried)
                return
        others = [task for task in near if task.level == Level.HOLD or isinstance(task, FloorTask) or task.tip != far]
        if len(others) > len(self._held):
            descend(self._tree, states, at_two_levels(others), _HOLDING)

    def _relaxed(self, system: System, near: Sequence[Task], posture: Posture) -> States:
        """The states of a system after a step towards tasks and, in what these leave free, towards a posture."""
        tree, states, geometry = self._tree, system.states, system.geometry
        for number, (wanted, task) in enumerate(zip(near, system.tasks, strict=True)):
            if wanted is not task:
                system.measured[number] = wanted.measure(geometry)
        high = np.full((tree.columns, len(states)), np.inf)
        low = -high
        low[: tree.angles], high[: tree.angles] = tree.ranges(states, np.inf)
        errors, levels = system.errors()
        damping = _DAMPING * np.minimum(1.0, np.sqrt((errors**2).sum(0)) / tree.size)
        wish = posture.columns(geometry, -_GAIN * posture.offsets(states))
        rows = system.jacobian()
        change = bounded_change(rows, errors, levels, low, high, self._compliance, damping, tree.size, wish)
        change *= _LARGEST / np.maximum(np.abs(change).max(0), _LARGEST)
        return tree.moved(states, geometry.frames, change)

    def _posture(self, goals: Sequence[Task]) -> Posture:
        """The posture for goals, as a body is solved for them: trunk and legs take part, straight limbs incline to
        bend."""
        tips = {task.tip for task in [*self._held, *goals]}
        states = self._reference
        if self._reaching:
            self._amounts = self._reaching.amounts(goals, self._amounts)
            states = self._reaching.posed(self._amounts, goals)
            tips.difference_update(self._reaching.tips)
        level = inclination(self._tree, errors_of_tips(Geometry(self._tree, states), goals))
        return Posture(self._tree, inclined(self._tree, states, level, tips))


def _nearer(geometry: Geometry, task: Task, stretch: float) -> Task:
    """The same task with a place at most a `stretch` from where its tip is; other tasks as they are."""
    if not isinstance(task, PlaceTask) or task.level == Level.HOLD:
        return task
    way = task.measure(geometry).errors
    far = lengths(way)
    if (far <= stretch).all():
        return task
    return task.to_points(geometry.tip(task.tip) + way * np.minimum(1.0, stretch / np.maximum(far, 1e-300)))

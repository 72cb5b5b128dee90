# SPDX-License-Identifier: GPL-3.0-or-later
"""A body that follows its goals from pose to pose, whether they are dragged, set by a script or played."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from bpy.types import Scene

from ..cooperative import finished
from ..goals.batch import PlaceTask, Task
from ..goals.batch.of_bodies import hold_tasks
from ..kinematics.batch import Geometry, States
from ..kinematics.batch.algebra import lengths
from ..rig.body import RigBody
from ..rig.frames.body_samples import BodySamples
from ..solvers.batch.system import System
from ..solvers.body.following import BodyFollower
from ..solvers.natural.posture import Posture
from .body_problem import BodyProblem
from .contact_frames import read_contacts

_LEAP, _FAR = 0.05, 0.3  # of the body's size: way of a goal in one step, and from which on the body is posed anew
_ALIKE = 0.6  # [rad] difference of a joint up to which a pose that rests becomes that of Solve Pose
_SETTLING = 20  # steps of one that does not


class BodyMotion:
    """Poses of a body, each from the one before; the first one, and one after a leap, as Solve Pose poses it."""

    def __init__(self, rig: RigBody, samples: BodySamples, scene: Scene, states: States | None = None) -> None:
        """Follow from `states`, if they are of the same body."""
        contacts = finished(read_contacts(rig, scene, samples.frames))
        self.problem, self._scene = BodyProblem(rig, samples, contacts), scene
        finished(self.problem.stand())
        self._fades = any((share < 1.0).any() for share in samples.influence.values())
        problem = self.problem
        self._held = hold_tasks(problem.body, rig.held, problem.held_frames)
        self._follower = BodyFollower(problem.body.tree, problem.reference, self._held, problem.steady, problem.floor)
        self._goals: Sequence[Task] = ()
        self._is_at_rest = True
        self.states = None if states is None or not _is_alike(states, problem.reference) else states

    def take(self, states: States, goals: Sequence[Task]) -> None:
        """Take a pose as it is, and go on from there."""
        self.states, self._goals, self._is_at_rest = states, self._raised(goals), True

    def follow(self, goals: Sequence[Task]) -> None:
        """Go on to other goals of the tips that reach."""
        goals = self._raised(goals)
        before, self._goals, self._is_at_rest = self._goals, goals, False
        moved = self._largest_way(before) / self.problem.body.tree.size
        if self.states is None or self._fades or (moved > _FAR and self.is_met(before)):
            self.states, self._is_at_rest = self._solved(), True
            return
        for _ in range(int(np.ceil(max(min(moved, _FAR), _LEAP) / _LEAP))):
            self.states = self._follower.moved(self.states, goals)

    def rest(self) -> bool:
        """Become the pose of Solve Pose, if that is alike and reaches, or settle; tell whether the pose has changed."""
        if self.states is None or self._is_at_rest:
            return False
        self._is_at_rest = True
        found = self._solved()
        if np.abs(Posture(self.problem.body.tree, found).offsets(self.states)).max() <= _ALIKE:
            self.states = found
            return True
        for _ in range(_SETTLING):
            self.states = self._follower.moved(self.states, self._goals)
        return True

    def _raised(self, goals: Sequence[Task]) -> Sequence[Task]:
        """Goals below the floor raised to it."""
        return self.problem.floor.raised(goals) if self.problem.floor else goals

    def _largest_way(self, before: Sequence[Task]) -> float:
        """Largest way of a target since it was at the goals before, or from its tip if there was no such goal."""
        if self.states is None:
            return 0.0
        known = {task.tip: task for task in before if isinstance(task, PlaceTask)}
        geometry = Geometry(self.problem.body.tree, self.states)
        ways = [
            task.target.place - known[task.tip].target.place if task.tip in known else task.measure(geometry).errors
            for task in self._goals
            if isinstance(task, PlaceTask)
        ]
        return max((float(lengths(way).max()) for way in ways), default=0.0)

    def is_met(self, goals: Sequence[Task]) -> bool:
        """Tell whether the pose meets goals."""
        return self.states is not None and bool(System(self.problem.body.tree, self.states, goals).met.all())

    def _solved(self) -> States:
        return finished(self.problem.path(self._scene, tasks=[*self._held, *self._goals])).states


def _is_alike(one: States, other: States) -> bool:
    """Tell whether states are of trees with the same columns, on hips that hang in the same frame."""
    shapes = (one.angles, other.angles), (one.balls, other.balls), (one.held, other.held)
    return all(a.shape == b.shape for a, b in shapes) and bool(np.abs(one.root - other.root).max() < 1e-6)

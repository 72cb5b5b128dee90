# SPDX-License-Identifier: GPL-3.0-or-later
"""A limb as sampled, posed as a shot: its joints, its animation by hand, its tasks, its settings."""

from __future__ import annotations

from functools import cached_property

import numpy as np
from bpy.types import Scene
from mathutils import Matrix

from ...goals import Goal
from ...goals.from_goals import BATCHED, RADIAN, Refusal, point_task, preferences_of, tasks_of
from ...goals.orientation import OrientTask
from ...goals.task import Task
from ...kinematics.arrays import Numbers
from ...kinematics.batch import States, Tree
from ...kinematics.batch.algebra import lengths
from ...motion.jumps import ways_of
from ...motion.shot import Shot
from ...rig.armature import Bones
from ...rig.frames.samples import Samples
from ...rig.limb import Limb
from ...rig.targets.goal import GoalReader, PlacesAndTurns
from ...rig.timeline import fps_of
from ...solvers.batch.restarts import tree_of
from .frame_solver import at_frame, solver_settings


class LimbProblem:
    """A limb to solve at all frames, if its joints are the same in all of them: its chain and its goals as arrays."""

    def __init__(self, limb: Limb, bones: Bones, samples: Samples) -> None:
        self.limb, self.bones, self.samples = limb, bones, samples
        self.start = at_frame(samples.first, bones)
        self._reader, self._goals = GoalReader(), dict[int, Goal]()
        self._shot: Shot | None = None
        self.bases = self._read_bases()

    @property
    def refusal(self) -> Refusal | None:
        """Why the frames cannot be solved together; None if one rigid chain and goals on arrays serve all of them."""
        if not self.start.chain.plain:
            return Refusal(
                "the bones of the limb, or those above it, are scaled unevenly, mirrored, or do not inherit rotation"
            )
        if self.bases is None:
            return Refusal("bones between the solved ones move, or scales or limits change, from frame to frame")
        return next((each for each in (self._posed, self._preferred) if isinstance(each, Refusal)), None)

    def _read_bases(self) -> Numbers | None:
        """Frames of the root's parent (4, 4, F or 1) without their scale; None if the chain differs between frames."""
        if not self.start.chain.plain:
            return None
        if self.samples.steady:
            bases = np.array(self.samples.bases, float)
            bases[:3, :3] /= lengths(bases[:3, 1])
            return bases
        poses = [at_frame(now, self.bones) for now in self.samples]
        if any(pose.chain is not self.start.chain for pose in poses):
            return None
        return np.ascontiguousarray(np.moveaxis(np.array([pose.base for pose in poses], float), 0, -1))

    @cached_property
    def tree(self) -> Tree:
        """The chain as a tree."""
        return tree_of(self.start.chain)

    @property
    def tasks(self) -> list[Task]:
        """The goals of all frames, if nothing is refused."""
        assert not isinstance(self._posed, Refusal), self._posed.reason
        return self._posed

    @cached_property
    def _points(self) -> PlacesAndTurns | None:
        """The goals of all frames as arrays; None where they are no points."""
        return self._reader.goals(self.samples)

    @cached_property
    def _posed(self) -> list[Task] | Refusal:
        """The goals of all frames as tasks."""
        read = self._points
        if read is not None:
            tasks: list[Task] = [point_task(read.places, read.tolerance)]
            if read.rotations is not None:
                length = RADIAN * self.start.chain.reach * read.weight
                tolerance = np.array([read.angle_tolerance])
                tasks.append(OrientTask(length=length, tolerance=tolerance, rotation=read.rotations))
            return tasks
        soft = [tuple(each for each in goal.soft if isinstance(each, BATCHED)) for goal in self._all_goals]
        goals = [goal._replace(soft=each) for goal, each in zip(self._all_goals, soft, strict=True)]
        tasks = tasks_of(goals, self.start.chain.reach)
        return tasks or Refusal("its goals ask for nothing")

    @property
    def preferences(self) -> list[Task]:
        """Comfort and obstacles at all frames, if nothing is refused."""
        assert not isinstance(self._preferred, Refusal), self._preferred.reason
        return self._preferred

    @cached_property
    def _preferred(self) -> list[Task] | Refusal:
        """Comfort and obstacles as tasks."""
        if self.samples.steady and self._points is not None:
            return []
        return preferences_of(self._all_goals, self.tree, self.start.chain.reach)

    @cached_property
    def _all_goals(self) -> list[Goal]:
        return [self.goal_at(k) for k in range(len(self.samples))]

    def goal_at(self, k: int) -> Goal:
        """Return the goal of a frame."""
        if k not in self._goals:
            self._goals[k] = self._reader.at(self.samples[k], self.start)
        return self._goals[k]

    def base_at(self, k: int) -> Matrix:
        """Return the frame of the root's parent at a frame (4x4, armature space)."""
        bases = self.bases
        return Matrix(bases[:, :, k if bases.shape[2] > 1 else 0].tolist())

    def shot(self, scene: Scene, reference: Numbers | None = None, part_from: int | None = None) -> Shot | Refusal:
        """Return the shot, near the `reference` (n, 4, F or 1) of the joints, by default the first pose.

        `part_from` is the number of the first frame if these are part of a longer path. A refusal where the frames
        have to be solved one after the other.
        """
        refusal = self.refusal
        if refusal is not None:
            return refusal
        frames = self.frames(reference)
        self._shot = Shot(
            tree=self.tree,
            reference=frames,
            tasks=self.tasks,
            preferences=self.preferences,
            form=solver_settings(self.limb).form,
            fps=fps_of(scene, self.samples.frames),
            smoothing=self.limb.smoothing,
            soft=(0,) if self.limb.soft_edge else (),
            seed=self.limb.seed,
            part_from=part_from,
        )
        return self._shot

    @property
    def ways(self) -> Numbers:
        """Ways of the goals to each frame from the one before (F), as shares of the reach."""
        return self._shot.ways if self._shot else ways_of(self.tree, self.frames(), self.tasks)

    def frames(self, rotations: Numbers | None = None) -> States:
        """Return states of all frames, the joints with `rotations` (n, 4, F or 1), by default as at the first one."""
        count, bases = len(self.samples), self.bases
        every = one = self.tree.states([self.start])
        if rotations is not None:
            every = self.tree.posed(rotations, one)
        if len(every) < count:
            every = every.take(np.zeros(count, np.intp))
        return States(every.angles, every.balls, one.held, bases[:3, :3], bases[:3, 3])

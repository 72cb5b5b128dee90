# SPDX-License-Identifier: GPL-3.0-or-later
"""All frames of a limb solved together, as arrays; a solved frame is made of them only where it is needed."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property
from itertools import chain
from typing import Any, Protocol

import numpy as np
from bpy.types import Scene
from mathutils import Quaternion

from ...cooperative import Work
from ...goals import Goal
from ...goals.from_goals import Refusal
from ...goals.orientation import AlongTask, LookTask, OrientTask
from ...goals.task import PlaceTask
from ...kinematics import Freedom, Joint, Locked, Pose
from ...kinematics.arrays import Array, Numbers, blocks
from ...kinematics.batch import Geometry
from ...kinematics.batch.algebra import at, lengths, rotate
from ...kinematics.batch.limit_arrays import Freedoms
from ...motion.frames import BatchKinematics
from ...motion.jumps import Jump, PathMeasures, abrupt, beyond_speed_of, leaps_of, reason, turned
from ...motion.method import Published
from ...motion.tracking import Tracked
from ...rig.armature import SQUARE, Bones
from ...rig.frames.samples import Samples
from ...rig.limb import Limb
from ...solvers import Solution
from .frame_solver import SolvedFrame, at_frame, chains_of, follow, same_joints, shown_pose, solver_settings, stays
from .limb_problem import LimbProblem

_UNIFORM = SQUARE  # relative difference of scales that is rounding
_SHORTEST = 3  # frames that make a shot
_NEAR = 64  # frames whose rotations are made together for single frames

KeepLast = Callable[[Goal], "SolvedFrame | None"]


class SolvedShot(Sequence[SolvedFrame]):
    """Solved frames of one chain. The first frame, and the last one if it was kept, are those given."""

    def __init__(self, problem: LimbProblem, path: Tracked, fixed: dict[int, SolvedFrame]) -> None:
        self.problem, self._path, self._fixed = problem, path, fixed
        self.samples, self.chain = problem.samples, problem.start.chain
        self._near: tuple[int, Numbers] = 0, np.empty((0, 4, 0))  # rotations of the frames from one on

    def __len__(self) -> int:
        return len(self.samples)

    def __getitem__(self, index: Any) -> Any:
        indices = range(len(self))[index]
        return [self._frame(k) for k in indices] if isinstance(indices, range) else self._frame(indices)

    def _frame(self, k: int) -> SolvedFrame:
        """Make a solved frame; its cost counts from the frame before."""
        if k in self._fixed:
            return self._fixed[k]
        now, goal = self.samples[k], self.problem.goal_at(k)
        pose = Pose(self.chain, self.problem.base_at(k), self._rotations_at(max(k - 1, 0)))
        for i, rotation in enumerate(self._rotations_at(k)):
            if rotation != pose.rotations[i]:
                pose.put(i, rotation)
        error = (goal.target.closest(pose.tip) - pose.tip).length
        start = pose if now.limb.influence == 1.0 else at_frame(now, self.problem.bones)
        solution = Solution(pose, error, int(self._path.steps[k]), error <= goal.tolerance)
        return SolvedFrame(now, goal, solution, shown_pose(now, start, pose))

    @property
    def rotations(self) -> Numbers:
        """Rotations of the joints as solved (n, 4, F), made anew whenever they are asked for."""
        return self.problem.tree.rotations(self._path.states)

    def _rotations_at(self, k: int) -> list[Quaternion]:
        begin, near = self._near
        if not begin <= k < begin + near.shape[-1]:
            begin = k - k % _NEAR
            near = self.problem.tree.rotations(self._path.states.take(slice(begin, begin + _NEAR)))
            self._near = begin, near
        return [Quaternion(rotation) for rotation in near[:, :, k - begin]]

    @property
    def measures(self) -> PathMeasures:
        """Costs and limits of the frames as solved."""
        known = {k % len(self): each.solution.cost for k, each in self._fixed.items()}
        steps = np.array(self._path.steps)
        for k, each in self._fixed.items():
            steps[k] = each.solution.iterations
        return PathMeasures(self.problem.tree, self._path.states, known, steps)

    @property
    def mended(self) -> int:
        """Number of frames that are not as the chosen method has them, although it solves every frame."""
        return int(self._path.mended.sum())

    @property
    def is_written(self) -> bool:
        """Whether every frame is written as it was solved, without a blend to the animated pose."""
        return self.samples.steady and self.samples.first.limb.influence == 1.0

    @cached_property
    def distances(self) -> Numbers:
        """Distances from tip to target (F) [Blender units, world space]; 0 where the place does not count."""
        if not isinstance(self.problem.tasks[0], PlaceTask):
            return np.zeros(len(self))
        axes = self.samples.worlds[:3, :3]
        scales = lengths(axes.swapaxes(0, 1))
        if np.ptp(scales, axis=0).max() <= _UNIFORM * scales.max():
            return self._path.off[0] * scales[0]
        found = np.empty(len(self))
        for frames in blocks(len(self), len(self.chain.joints)):
            geometry = Geometry(self.problem.tree, self._path.states.take(frames))
            errors = self.problem.tasks[0].take(frames).measure(geometry).errors
            found[frames] = lengths(rotate(at(axes, frames), errors))
        return found

    @property
    def angles(self) -> Numbers | None:
        """Deviations from the orientation asked for (F) [rad]; None if none is."""
        kinds = OrientTask | AlongTask | LookTask
        turned = [number for number, task in enumerate(self.problem.tasks) if isinstance(task, kinds)]
        return self._path.off[turned].max(0) if turned else None

    def jumps(self) -> list[Jump]:
        """Rotations that stand out from those of the frames around them, each with its reason."""
        tree, states, ways = self.problem.tree, self._path.states, self.problem.ways
        found = abrupt(self._path.turns)
        named = np.union1d(beyond_speed_of(tree, states, ways, found), np.intersect1d(found, leaps_of(ways)))
        return [Jump(turned(self.chain, _Rotations(self), k), reason(self, k, smoothed=True)) for k in named.tolist()]


def frames_of(solved: Sequence[SolvedFrame]) -> Sequence[float]:
    """Return the numbers of solved frames."""
    return solved.samples.frames if isinstance(solved, SolvedShot) else [each.now.frame for each in solved]


def joints_at(solved: Sequence[SolvedFrame], k: int) -> Sequence[Joint]:
    """Return the joints of a solved frame."""
    return solved.chain.joints if isinstance(solved, SolvedShot) else solved[k].pose.chain.joints


class _Rotations(Sequence[list[Quaternion]]):
    """The rotations of each frame of a shot."""

    def __init__(self, shot: SolvedShot) -> None:
        self._shot = shot

    def __len__(self) -> int:
        return len(self._shot)

    def __getitem__(self, k: int) -> list[Quaternion]:
        return self._shot._rotations_at(k)


def frame_by_frame(refusal: Refusal) -> list[str]:
    """Return a warning that frames had to be solved one after the other, and why; none if settings say so."""
    if refusal.chosen:
        return []
    return [f"Solved frame by frame, which takes longer and looks less natural: {refusal.reason}."]


def _chosen(limb: Limb, samples: Samples) -> Refusal | None:
    """Return the settings by which a published method solves the frames of a limb one after the other."""
    if len(samples) < _SHORTEST:
        return Refusal("there are few frames", chosen=True)
    if not limb.refines:
        return Refusal("the method is used without Finish", chosen=True)
    if not limb.smooth:
        return Refusal("Remove Jumps is off", chosen=True)
    if limb.start_from != "PREVIOUS":
        return Refusal("each frame starts from another pose than the one before", chosen=True)
    return None


def solve_together(
    limb: Limb, bones: Bones, samples: Samples, scene: Scene, keep_last: KeepLast
) -> Work[SolvedShot | Refusal]:
    """Solve all frames of a limb as one; returns a refusal where they have to be solved one after the other.

    `keep_last` returns the last frame, given its goal, if it is to stay as it is animated. Raises as follow() does.
    """
    refusal = _chosen(limb, samples)
    if refusal is not None:
        return refusal
    problem = LimbProblem(limb, bones, samples)
    shot = problem.shot(scene)
    if isinstance(shot, Refusal):
        return shot
    end = len(samples) - 1
    (first,) = follow(limb, bones, [samples.first])
    last = keep_last(problem.goal_at(end))
    fixed, held = {0: first, **({end: last} if last else {})}, stays(bones, first)
    poses = first.solution.pose, last and last.solution.pose
    method = Published(solver_settings(limb), *poses, held, problem.base_at, problem.goal_at)
    path = yield from method.solve(shot)
    if isinstance(path, Refusal):
        return path
    begun = (problem.tree.rotations(each) for each in (path.states.take([0]), problem.tree.states([poses[0]])))
    if not held and np.ptp([*begun], axis=0).any():
        del fixed[0]
    return SolvedShot(problem, path, fixed)


class JointRotations(Protocol):
    """Rotations (F x 4) and freedoms of the joints to write, by name."""

    @property
    def joints(self) -> Sequence[str]: ...

    def rotations(self, joint: str) -> Numbers: ...

    def freedoms(self, joint: str) -> Freedoms: ...


class SolvedArrays:
    """Rotations and freedoms of the joints at all solved frames.

    `frames` are those of the scene, `joints` the names of the joints to write: those that turn, at every frame.
    """

    def __init__(self, solved: Sequence[SolvedFrame]) -> None:
        self._solved = solved
        self.frames: list[float] = [each.now.frame for each in solved]
        chains = chains_of(solved)
        places = {key: place for place, key in enumerate(chains)}
        self._chains = [*chains.values()]
        self._which = np.fromiter((places[id(each.pose.chain)] for each in solved), np.intp, len(solved))
        # At frames where a bone is scaled, bones that cannot turn are joints as well.
        self._places = [{joint.name: i for i, joint in enumerate(chain.joints)} for chain in self._chains]
        turning = (joint.name for joint in solved[0].pose.chain.joints if not isinstance(joint.freedom, Locked))
        self.joints = [name for name in turning if all(name in place for place in self._places)]

    @cached_property
    def alike(self) -> bool:
        """Whether all frames have the same joints; they differ if a bone is scaled at some of them."""
        return same_joints(self._solved)

    def rotations(self, joint: str) -> Numbers:
        """Return the unit quaternions (F x 4) of a joint."""
        if self.alike:
            return self._rotations[:, self._places[0][joint]].astype(np.float64)
        places = [place[joint] for place in self._places]
        rows = [each.pose.rotations[places[which]] for each, which in zip(self._solved, self._which, strict=True)]
        return np.array(rows, np.float64)

    def freedoms(self, joint: str) -> Freedoms:
        """Return the freedom of a joint, if all frames share a chain, otherwise one for each frame."""
        some: list[Freedom] = [
            chain.joints[place[joint]].freedom for chain, place in zip(self._chains, self._places, strict=True)
        ]
        return some[0] if len(some) == 1 else [some[which] for which in self._which.tolist()]

    @property
    def first(self) -> Pose:
        """The pose of the first frame."""
        return self._solved[0].pose

    @property
    def worlds(self) -> Array:
        """The world matrices (F x 4 x 4) of the armature."""
        return np.array([each.now.rig.world for each in self._solved])

    def kinematics(self) -> BatchKinematics:
        """Return the forward kinematics of all frames, which must have the same joints."""
        bases = np.array([each.pose.base for each in self._solved])
        return BatchKinematics(self._chains, self._which, bases, self._rotations)

    @cached_property
    def _rotations(self) -> Array:
        """Unit quaternions (F x joints x 4) of all joints, in single precision."""
        every = chain.from_iterable(each.pose.rotations for each in self._solved)
        try:
            numbers = np.frombuffer(b"".join(every), np.float32)
        except TypeError:  # mathutils has no buffers before Blender 5
            every = chain.from_iterable(each.pose.rotations for each in self._solved)
            numbers = np.fromiter(chain.from_iterable(rotation[:] for rotation in every), np.float32)
        return numbers.reshape(len(self._solved), -1, 4)


class JointArrays:
    """The same of joints with rotations (n, 4, F) at all frames, of which those that are `turning` are written."""

    def __init__(self, joints: Sequence[Joint], rotations: Numbers, turning: Sequence[str]) -> None:
        self._rotations, self._rows = rotations, {joint.name: row for row, joint in enumerate(joints)}
        self._joints, self.joints = joints, turning

    def rotations(self, joint: str) -> Numbers:
        """Return the unit quaternions (F x 4) of a joint."""
        return np.ascontiguousarray(self._rotations[self._rows[joint]].T)

    def freedoms(self, joint: str) -> Freedoms:
        """Return the freedom of a joint."""
        return self._joints[self._rows[joint]].freedom


class ShotArrays(JointArrays):
    """The same of a shot, whose frames are never made for it."""

    alike = True

    def __init__(self, shot: SolvedShot) -> None:
        joints = shot.chain.joints
        super().__init__(
            joints, shot.rotations, [joint.name for joint in joints if not isinstance(joint.freedom, Locked)]
        )
        self._shot, self.frames = shot, list(shot.samples.frames)

    @property
    def first(self) -> Pose:
        """The pose of the first frame."""
        return self._shot[0].pose

    @property
    def worlds(self) -> Array:
        """The world matrices (F x 4 x 4) of the armature."""
        worlds = np.moveaxis(self._shot.samples.worlds, -1, 0)
        return np.broadcast_to(worlds, (len(self._shot), 4, 4))

    def kinematics(self) -> BatchKinematics:
        """Return the forward kinematics of all frames."""
        count = len(self._shot)
        bases = np.broadcast_to(np.moveaxis(np.asarray(self._shot.problem.bases), -1, 0), (count, 4, 4))
        rotations = np.moveaxis(self._rotations, -1, 0)
        return BatchKinematics([self._shot.chain], np.zeros(count, np.intp), bases, rotations)


def arrays_of(solved: Sequence[SolvedFrame]) -> SolvedArrays | ShotArrays:
    """Return the arrays of solved frames."""
    is_written = isinstance(solved, SolvedShot) and solved.is_written
    return ShotArrays(solved) if is_written else SolvedArrays(solved)

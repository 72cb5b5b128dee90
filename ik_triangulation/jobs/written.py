# SPDX-License-Identifier: GPL-3.0-or-later
"""Solved frames as arrays over the frames: all that writing reads of them."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from itertools import chain
from typing import Protocol

import numpy as np

from ..kinematics import Freedom, Locked, Pose
from ..kinematics.arrays import Array, Numbers
from ..kinematics.batch.limit_arrays import Freedoms
from ..motion.batch import BatchKinematics
from .frame_solver import SolvedFrame, chains_of, same_joints
from .shot import SolvedShot


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


class ShotArrays:
    """The same of a shot, whose frames are never made for it."""

    alike = True

    def __init__(self, shot: SolvedShot) -> None:
        self._shot, joints = shot, shot.chain.joints
        self.frames = list(shot.samples.frames)
        self._places = {joint.name: i for i, joint in enumerate(joints)}
        self.joints = [joint.name for joint in joints if not isinstance(joint.freedom, Locked)]

    def rotations(self, joint: str) -> Numbers:
        """Return the unit quaternions (F x 4) of a joint."""
        return np.ascontiguousarray(self._rotations[self._places[joint]].T)

    def freedoms(self, joint: str) -> Freedoms:
        """Return the freedom of a joint."""
        return self._shot.chain.joints[self._places[joint]].freedom

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

    @cached_property
    def _rotations(self) -> Numbers:
        return self._shot.rotations


def arrays_of(solved: Sequence[SolvedFrame]) -> SolvedArrays | ShotArrays:
    """Return the arrays of solved frames."""
    is_written = isinstance(solved, SolvedShot) and solved.is_written
    return ShotArrays(solved) if is_written else SolvedArrays(solved)

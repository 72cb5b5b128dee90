# SPDX-License-Identifier: GPL-3.0-or-later
"""Pose of a body: forward kinematics of all its tips."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from mathutils import Matrix, Quaternion, Vector

from .arrays import Numbers
from .batch import States
from .batch.algebra import matrices, normalized
from .pose import Pose

if TYPE_CHECKING:
    from .body import Body


class BodyPose:
    """A body with a rotation for each joint, in armature space.

    `base` is the frame that the hips hang in (4x4), which goes where hips that move go; `rotations` are the joints'
    rotations from rest. A pose is not changed: solving gives another one.
    """

    def __init__(self, body: Body, base: Matrix, rotations: Sequence[Quaternion]) -> None:
        self.body, self.base = body, base.copy().freeze()
        self.rotations = tuple(Quaternion(rotation).freeze() for rotation in rotations)

    def head(self, joint: int) -> Vector:
        """Position of a joint."""
        return Vector(self.frames[joint, :, 3])

    def tip(self, name: str) -> Vector:
        """Position of an end effector."""
        tip = self.body.tip(name)
        frame = self.frames[tip.joint]
        return Vector(frame[:, :3] @ np.array(tip.place[:]) + frame[:, 3])

    def tip_rotation(self, name: str) -> Quaternion:
        """Orientation of an end effector."""
        tip = self.body.tip(name)
        rotation: Quaternion = Matrix(self.frames[tip.joint, :, :3].tolist()).to_quaternion() @ tip.rotation
        return rotation

    def contacts(self, names: Sequence[str]) -> Numbers:
        """Points of these tips that stand on the ground (c, 3)."""
        tips = [self.body.tip(name) for name in names]
        of = [(self.frames[tip.joint], np.array(point[:])) for tip in tips for point in tip.contacts]
        return np.array([frame[:, :3] @ point + frame[:, 3] for frame, point in of]).reshape(-1, 3)

    @property
    def centre_of_mass(self) -> Vector:
        """Centre of mass, by the body's segments."""
        masses = np.array([each.mass for each in self.body.segments])
        centres = np.array([each.centre[:] for each in self.body.segments])
        places = np.einsum("nij,nj->ni", self.frames[:, :, :3], centres) + self.frames[:, :, 3]
        return Vector(masses @ places / masses.sum())

    def limb(self, name: str) -> Pose:
        """The same pose of the chain from the root to a tip."""
        body = self.body
        path = body.path(body.tip(name).joint)
        return Pose(body.chain(name), self.base, [self.rotations[i].copy() for i in path])

    def inside(self) -> BodyPose:
        """The pose with every joint moved inside its limits; itself if none was outside."""
        joints = self.body.joints
        rotations = [joint.freedom.nearest(turn) for joint, turn in zip(joints, self.rotations, strict=True)]
        if all(turn is other for turn, other in zip(rotations, self.rotations, strict=True)):
            return self
        return BodyPose(self.body, self.base, rotations)

    @cached_property
    def frames(self) -> Numbers:
        """Orientation of each joint after its own rotation, and its head in the last column (n, 3, 4)."""
        body = self.body
        turns = matrices(normalized(np.array([turn[:] for turn in self.rotations])[:, :, None]))[..., 0]
        rests = matrices(normalized(np.array([joint.rest[:] for joint in body.joints])[:, :, None]))[..., 0]
        local, offsets = rests @ turns, np.array([joint.offset[:] for joint in body.joints])
        base, frames = np.array([row[:] for row in self.base.copy()]), np.empty((len(turns), 3, 4))
        for i, parent in enumerate(body.parents):
            above = base[:3] if parent < 0 else frames[parent]
            frames[i, :, :3] = above[:, :3] @ local[i]
            frames[i, :, 3] = above[:, :3] @ offsets[i] + above[:, 3]
        return frames


def states_of(poses: Sequence[BodyPose]) -> States:
    """Poses of one body as those of its tree, moved inside the limits; each with a place of its own if hips move."""
    tree, count = poses[0].body.tree, len(poses)
    rotations = normalized(np.array([[turn[:] for turn in pose.rotations] for pose in poses]).transpose(1, 2, 0))
    bases = np.array([[row[:] for row in pose.base.copy()] for pose in poses])
    root, place = bases[:, :3, :3].transpose(1, 2, 0).copy(), bases[:, :3, 3].T.copy()
    none = np.empty((tree.angles, count)), np.empty((len(tree.balls), 4, count))
    return tree.posed(rotations, States(*none, rotations[tree.held], root, place))


def poses_of_body(body: Body, states: States) -> list[BodyPose]:
    """Poses of the tree of a body as single ones."""
    rotations, found = body.tree.rotations(states), []
    for n in range(len(states)):
        base = np.eye(4)
        base[:3, :3], base[:3, 3] = (a[..., n if a.shape[-1] > 1 else 0] for a in (states.root, states.place))
        turns = [Quaternion(rotation).normalized() for rotation in rotations[..., n].tolist()]
        found.append(BodyPose(body, Matrix(base.tolist()), turns))
    return found

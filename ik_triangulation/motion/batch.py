# SPDX-License-Identifier: GPL-3.0-or-later
"""Forward kinematics of a chain for many frames at once."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from mathutils import Quaternion

from ..kinematics import Pose
from ..kinematics.arrays import Array
from ..kinematics.euler import AXES, PARITY


class BatchKinematics:
    """Forward kinematics for one pose for each frame, with other rotations of some joints."""

    def __init__(self, poses: Sequence[Pose]) -> None:
        self._poses = poses
        self._plain = all(pose.chain.plain for pose in poses)
        self._bases = np.array([pose.base for pose in poses])
        chains = {id(pose.chain): pose.chain for pose in poses}  # many poses share a few chains
        places = {key: i for i, key in enumerate(chains)}
        self._chains = np.array([places[id(pose.chain)] for pose in poses])
        self._tips = np.array([chain.tip for chain in chains.values()])
        self._rests = np.array([[joint.rest for joint in chain.joints] for chain in chains.values()])
        self._offsets = np.array([[joint.offset for joint in chain.joints] for chain in chains.values()])

    def tips(self, turned: Mapping[int, Array], which: Array) -> Array:
        """Positions of the end effector (n x 3, armature space) at the frames `which` (n indices).

        `turned` maps indices of joints to unit quaternions (n x 4) that replace their rotations.
        """
        count = self._rests.shape[1]
        joints = [turned[i] if i in turned else self._rotations(i, which) for i in range(count)]
        if not self._plain:  # only a pose knows the rules for scaled bones
            rows = zip((self._poses[i] for i in which), *joints, strict=True)
            return np.array([Pose(pose.chain, pose.base, [*map(Quaternion, row)]).tip for pose, *row in rows])
        chains = self._chains[which]
        there = self._tips[chains]  # from the tip to the root: everything beyond a joint rotates with it
        for i in range(len(joints) - 1, -1, -1):
            there = self._offsets[chains, i] + _rotated(self._rests[chains, i], _rotated(joints[i], there))
        bases = self._bases[which]
        return np.asarray(np.einsum("nij,nj->ni", bases[:, :3, :3], there) + bases[:, :3, 3])

    def _rotations(self, joint: int, which: Array) -> Array:
        return np.array([self._poses[i].rotations[joint] for i in which])


def rotations(values: Array, mode: str) -> Array:
    """Convert channel values (n x channels) of Blender's rotation `mode` to unit quaternions (n x 4).

    As in Blender, a quaternion or an axis without length is the identity.
    """
    if mode == "QUATERNION":
        lengths = np.linalg.norm(values, axis=1, keepdims=True)
        return np.where(lengths > 0.0, values / np.where(lengths > 0.0, lengths, 1.0), (1.0, 0.0, 0.0, 0.0))
    if mode == "AXIS_ANGLE":
        lengths = np.linalg.norm(values[:, 1:], axis=1, keepdims=True)
        half = np.where(lengths > 0.0, values[:, :1] / 2.0, 0.0)
        return np.hstack((np.cos(half), np.sin(half) * values[:, 1:] / np.where(lengths > 0.0, lengths, 1.0)))
    # As in kinematics.euler: an odd order is the mirror image of an even one.
    i, j, k = AXES[mode]
    sign = PARITY[mode]
    cosines, sines = np.cos(sign * values / 2.0).T, np.sin(sign * values / 2.0).T
    (ci, cj, ck), (si, sj, sk) = cosines[[i, j, k]], sines[[i, j, k]]
    result = np.empty((len(values), 4))
    result[:, 0] = ck * cj * ci + sk * sj * si
    result[:, 1 + i] = sign * (ck * cj * si - sk * sj * ci)
    result[:, 1 + j] = sign * (ck * sj * ci + sk * cj * si)
    result[:, 1 + k] = sign * (sk * cj * ci - ck * sj * si)
    return result


def _rotated(quaternions: Array, vectors: Array) -> Array:
    """Rotate each vector (n x 3) by its unit quaternion (n x 4)."""
    axes = quaternions[:, 1:]
    across = 2.0 * np.cross(axes, vectors)
    return vectors + quaternions[:, :1] * across + np.cross(axes, across)

# SPDX-License-Identifier: GPL-3.0-or-later
"""Forward kinematics of a chain for many moments at once."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from mathutils import Quaternion

from ..kinematics import Pose
from ..kinematics.euler import AXES, PARITY

Array = np.ndarray[Any, Any]


class Moments:
    """A chain at many moments, a pose each, of which all but the joints' rotations is kept."""

    def __init__(self, poses: Sequence[Pose]) -> None:
        self._poses = poses
        self._plain = all(pose.chain.plain for pose in poses)
        self._bases = np.array([pose.base for pose in poses])
        chains = {id(pose.chain): pose.chain for pose in poses}  # a few that the many poses share
        places = {key: i for i, key in enumerate(chains)}
        self._chains = np.array([places[id(pose.chain)] for pose in poses])
        self._tips = np.array([chain.tip for chain in chains.values()])
        self._rests = np.array([[joint.rest for joint in chain.joints] for chain in chains.values()])
        self._offsets = np.array([[joint.offset for joint in chain.joints] for chain in chains.values()])

    def tips(self, turned: Mapping[int, Array], which: Array) -> Array:
        """Where the end effector stands (n x 3, armature space) at the moments `which` (n indices).

        `turned` says of joints, by their index, to which unit quaternions (n x 4) they are turned instead.
        """
        count = self._rests.shape[1]
        joints = [turned[i] if i in turned else self._rotations(i, which) for i in range(count)]
        if not self._plain:  # scaled bones have rules that only a pose knows
            rows = zip((self._poses[i] for i in which), *joints, strict=True)
            return np.array([Pose(pose.chain, pose.base, [*map(Quaternion, row)]).tip for pose, *row in rows])
        chains = self._chains[which]
        there = self._tips[chains]  # from the tip to the root: what lies beyond a joint turns with it
        for i in range(len(joints) - 1, -1, -1):
            there = self._offsets[chains, i] + _rotated(self._rests[chains, i], _rotated(joints[i], there))
        bases = self._bases[which]
        return np.asarray(np.einsum("nij,nj->ni", bases[:, :3, :3], there) + bases[:, :3, 3])

    def _rotations(self, joint: int, which: Array) -> Array:
        return np.array([self._poses[i].rotations[joint] for i in which])


def rotations(values: Array, mode: str) -> Array:
    """Unit quaternions (n x 4) that channel values (n x channels) mean in Blender's rotation `mode`.

    A quaternion or an axis of no length means no rotation, as it does to Blender.
    """
    if mode == "QUATERNION":
        lengths = np.linalg.norm(values, axis=1, keepdims=True)
        return np.where(lengths > 0.0, values / np.where(lengths > 0.0, lengths, 1.0), (1.0, 0.0, 0.0, 0.0))
    if mode == "AXIS_ANGLE":
        lengths = np.linalg.norm(values[:, 1:], axis=1, keepdims=True)
        half = np.where(lengths > 0.0, values[:, :1] / 2.0, 0.0)
        return np.hstack((np.cos(half), np.sin(half) * values[:, 1:] / np.where(lengths > 0.0, lengths, 1.0)))
    # As in kinematics.euler: an odd order is an even one seen in a mirror.
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
    """Each vector (n x 3) turned by its unit quaternion (n x 4)."""
    axes = quaternions[:, 1:]
    across = 2.0 * np.cross(axes, vectors)
    return vectors + quaternions[:, :1] * across + np.cross(axes, across)

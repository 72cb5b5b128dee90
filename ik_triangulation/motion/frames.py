# SPDX-License-Identifier: GPL-3.0-or-later
"""Many frames at once: F-curves of Bezier segments as Blender evaluates them, and forward kinematics of a chain.

Evaluation of Bezier F-curves as Blender does it, for many channels at once. A Bezier segment of an F-curve is
parametric in time and value, and Blender solves a cubic for the time. With handles at a third of the distance to the
neighbouring keys the time is linear in the parameter and the value a plain cubic of it (the Hermite form, given by the
slopes of the handles), so no root has to be found.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from mathutils import Matrix, Quaternion

from ..kinematics import Chain, Pose
from ..kinematics.arrays import Array, Mask
from ..kinematics.batch.algebra import euler_quaternions, matrices, product, rotate


class Curves(NamedTuple):
    """Keys at `times` [frames] with `values` (keys x channels) and the slopes [per frame] of their handles.

    `left` and `right` (keys x channels) are the slopes of the handles before and after each key.
    """

    times: Array
    values: Array
    left: Array
    right: Array

    def at(self, times: Array) -> Array:
        """Values (times x channels) at `times` between the first and the last key."""
        after = np.clip(np.searchsorted(self.times, times, side="right"), 1, len(self.times) - 1)
        before = after - 1
        span = (self.times[after] - self.times[before])[:, None]
        x = (np.asarray(times)[:, None] - self.times[before][:, None]) / span
        rise = self.values[after] - self.values[before]
        start, end = span * self.right[before] - rise, span * self.left[after] - rise
        values: Array = self.values[before] + x * rise + x * (1.0 - x) * ((1.0 - x) * start - x * end)
        return values


def straight(times: Array, values: Array) -> Curves:
    """Return linear interpolation between the keys."""
    slopes = np.diff(values, axis=0) / np.diff(times)[:, None]
    return Curves(times, values, np.concatenate((slopes[:1], slopes)), np.concatenate((slopes, slopes[-1:])))


def flowing(times: Array, values: Array) -> Curves:
    """Return smooth curves: the handles have the mean slope of the values around each key."""
    slopes = np.gradient(values, times, axis=0)
    return Curves(times, values, slopes, slopes)


def through(curves: Curves, between: Array, which: Mask) -> Curves:
    """Return curves whose slopes are changed so that they pass as near as they can to values between the keys.

    `between` (keys - 1, n, channels) are those at n times evenly apart from each key to the next. A single one is met
    by the same change at both ends. Of the segments in `which` (keys - 1) the slopes are changed; the others stay.
    """
    times, count = curves.times, between.shape[1]
    span = np.diff(times)[:, None, None]
    x = np.arange(1, count + 1) / (count + 1)
    there = curves.at((times[:-1, None] + span[..., 0] * x).ravel()).reshape(between.shape)
    basis = np.column_stack((x * (1.0 - x) ** 2, -x * x * (1.0 - x)))  # of the slope after a key and before the next
    change = np.linalg.pinv(basis) @ ((between - there) / span) * which[:, None, None]
    left, right = curves.left.copy(), curves.right.copy()
    right[:-1] += change[:, 0]
    left[1:] += change[:, 1]
    return Curves(times, curves.values, left, right)


class BatchKinematics:
    """Forward kinematics of a pose at each frame, with other rotations of the joints.

    `chains` are the few that the frames share and `which` (F) the index of that of each frame; they have joints of the
    same names. `bases` (F x 4 x 4) are the frames of the chain's parent in armature space.
    """

    def __init__(self, chains: Sequence[Chain], which: Array, bases: Array, rotations: Array) -> None:
        """Take the `rotations` (F x joints x 4) of all joints, unit quaternions."""
        self.chains, self.which, self.rotations = chains, which, rotations
        self._bases = bases
        self._plain = all(chain.plain for chain in chains)
        self._tips = _columns([chain.tip for chain in chains])
        self._rests = _columns([[joint.rest for joint in chain.joints] for chain in chains])
        self._offsets = _columns([[joint.offset for joint in chain.joints] for chain in chains])

    def tips(self, rotations: Array, frames: Array) -> Array:
        """Positions of the end effector (n x 3, armature space) at `frames` (n indices) with these rotations.

        `rotations` (joints x 4 x n) are unit quaternions.
        """
        bases = self._bases[frames]
        if self._plain:
            there = self._plain_tips(rotations, frames)
            return np.asarray(np.einsum("nij,jn->ni", bases[:, :3, :3], there) + bases[:, :3, 3])
        # Only a pose knows the rules for scaled bones.
        which, rows = self.which[frames].tolist(), np.moveaxis(rotations, 2, 0)
        poses = (
            Pose(self.chains[chain], Matrix(base), [*map(Quaternion, row)])
            for chain, base, row in zip(which, bases, rows, strict=True)
        )
        return np.array([pose.tip for pose in poses])

    def _plain_tips(self, rotations: Array, frames: Array) -> Array:
        """Positions of the end effector (3 x n) in the frame of the chain's parent."""
        chains = self.which[frames] if len(self.chains) > 1 else slice(0, 1)
        turned, offsets = matrices(product(self._rests[..., chains], rotations)), self._offsets[..., chains]
        there = self._tips[:, chains]  # from the tip to the root: everything beyond a joint rotates with it
        for i in range(len(turned) - 1, -1, -1):
            there = offsets[i] + rotate(turned[i], there)
        return there


def quaternions_of(values: Array, mode: str) -> Array:
    """Convert channel values (... x channels x n) of Blender's rotation `mode` to unit quaternions (... x 4 x n).

    As in Blender, a quaternion or an axis without length is the identity.
    """
    if mode == "QUATERNION":
        lengths = np.sqrt(np.einsum("...in,...in->...n", values, values))[..., None, :]
        if lengths.all():
            return np.asarray(values / lengths)
        identity = np.array((1.0, 0.0, 0.0, 0.0))[:, None]
        return np.where(lengths > 0.0, values / np.where(lengths > 0.0, lengths, 1.0), identity)
    if mode != "AXIS_ANGLE":
        return euler_quaternions(values, mode)
    axes = values[..., 1:, :]
    lengths = np.sqrt(np.einsum("...in,...in->...n", axes, axes))
    half = np.where(lengths > 0.0, values[..., 0, :] / 2.0, 0.0)
    result: Array = np.empty(values.shape)
    result[..., 0, :] = np.cos(half)
    result[..., 1:, :] = axes * (np.sin(half) / np.where(lengths > 0.0, lengths, 1.0))[..., None, :]
    return result


def _columns(rows: Sequence[object]) -> Array:
    """Return an array whose last axis runs over the rows."""
    return np.ascontiguousarray(np.moveaxis(np.array(rows, np.float64), 0, -1))

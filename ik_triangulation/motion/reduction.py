# SPDX-License-Identifier: GPL-3.0-or-later
"""Key reduction of a bake, with a bound on the deviation of the tip and with joints inside their limits.

Greedy: from each key the next one is as late as the tolerance allows, which gives the minimum number of keys if every
part of a valid span is valid. The length of a span is found as in Bentley and Yao 1976, "An almost optimal algorithm
for unbounded searching": by doubling and then bisection. As in Schneider 1990, "An algorithm for automatically fitting
digitized curves", spans meet smoothly. Deviations from that: the error is the deviation of the tip that the curves
move, because rotation channels have no distance; and slopes at the keys are those of the full bake and not fitted to
the spans, so that each span is judged by itself. All channels have their keys at the same frames.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from math import ceil
from typing import NamedTuple

import numpy as np
from mathutils import Matrix, Quaternion

from ..cooperative import Work
from ..kinematics import Free, Freedom, Pose
from ..kinematics.arrays import Array
from ..kinematics.rotation import rotation_angle
from .batch import BatchKinematics, rotations
from .bezier import Curves, flowing, straight

_BLOCK = 250  # samples in one vectorised step
_ROUNDING = 4e-6  # [rad] violation of a limit between two keys that is rounding of single precision


class JointChannels(NamedTuple):
    """The rotation channels of a joint: its index in the chain, Blender's rotation mode, and the columns of its values.

    Only the channels that `keyed` names by their number get keys; the others stay as they are.
    """

    joint: int
    mode: str
    columns: slice
    keyed: Sequence[int]


class Reduction(NamedTuple):
    """A reduced bake: the indices of the frames `kept` (ascending), and the curves through them.

    `tip_deviation` is the largest distance of the tip from the full bake at all samples [Blender units, world space].
    """

    kept: Sequence[int]
    curves: Curves
    tip_deviation: float


class FullBake:
    """The bake of every frame, sampled at its frames and at half frames (or less) between them.

    `curves` have a key for each of `poses`, and `worlds` (4x4) are the world matrices of the armature there. Between
    two frames the rig and the joints without keyed channels count as unchanged since the frame before.
    """

    def __init__(
        self, curves: Curves, tracks: Sequence[JointChannels], poses: Sequence[Pose], worlds: Sequence[Matrix]
    ) -> None:
        self.curves, self.tracks = curves, tracks
        self._poses = poses
        self._worlds = np.array(worlds)[:, :3, :3]
        steps = np.diff(curves.times)[:, None]
        self._parts = max(2, ceil(2.0 * steps.max()))  # samples from one frame to the next
        self._times = np.append(
            curves.times[:-1, None] + steps * np.arange(self._parts) / self._parts, curves.times[-1]
        )
        self._before = np.arange(len(self._times)) // self._parts  # index of the frame at each sample or before it
        self._free = np.zeros(curves.values.shape[1], bool)  # columns that are keyed
        for track in tracks:
            self._free[np.arange(len(self._free))[track.columns][list(track.keyed)]] = True
        self._values = np.empty((len(self._times), curves.values.shape[1]))
        self._tips = np.empty((len(self._times), 3))
        chains = {id(pose.chain): pose.chain for pose in poses}.values()
        limited = [track for track in tracks if any(c.joints[track.joint].freedom != Free() for c in chains)]
        self._limits = [(track, np.empty(len(self._times))) for track in limited]

    def measure(self) -> Work[None]:
        """Compute the position of the tip and the violations of limits at every sample; to be called first."""
        self._moments = BatchKinematics(self._poses)
        yield
        for block in _blocks(np.arange(len(self._times))):
            values = self._values[block] = self.curves.at(self._times[block])
            self._tips[block] = self._tips_of(values, block)
            yield
            for track, allowed in self._limits:
                allowed[block] = np.maximum(self._beyond(track, values, block), _ROUNDING)
                yield

    def samples(self, first: int, last: int) -> list[Array]:
        """Indices of the samples between two frames, given as indices and excluded; in blocks."""
        return _blocks(np.arange(first * self._parts + 1, last * self._parts))

    def deviation(self, curves: Curves, samples: Array) -> Array:
        """Distance of the tip from the full bake with other curves, at each of these samples [Blender units, world]."""
        apart = self._tips_of(self._with(curves, samples), samples) - self._tips[samples]
        apart = np.einsum("nij,nj->ni", self._worlds[self._before[samples]], apart)
        return np.asarray(np.linalg.norm(apart, axis=1))

    def outside(self, curves: Curves, samples: Array) -> Array:
        """Largest violation of limits with other curves, in excess of that of the full bake [rad]; at each sample."""
        values = self._with(curves, samples)
        beyond = [self._beyond(track, values, samples) - allowed[samples] for track, allowed in self._limits]
        return np.array(beyond).max(axis=0) if beyond else np.zeros(len(samples))

    def bends(self, track: JointChannels) -> Array:
        """Whether a joint meets a limit or leaves it, for each frame (booleans)."""
        i = track.joint
        ends = [self._freedom(i, frame).on_limits(pose.rotations[i]) for frame, pose in enumerate(self._poses)]
        changes = [before != after for before, after in pairwise(ends)]
        return np.logical_or([False, *changes], [*changes, False])

    def _with(self, curves: Curves, samples: Array) -> Array:
        """Values of other curves at these samples; channels without keys are as in the full bake."""
        return np.asarray(np.where(self._free, curves.at(self._times[samples]), self._values[samples]))

    def _tips_of(self, values: Array, samples: Array) -> Array:
        frames = self._before[samples]
        turned = {track.joint: rotations(values[:, track.columns], track.mode) for track in self.tracks}
        return self._moments.tips(turned, frames)

    def _beyond(self, track: JointChannels, values: Array, samples: Array) -> Array:
        """Violation of the joint's limits [rad]."""
        turned = map(Quaternion, rotations(values[:, track.columns], track.mode))
        freedoms = (self._freedom(track.joint, frame) for frame in self._before[samples])
        return np.array([rotation_angle(f.nearest(q), q) for f, q in zip(freedoms, turned, strict=True)])

    def _freedom(self, joint: int, frame: int) -> Freedom:
        return self._poses[frame].chain.joints[joint].freedom


def _blocks(samples: Array) -> list[Array]:
    return np.array_split(samples, ceil(len(samples) / _BLOCK) or 1)


def reduce(full: FullBake, tolerance: float) -> Work[Reduction]:
    """Remove keys of a full bake while the tip stays within `tolerance` [Blender units, world space] of it.

    At every sample that holds, and joints violate their limits no more than in the full bake. The first and the last
    key stay.
    """
    yield from full.measure()
    slopes, last = (yield from _slopes(full)), len(full.curves.times) - 1
    kept = [0]
    while kept[-1] < last:
        kept.append((yield from _farthest(full, slopes, tolerance, kept[-1], last)))
    curves = _joined(full, slopes, kept)
    deviation = 0.0
    for samples in full.samples(0, last):
        deviation = max(deviation, float(full.deviation(curves, samples).max(initial=0.0)))
        yield
    return Reduction(kept, curves, deviation)


def _slopes(full: FullBake) -> Work[Curves]:
    """Slopes of the handles: the mean slope, but one-sided slopes where a joint reaches a limit or leaves it."""
    times, values, _, _ = full.curves
    _, _, left, right = (column.copy() for column in flowing(times, values))
    sides = straight(times, values)
    for track in full.tracks:
        bends = full.bends(track)
        left[bends, track.columns] = sides.left[bends, track.columns]
        right[bends, track.columns] = sides.right[bends, track.columns]
        yield
    return Curves(times, values, left, right)


def _farthest(full: FullBake, slopes: Curves, tolerance: float, first: int, last: int) -> Work[int]:
    """Index of the latest frame up to `last` to which no key is needed after `first`."""
    good, bad, step = first + 1, last + 1, 1
    while bad - good > 1:
        tried = min(good + step, (good + bad) // 2 if bad <= last else last)
        if (yield from _is_good(full, slopes, tolerance, first, tried)):
            good, step = tried, 2 * step
        else:
            bad = tried
    return good


def _is_good(full: FullBake, slopes: Curves, tolerance: float, first: int, last: int) -> Work[bool]:
    """Whether the motion between two frames is within tolerance without keys."""
    span = _joined(full, slopes, [first, last])
    for samples in full.samples(first, last):
        yield
        if (full.deviation(span, samples) > tolerance).any() or (full.outside(span, samples) > 0.0).any():
            return False
    return True


def _joined(full: FullBake, slopes: Curves, kept: Sequence[int]) -> Curves:
    """Curves through the kept keys; between two adjacent frames those of the full bake."""
    curves = Curves(*(column[kept] for column in slopes))
    near = np.flatnonzero(np.diff(kept) == 1)
    curves.right[near] = full.curves.right[kept][near]
    curves.left[near + 1] = full.curves.left[kept][near + 1]
    return curves

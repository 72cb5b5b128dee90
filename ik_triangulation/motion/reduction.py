# SPDX-License-Identifier: GPL-3.0-or-later
"""Fewer keys for a baked limb, as long as its tip stays near the full bake and its joints inside their limits.

From each key the next one is put as far on as the motion between them allows, which leaves the fewest keys there can be
as long as parts of a good span are good. How far that is, is found as in Bentley and Yao 1976, "An almost optimal
algorithm for unbounded searching": by doubling the span and then halving the doubt. As in Schneider 1990, "An algorithm
for automatically fitting digitized curves", spans meet smoothly; deviations from that: what may not stray is the tip of
the chain that the curves move, and not the curves, which are rotation channels and have no distance; and slopes at the
keys are those of the full bake and not fitted to the spans, so that each span is judged by itself. All channels have
their keys at the same frames.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from math import ceil
from typing import NamedTuple

import numpy as np
from mathutils import Matrix, Quaternion

from ..kinematics import Free, Freedom, Pose
from ..kinematics.rotation import rotation_angle
from ..work import Work
from .batch import Array, Moments, rotations
from .bezier import Curves, flowing, straight

_BLOCK = 250  # samples worked on at once
_ROUNDING = 4e-6  # [rad] what single precision may put a rotation outside its limits between two keys


class Track(NamedTuple):
    """The rotation channels of a joint: its index in the chain, Blender's rotation mode, and which columns are its own.

    Only the channels that `keyed` names by their number get keys; the others stay as they are.
    """

    joint: int
    mode: str
    columns: slice
    keyed: Sequence[int]


class Reduction(NamedTuple):
    """What is left of a full bake: the indices of the frames `kept` (ascending), and the curves through them.

    `strayed` is the largest distance of the tip from the full bake at all samples [Blender units, world space].
    """

    kept: Sequence[int]
    curves: Curves
    strayed: float


class FullBake:
    """What a bake of every frame shows: at its frames, and at halves (of a frame or less) between them.

    `curves` have a key for each of `poses`, and `worlds` (4x4) says where the armature then stands. Between two frames
    the rig and the joints without a track are taken to be as at the one before.
    """

    def __init__(
        self, curves: Curves, tracks: Sequence[Track], poses: Sequence[Pose], worlds: Sequence[Matrix]
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
        """Find where the tip is at every sample and how far joints are beyond their limits; to be done first."""
        self._moments = Moments(self._poses)
        yield
        for block in _blocks(np.arange(len(self._times))):
            values = self._values[block] = self.curves.at(self._times[block])
            self._tips[block] = self._tips_of(values, block)
            yield
            for track, allowed in self._limits:
                allowed[block] = np.maximum(self._beyond(track, values, block), _ROUNDING)
                yield

    def samples(self, first: int, last: int) -> list[Array]:
        """Indices of the samples between two frames, these given as indices and left out; some at a time."""
        return _blocks(np.arange(first * self._parts + 1, last * self._parts))

    def strays(self, curves: Curves, samples: Array) -> Array:
        """How far the tip is from the full bake with other curves, at each of these samples [Blender units, world]."""
        apart = self._tips_of(self._with(curves, samples), samples) - self._tips[samples]
        apart = np.einsum("nij,nj->ni", self._worlds[self._before[samples]], apart)
        return np.asarray(np.linalg.norm(apart, axis=1))

    def outside(self, curves: Curves, samples: Array) -> Array:
        """How much farther beyond its limits than the full bake other curves take a joint [rad]; 0 or less: nowhere."""
        values = self._with(curves, samples)
        beyond = [self._beyond(track, values, samples) - allowed[samples] for track, allowed in self._limits]
        return np.array(beyond).max(axis=0) if beyond else np.zeros(len(samples))

    def bends(self, track: Track) -> Array:
        """Whether a joint meets a limit or leaves it, for each frame (booleans)."""
        i = track.joint
        ends = [self._freedom(i, frame).on_limits(pose.rotations[i]) for frame, pose in enumerate(self._poses)]
        changes = [before != after for before, after in pairwise(ends)]
        return np.logical_or([False, *changes], [*changes, False])

    def _with(self, curves: Curves, samples: Array) -> Array:
        """Values of other curves; channels that are not keyed stay as they are."""
        return np.asarray(np.where(self._free, curves.at(self._times[samples]), self._values[samples]))

    def _tips_of(self, values: Array, samples: Array) -> Array:
        frames = self._before[samples]
        turned = {track.joint: rotations(values[:, track.columns], track.mode) for track in self.tracks}
        return self._moments.tips(turned, frames)

    def _beyond(self, track: Track, values: Array, samples: Array) -> Array:
        """How far values stand beyond the joint's limits [rad]."""
        turned = map(Quaternion, rotations(values[:, track.columns], track.mode))
        freedoms = (self._freedom(track.joint, frame) for frame in self._before[samples])
        return np.array([rotation_angle(f.nearest(q), q) for f, q in zip(freedoms, turned, strict=True)])

    def _freedom(self, joint: int, frame: int) -> Freedom:
        return self._poses[frame].chain.joints[joint].freedom


def _blocks(samples: Array) -> list[Array]:
    return np.array_split(samples, ceil(len(samples) / _BLOCK) or 1)


def reduce(full: FullBake, tolerance: float) -> Work[Reduction]:
    """Drop keys of a full bake while the tip stays within `tolerance` [Blender units, world space] of it.

    That, and that no joint leaves its limits where it does not in the full bake, holds at every sample. The first and
    the last key stay.
    """
    yield from full.measure()
    slopes, last = (yield from _slopes(full)), len(full.curves.times) - 1
    kept = [0]
    while kept[-1] < last:
        kept.append((yield from _farthest(full, slopes, tolerance, kept[-1], last)))
    curves = _joined(full, slopes, kept)
    strayed = 0.0
    for samples in full.samples(0, last):
        strayed = max(strayed, float(full.strays(curves, samples).max(initial=0.0)))
        yield
    return Reduction(kept, curves, strayed)


def _slopes(full: FullBake) -> Work[Curves]:
    """The slopes that handles have. Where a joint meets a limit or leaves it, each handle looks to its own side."""
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
    """Index of the farthest frame up to `last` to which no key is needed from `first` on."""
    good, bad, step = first + 1, last + 1, 1
    while bad - good > 1:
        tried = min(good + step, (good + bad) // 2 if bad <= last else last)
        if (yield from _is_good(full, slopes, tolerance, first, tried)):
            good, step = tried, 2 * step
        else:
            bad = tried
    return good


def _is_good(full: FullBake, slopes: Curves, tolerance: float, first: int, last: int) -> Work[bool]:
    """Whether the motion between two frames is good enough without keys."""
    span = _joined(full, slopes, [first, last])
    for samples in full.samples(first, last):
        yield
        if (full.strays(span, samples) > tolerance).any() or (full.outside(span, samples) > 0.0).any():
            return False
    return True


def _joined(full: FullBake, slopes: Curves, kept: Sequence[int]) -> Curves:
    """Curves through the keys that are kept; between two frames next to each other those of the full bake."""
    curves = Curves(*(column[kept] for column in slopes))
    near = np.flatnonzero(np.diff(kept) == 1)
    curves.right[near] = full.curves.right[kept][near]
    curves.left[near + 1] = full.curves.left[kept][near + 1]
    return curves

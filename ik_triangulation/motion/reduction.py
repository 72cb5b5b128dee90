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
from math import ceil
from typing import Any, NamedTuple, Protocol

import numpy as np

from ..cooperative import Work
from ..kinematics import Free, Freedom
from ..kinematics.arrays import Array
from ..kinematics.batch.limit_arrays import LimitArrays
from .batch import quaternions_of
from .bezier import Curves, flowing, straight

_BLOCK = 250  # samples in one vectorised step
_SAME_GAP = 1e-3  # frames: a difference of gaps that rounding explains
_ROUNDING = 4e-6  # [rad] violation of a limit between two keys that is rounding of single precision


class Turned(Protocol):
    """The rotations (F x joints x 4) of joints at all frames, and the few chains or bodies that the frames share.

    `which` (F) is the index of that of each frame.
    """

    @property
    def chains(self) -> Sequence[Any]: ...

    @property
    def which(self) -> Array: ...

    @property
    def rotations(self) -> Array: ...

    def tips(self, rotations: Array, frames: Array) -> Array:
        """Positions of the end effector (n x 3) at `frames` (n indices) with these rotations (joints x 4 x n)."""


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

    `curves` have a key for each frame of `kinematics`, and `worlds` (F x 4 x 4) are the world matrices of the armature
    there. Between two frames the rig and the joints without keyed channels count as unchanged since the frame before.
    """

    def __init__(self, curves: Curves, tracks: Sequence[JointChannels], kinematics: Turned, worlds: Array) -> None:
        self.curves, self.tracks = curves, tracks
        self._kinematics = kinematics
        self._worlds = np.asarray(worlds)[:, :3, :3]
        steps = np.diff(curves.times)[:, None]
        self._parts = parts_between(curves.times)
        self._times = np.append(
            curves.times[:-1, None] + steps * np.arange(self._parts) / self._parts, curves.times[-1]
        )
        self._before = np.arange(len(self._times)) // self._parts  # index of the frame at each sample or before it
        self._free = np.zeros(curves.values.shape[1], bool)  # columns that are keyed
        for track in tracks:
            self._free[np.arange(len(self._free))[track.columns][list(track.keyed)]] = True
        self._tips = np.empty((len(self._times), 3))
        modes = {track.mode for track in tracks}
        self._by_mode = [(mode, [track for track in tracks if track.mode == mode]) for mode in sorted(modes)]
        self._limited = [track.joint for track in tracks if not LimitArrays(self._freedoms(track)).free]
        limited = [track for track in tracks if track.joint in self._limited]
        self._limits = LimitArrays([freedom for track in limited for freedom in self._freedoms(track)] or Free())
        self._allowed = np.empty((len(limited), len(self._times)))  # violations of the full bake

    def measure(self) -> Work[None]:
        """Compute the position of the tip and the violations of limits at every sample; to be called first."""
        for block in _blocks(np.arange(len(self._times))):
            values = self.curves.at(self._times[block])
            turned = self._turned(values, block)
            self._remember(values, turned, block)
            yield
            if self._limited:
                self._allowed[:, block] = np.maximum(self._beyond(turned, block, _ROUNDING), _ROUNDING)
                yield

    def samples(self, first: int, last: int) -> list[Array]:
        """Indices of the samples between two frames, given as indices and excluded; in blocks."""
        return _blocks(np.arange(first * self._parts + 1, last * self._parts))

    def deviation(self, curves: Curves, samples: Array) -> Array:
        """Distance of the tip from the full bake with other curves, at each of these samples [Blender units, world]."""
        values = self._with(curves, samples)
        return self._apart(values, self._turned(values, samples), samples)

    def keeps(self, curves: Curves, samples: Array, tolerance: float) -> bool:
        """Whether other curves keep the tip within the tolerance, and limits as well as the full bake, at samples."""
        values = self._with(curves, samples)
        turned = self._turned(values, samples)
        if (self._apart(values, turned, samples) > tolerance).any():
            return False
        allowed = self._allowed[:, samples]
        return not self._limited or not (self._beyond(turned, samples, allowed) > allowed).any()

    def bends(self, track: JointChannels) -> Array:
        """Whether a joint meets a limit or leaves it, for each frame (booleans)."""
        turned = np.array(self._kinematics.rotations[:, track.joint].T, np.float64)
        freedoms = self._freedoms(track)
        limits = LimitArrays([freedoms[chain] for chain in self._kinematics.which.tolist()])
        changes = np.diff(limits.ends(turned)) != 0
        return np.asarray(np.logical_or(np.append(False, changes), np.append(changes, False)))

    def _with(self, curves: Curves, samples: Array) -> Array:
        """Values of other curves at these samples; channels without keys are as in the full bake."""
        values: Array = curves.at(self._times[samples])
        if not self._free.all():
            values[:, ~self._free] = self.curves.at(self._times[samples])[:, ~self._free]
        return values

    def _turned(self, values: Array, samples: Array) -> Array:
        """Unit quaternions of all joints (joints x 4 x n) with these values (n x channels)."""
        turned = np.array(np.moveaxis(self._kinematics.rotations[self._before[samples]], 0, 2), np.float64)
        columns = np.ascontiguousarray(values.T)
        for mode, tracks in self._by_mode:
            stacked = np.stack([columns[track.columns] for track in tracks])
            turned[[track.joint for track in tracks]] = quaternions_of(stacked, mode)
        return turned

    def _remember(self, values: Array, turned: Array, samples: Array) -> None:
        """Remember where the full bake has the tip at samples."""
        self._tips[samples] = self._kinematics.tips(turned, self._before[samples])

    def _apart(self, values: Array, turned: Array, samples: Array) -> Array:
        frames = self._before[samples]
        apart = self._kinematics.tips(turned, frames) - self._tips[samples]
        return np.asarray(np.linalg.norm(np.einsum("nij,nj->ni", self._worlds[frames], apart), axis=1))

    def _beyond(self, turned: Array, samples: Array, least: Array | float) -> Array:
        """Violations of limits [rad], a row for each joint that has any; exact where they are more than `least`."""
        chains = self._kinematics.which[self._before[samples]]
        joints = np.arange(len(self._limited))[:, None] * len(self._kinematics.chains)
        rotations = np.ascontiguousarray(np.moveaxis(turned[self._limited], 1, 0)).reshape(4, -1)
        least = np.broadcast_to(least, (len(self._limited), len(samples))).ravel()
        found = self._limits.exact_excess(rotations, (joints + chains).ravel(), least)
        return found.reshape(len(self._limited), -1)

    def _freedoms(self, track: JointChannels) -> list[Freedom]:
        """The freedom of a joint in each chain."""
        return [chain.joints[track.joint].freedom for chain in self._kinematics.chains]


def parts_between(times: Array) -> int:
    """Number of samples from one of the frames to the next: an even one, for frames at most a half apart."""
    return 2 * max(1, ceil(float(np.diff(times).max(initial=1.0)) - _SAME_GAP))


def _blocks(samples: Array) -> list[Array]:
    return np.array_split(samples, ceil(len(samples) / _BLOCK) or 1)


def reduce(full: FullBake, tolerance: float) -> Work[Reduction]:
    """Remove keys of a full bake while the tip stays within `tolerance` [Blender units, world space] of it.

    At every sample that holds, and joints violate their limits no more than in the full bake. The first and the last
    key stay.
    """
    yield from full.measure()
    slopes, last = (yield from handle_slopes(full)), len(full.curves.times) - 1
    kept = [0]
    while kept[-1] < last:
        kept.append((yield from _farthest(full, slopes, tolerance, kept[-1], last)))
    curves = _joined(full, slopes, kept)
    deviation = 0.0
    for samples in full.samples(0, last):
        deviation = max(deviation, float(full.deviation(curves, samples).max(initial=0.0)))
        yield
    return Reduction(kept, curves, deviation)


def handle_slopes(full: FullBake) -> Work[Curves]:
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
        if not full.keeps(span, samples, tolerance):
            return False
    return True


def _joined(full: FullBake, slopes: Curves, kept: Sequence[int]) -> Curves:
    """Curves through the kept keys; between two adjacent frames those of the full bake."""
    curves = Curves(*(column[kept] for column in slopes))
    near = np.flatnonzero(np.diff(kept) == 1)
    curves.right[near] = full.curves.right[kept][near]
    curves.left[near + 1] = full.curves.left[kept][near + 1]
    return curves

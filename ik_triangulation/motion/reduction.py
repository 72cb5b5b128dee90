# SPDX-License-Identifier: GPL-3.0-or-later
"""Key reduction of a bake of limbs, bodies or IK controls: within bounds, and with joints inside their limits.

Keys of frames posed by hand stay. Between them, greedy: from each key the next one is as late as the tolerance
allows, which gives the minimum number of keys if every part of a valid span is valid; then halfway to where they are if
time runs backwards. The length of a span is found as in Bentley and Yao 1976, "An almost optimal algorithm
for unbounded searching": by doubling and then bisection. As in Schneider 1990, "An algorithm for automatically fitting
digitized curves", spans meet smoothly. Deviations from that: the error is the deviation of the tip that the curves
move, because rotation channels have no distance; and slopes at the keys are those of the full bake and not fitted to
the spans, so that each span is judged by itself. All channels have their keys at the same frames. Which
handles Blender may place itself is found afterwards (handles.py).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise
from math import ceil, floor, inf
from typing import Any, NamedTuple, Protocol

import numpy as np
from mathutils import Quaternion, Vector

from ..cooperative import Work
from ..goals.support import BalanceTask
from ..goals.task import Task
from ..kinematics import Body, Free, Freedom, Joint
from ..kinematics.arrays import Array, Indices, Mask, Numbers
from ..kinematics.batch import Geometry, States, Tree
from ..kinematics.batch.limit_arrays import LimitArrays
from .frames import BatchKinematics, Curves, flowing, quaternions_of, straight

_ROUNDS = 4  # of a bisection
_FEW = 12  # keys between two poses that are spread evenly
_BLOCK = 250  # samples in one vectorised step
_SAME_GAP = 1e-3  # frames: a difference of gaps that rounding explains
_ROUNDING = 4e-6  # [rad] violation of a limit between two keys that is rounding of single precision
_LEAST = 1e-9  # share of a body's size that counts as nothing


class Bounds(Protocol):
    """The joints that a bake turns, over its F frames, and what fewer keys may change of them.

    `rotations` (F x joints x 4) are those of all joints at the frames; `chains` are the few chains or bodies that the
    frames share, and `which` (F) is the index of that of each frame. `samples` (n) are indices of frames and of times
    between them, `frames` (n) those of the frame at each sample or before it.
    """

    @property
    def chains(self) -> Sequence[Any]: ...

    @property
    def which(self) -> Array: ...

    @property
    def rotations(self) -> Array: ...

    def unkeyed(self, samples: Array, frames: Array) -> Array:
        """Return the rotations (joints x 4 x n) that joints without keys have at samples."""

    def measures(self, values: Array, rotations: Array, samples: Array, frames: Array) -> Array:
        """Return what is compared with the full bake (rows x n) at samples.

        There the channels have these values (n x channels), and all joints these rotations (joints x 4 x n).
        """

    def deviation(self, measures: Array, full: Array, frames: Array) -> Array:
        """Return how far measures (rows x n) are off those of the full bake, in the unit of the tolerance (n)."""


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

    `deviation` is the largest from the full bake at all samples [as the tolerance].
    """

    kept: Sequence[int]
    curves: Curves
    deviation: float


class FullBake:
    """The bake of every frame, sampled at its frames and at half frames (or less) between them.

    `curves` have a key for each frame; the channels in the columns `others` are keyed besides those of the `tracks`.
    `full` are the measures of the `bounds` at all samples.
    """

    def __init__(
        self, curves: Curves, tracks: Sequence[JointChannels], bounds: Bounds, others: Sequence[int] = ()
    ) -> None:
        self.curves, self.tracks, self.bounds = curves, tracks, bounds
        self.full: Array = np.empty((0, 0))
        steps = np.diff(curves.times)[:, None]
        self._parts = parts_between(curves.times)
        self.times: Array = np.append(
            curves.times[:-1, None] + steps * np.arange(self._parts) / self._parts, curves.times[-1]
        )
        self._before = np.arange(len(self.times)) // self._parts  # index of the frame at each sample or before it
        self._free = np.zeros(curves.values.shape[1], bool)  # columns that are keyed
        self._free[list(others)] = True
        for track in tracks:
            self._free[np.arange(len(self._free))[track.columns][list(track.keyed)]] = True
        modes = {track.mode for track in tracks}
        self._by_mode = [(mode, [track for track in tracks if track.mode == mode]) for mode in sorted(modes)]
        self._limited = [track.joint for track in tracks if not LimitArrays(self._freedoms(track)).free]
        limited = [track for track in tracks if track.joint in self._limited]
        self._limits = LimitArrays([freedom for track in limited for freedom in self._freedoms(track)] or Free())
        self._allowed = np.empty((len(limited), len(self.times)))  # violations of the full bake

    def measure(self) -> Work[None]:
        """Compute the measures of the full bake and its violations of limits at every sample; to be called first."""
        measured = []
        for block in _blocks(np.arange(len(self.times))):
            values = self.curves.at(self.times[block])
            turned = self._turned(values, block)
            measured.append(self._measures(values, turned, block))
            yield
            if self._limited:
                self._allowed[:, block] = np.maximum(self._beyond(turned, block, _ROUNDING), _ROUNDING)
                yield
        self.full = np.hstack(measured)

    @property
    def inner(self) -> Mask:
        """The samples (S) that are between two frames."""
        return np.asarray(np.arange(len(self.times)) % self._parts != 0)

    def samples(self, first: int, last: int) -> list[Array]:
        """Indices of the samples between two frames, given as indices and excluded; in blocks."""
        return _blocks(np.arange(first * self._parts + 1, last * self._parts))

    def posed(self, curves: Curves, samples: Array) -> tuple[Array, Array]:
        """Return channel values (n x channels) and rotations (joints x 4 x n) with other curves at samples."""
        values: Array = curves.at(self.times[samples])
        if not self._free.all():  # channels without keys are as in the full bake
            values[:, ~self._free] = self.curves.at(self.times[samples])[:, ~self._free]
        return values, self._turned(values, samples)

    def measured(self, curves: Curves, samples: Array) -> Array:
        """Return the measures (rows x n) of curves at samples, which are known of those of the full bake."""
        if curves is self.curves and self.full.size:
            return self.full[:, samples]
        return self._measures(*self.posed(curves, samples), samples)

    def deviation(self, curves: Curves, samples: Array) -> Array:
        """Deviation of other curves from the full bake, at each of these samples [as the tolerance]."""
        return self._apart(*self.posed(curves, samples), samples)

    def keeps(self, curves: Curves, samples: Array, tolerance: float) -> bool:
        """Whether other curves stay within the tolerance, and keep limits as well as the full bake, at samples."""
        values, turned = self.posed(curves, samples)
        if (self._apart(values, turned, samples) > tolerance).any():
            return False
        allowed = self._allowed[:, samples]
        return not self._limited or not (self._beyond(turned, samples, allowed) > allowed).any()

    def exceeding(self, curves: Curves, tolerance: float) -> Work[tuple[Mask, float]]:
        """Return at which samples other curves do not keep to that, and the largest deviation at all of them."""
        found: list[Mask] = []
        largest = 0.0
        for samples in _blocks(np.arange(len(self.times))):
            values, turned = self.posed(curves, samples)
            apart, allowed = self._apart(values, turned, samples), self._allowed[:, samples]
            largest = max(largest, float(apart.max(initial=0.0)))
            off = apart > tolerance
            if self._limited:
                off |= (self._beyond(turned, samples, allowed) > allowed).any(0)
            found.append(off)
            yield
        return np.concatenate(found), largest

    def bends(self, track: JointChannels) -> Array:
        """Whether a joint meets a limit or leaves it, for each frame (booleans)."""
        turned = np.array(self.bounds.rotations[:, track.joint].T, np.float64)
        freedoms = self._freedoms(track)
        limits = LimitArrays([freedoms[chain] for chain in self.bounds.which.tolist()])
        changes = np.diff(limits.ends(turned)) != 0
        return np.asarray(np.logical_or(np.append(False, changes), np.append(changes, False)))

    def _turned(self, values: Array, samples: Array) -> Array:
        """Unit quaternions of all joints (joints x 4 x n) with these values (n x channels)."""
        turned = self.bounds.unkeyed(samples, self._before[samples])
        columns = np.ascontiguousarray(values.T)
        for mode, tracks in self._by_mode:
            stacked = np.stack([columns[track.columns] for track in tracks])
            turned[[track.joint for track in tracks]] = quaternions_of(stacked, mode)
        return turned

    def _measures(self, values: Array, turned: Array, samples: Array) -> Array:
        return self.bounds.measures(values, turned, samples, self._before[samples])

    def _apart(self, values: Array, turned: Array, samples: Array) -> Array:
        measures = self._measures(values, turned, samples)
        return self.bounds.deviation(measures, self.full[:, samples], self._before[samples])

    def _beyond(self, turned: Array, samples: Array, least: Array | float) -> Array:
        """Violations of limits [rad], a row for each joint that has any; exact where they are more than `least`."""
        chains = self.bounds.which[self._before[samples]]
        joints = np.arange(len(self._limited))[:, None] * len(self.bounds.chains)
        rotations = np.ascontiguousarray(np.moveaxis(turned[self._limited], 1, 0)).reshape(4, -1)
        least = np.broadcast_to(least, (len(self._limited), len(samples))).ravel()
        found = self._limits.exact_excess(rotations, (joints + chains).ravel(), least)
        return found.reshape(len(self._limited), -1)

    def _freedoms(self, track: JointChannels) -> list[Freedom]:
        """The freedom of a joint in each chain."""
        return [chain.joints[track.joint].freedom for chain in self.bounds.chains]


def parts_between(times: Array) -> int:
    """Number of samples from one of the frames to the next: an even one, for frames at most a half apart."""
    return 2 * max(1, ceil(float(np.diff(times).max(initial=1.0)) - _SAME_GAP))


def _blocks(samples: Array) -> list[Array]:
    return np.array_split(samples, ceil(len(samples) / _BLOCK) or 1)


def reduce(full: FullBake, tolerance: float, poses: Iterable[int] = ()) -> Work[Reduction]:
    """Remove keys of a full bake while the deviation from it stays within the `tolerance` [in the unit of its bounds].

    At every sample that holds, and joints violate their limits no more than in the full bake. The first and the last
    key stay, and those of `poses`, the indices of frames posed by hand. Motion that is the same backwards gets
    keys that are the same backwards, where the fewest keys allow it.
    """
    yield from full.measure()
    slopes, last = (yield from handle_slopes(full)), len(full.curves.times) - 1
    kept = [0]
    for first, end in pairwise(sorted({0, last, *poses})):
        kept += yield from _between(full, slopes, tolerance, first, end)
    curves = _joined(full, slopes, kept)
    deviation = 0.0
    for samples in full.samples(0, last):
        deviation = max(deviation, float(full.deviation(curves, samples).max(initial=0.0)))
        yield
    return Reduction(kept, curves, deviation)


def _between(full: FullBake, slopes: Curves, tolerance: float, first: int, end: int) -> Work[list[int]]:
    """Return the fewest keys needed after one frame up to another, which is the last of them.

    From the first frame on each is as late as can be, from the last one back as early. Halfway between the two they do
    not depend on the direction of time. Where the motion does not stay within tolerance then, they are as late as a
    tighter one allows for as many keys, so that none of them is left with a short span.
    """
    late = yield from _chain_of_keys(full, slopes, tolerance, first, end)
    if len(late) == 2:
        return late[1:]
    early = yield from _chain_of_keys(full, slopes, tolerance, end, first, most=len(late))
    early.reverse()
    if early[0] == first and len(early) < len(late):
        return early[1:]
    if early[0] == first:
        centre = (first + end) / 2.0
        middle = [_halfway(one, other, centre) for one, other in zip(early, late, strict=True)]
        for pair in pairwise(middle):
            if pair[1] <= pair[0]:  # rounded to one frame
                break
            if pair[1] - pair[0] > 1 and not (yield from _is_good(full, slopes, tolerance, *pair)):
                break
        else:
            return middle[1:]
    low, high, is_short = 0.0, tolerance, 2 * (late[-1] - late[-2]) * (len(late) - 1) < end - first
    for _ in range(_ROUNDS if is_short and len(late) <= _FEW else 0):
        tried = yield from _chain_of_keys(full, slopes, (low + high) / 2.0, first, end, most=len(late))
        if tried[-1] == end:
            late, high = tried, (low + high) / 2.0
        else:
            low = (low + high) / 2.0
    return late[1:]


def _chain_of_keys(
    full: FullBake, slopes: Curves, tolerance: float, start: int, end: int, most: float = inf
) -> Work[list[int]]:
    """Return keys from one frame to another, each as far from the one before as can be, or the first ones of `most`."""
    keys = [start]
    while keys[-1] != end and len(keys) < most:
        keys.append((yield from _farthest(full, slopes, tolerance, keys[-1], end)))
    return keys


def _halfway(one: int, other: int, centre: float) -> int:
    """Return the frame halfway between two; of two that are as near, the one nearer to the `centre`."""
    half = (one + other) / 2.0
    return floor(half) if half > centre else ceil(half)


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


def _farthest(full: FullBake, slopes: Curves, tolerance: float, start: int, end: int) -> Work[int]:
    """Index of the frame farthest from `start`, towards and up to `end`, to which no key is needed between."""
    way, whole = (1, end - start) if end > start else (-1, start - end)
    good, bad, step = 1, whole + 1, 1
    while bad - good > 1:
        tried = min(good + step, (good + bad) // 2 if bad <= whole else whole)
        there = start + way * tried
        if (yield from _is_good(full, slopes, tolerance, min(start, there), max(start, there))):
            good, step = tried, 2 * step
        else:
            bad = tried
    return start + way * good


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


class LimbBounds:
    """The bound of a limb: the distance of its tip from the full bake [Blender units, world space].

    `worlds` (F x 4 x 4) are the world matrices of the armature. Between two frames the rig and the joints without keyed
    channels count as unchanged since the frame before.
    """

    def __init__(self, kinematics: BatchKinematics, worlds: Array) -> None:
        self.chains, self.which, self.rotations = kinematics.chains, kinematics.which, kinematics.rotations
        self._kinematics, self._worlds = kinematics, np.asarray(worlds)[:, :3, :3]

    def unkeyed(self, samples: Array, frames: Array) -> Array:
        """Return the rotations of all joints at the frame before."""
        return np.array(np.moveaxis(self.rotations[frames], 0, 2), np.float64)

    def measures(self, values: Array, rotations: Array, samples: Array, frames: Array) -> Array:
        """Return the place of the tip, armature space."""
        return np.asarray(self._kinematics.tips(rotations, frames).T)

    def deviation(self, measures: Array, full: Array, frames: Array) -> Array:
        """Return the distance of the tip from the full bake."""
        return np.asarray(np.linalg.norm(np.einsum("nij,jn->ni", self._worlds[frames], measures - full), axis=1))


@dataclass(frozen=True, kw_only=True)
class BodyBounds:
    """All that bounds a body at the S samples of a bake: its frames and half frames.

    A deviation is a share of what each tip may deviate, the largest of all tips; 1 is the most that is allowed. Held
    tips are measured by the place and the rotation to hold, the others by where the full bake has them. What the full
    bake deviates itself is allowed, and so is its distance of the centre of mass from the support.

    `rotations` (F x joints x 4) are those that were solved at the frames, `animated` (joints, 4, S) those that joints
    without keys have, and `roots` (3, 3, S) those of the frame that the hips hang in. Location channels are in the
    columns `located`, and `placed` returns the place (3, m) of the hips' parent's origin that locations (3, m) make of
    it at samples (m). `held` are the tasks of the held tips, `steady` that of the balance without a margin, and `near`
    the distances [Blender units, armature space] within which the other tips, by their numbers, stay of the full bake.
    """

    body: Body
    rotations: Array
    animated: Numbers
    roots: Numbers
    located: Sequence[int]
    placed: Callable[[Numbers, Indices], Numbers]
    held: Sequence[Task]
    steady: BalanceTask | None
    near: Mapping[int, float]

    @property
    def chains(self) -> Sequence[Body]:
        """The body, at all frames."""
        return [self.body]

    @property
    def which(self) -> Array:
        """Its index at each frame."""
        return np.zeros(len(self.rotations), np.intp)

    def unkeyed(self, samples: Array, frames: Array) -> Array:
        """Return the rotations of all joints as animated."""
        return np.array(self.animated[..., samples])

    def measures(self, values: Array, rotations: Array, samples: Array, frames: Array) -> Array:
        """Return places of tips near which they stay, shares of what held tips are off, and the balance."""
        posed = self.geometry(values, rotations, samples)
        rows = [posed.tip(number) for number in self.near]
        for task in self.held:
            here = task.take(samples)
            rows.append((here.measure(posed).off / here.tolerance)[None])
        return np.vstack([*rows, self.outside(posed, samples)[None]])

    def deviation(self, measures: Array, full: Array, frames: Array) -> Array:
        """Return the largest of all shares; infinite where the balance is lost."""
        worst: Array = np.zeros(measures.shape[1])
        for number, most in enumerate(self.near.values()):
            place = slice(3 * number, 3 * number + 3)
            worst = np.maximum(worst, np.linalg.norm(measures[place] - full[place], axis=0) / most)
        off, own = self.off(measures), np.maximum(self.off(full), 1.0)  # what the full bake deviates itself
        worst = np.maximum(worst, (off / own).max(0, initial=0.0))
        lost = measures[-1] > np.maximum(full[-1], _LEAST * self._tree.size)
        return np.where(lost, np.inf, worst)

    def off(self, measures: Array) -> Array:
        """Return how far held tips are off by these measures, as shares of their tolerances (held tips x n)."""
        return measures[3 * len(self.near) : -1]

    def far(self, bake: FullBake, share: float) -> Mask:
        """Segments (F - 1) in which the full bake has a held tip farther off than this share of what is allowed."""
        worst: Numbers = self.off(bake.full).max(0, initial=0.0)[:-1]
        return np.asarray(worst.reshape(len(self.rotations) - 1, -1)[:, 1:].max(1) > share)

    def geometry(self, values: Array, rotations: Array, samples: Array) -> Geometry:
        """Return the places of all joints at samples, without regard to limits."""
        none = np.empty((0, len(samples)))
        place = self.placed(np.ascontiguousarray(values[:, list(self.located)].T), samples)
        roots, rotations = self.roots[..., samples], np.ascontiguousarray(rotations)
        return Geometry(self._tree, States(none, rotations, np.empty((0, 4, 1)), roots, place))

    def outside(self, posed: Geometry, samples: Array) -> Array:
        """Return the distance of the centre of mass from its support at samples; 0 without balance."""
        return np.zeros(len(samples)) if self.steady is None else self.steady.take(samples).measure(posed).off

    @cached_property
    def _tree(self) -> Tree:
        tree = self.body.tree
        return Tree([replace(joint, freedom=Free()) for joint in tree.joints], tree.parents, tree.tips)


class ControlBounds:
    """The bound of an IK control and its pole, over `count` frames.

    Columns `located` of its channels are the location of the control, `others` those of pole and base. A deviation is
    that of the tip that the control carries, which is `lever` away from it, or if that is more what the others deviate
    [all of the same unit, times `scale`]: an elbow is nearer to the line that it turns about than the pole is.
    """

    def __init__(self, count: int, located: Sequence[int], others: Sequence[int], lever: float, scale: float) -> None:
        self.chains = [_FreeChain()]
        self.which, self.rotations = np.zeros(count, np.intp), np.tile((1.0, 0.0, 0.0, 0.0), (count, 1, 1))
        self._located, self._others, self._lever, self._scale = list(located), list(others), lever, scale

    def unkeyed(self, samples: Array, frames: Array) -> Array:
        """Return no rotation."""
        return np.array(np.moveaxis(self.rotations[frames], 0, 2))

    def measures(self, values: Array, rotations: Array, samples: Array, frames: Array) -> Array:
        """Return the rotation of the control, and all channels."""
        return np.vstack((rotations[0], values.T))

    def deviation(self, measures: Array, full: Array, frames: Array) -> Array:
        """Return the larger one of the distances of the carried tip and of the others."""
        cosine = np.abs(np.einsum("in,in->n", measures[:4], full[:4]))
        off, angles = (measures - full)[4:], 2.0 * np.arccos(np.minimum(cosine, 1.0))
        moved = np.linalg.norm(off[self._located], axis=0) + angles * self._lever
        return np.asarray(np.maximum(moved, np.linalg.norm(off[self._others], axis=0)) * self._scale)


@dataclass(frozen=True)
class _FreeChain:
    """A chain of one free joint: the control."""

    joints: Sequence[Joint] = (Joint("", Vector(), Quaternion(), Free()),)

# SPDX-License-Identifier: GPL-3.0-or-later
"""Samples of many frames: a sequence of them, and arrays of all that moves."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property
from itertools import chain
from typing import Any, NamedTuple

import numpy as np
from mathutils import Matrix, Vector

from ...kinematics import Locked
from ...kinematics.arrays import Array
from ..armature import SQUARE, Channels
from ..freedom import freedom_of
from .sampling import Sample, rig_at
from .transforms import column_lengths, to_matrix


class SampledMotion(NamedTuple):
    """Matrices of the armature and the target (world space) and of the chain root's parent (armature space).

    Each is (4, 4, frames), or (4, 4, 1) if it does not move; `poles` (3, frames or 1) are locations of the pole target,
    world space. `still` is True if nothing else changes; the scale of the bases may.
    """

    worlds: Array
    bases: Array
    targets: Array
    poles: Array | None
    still: bool = True


class Samples(Sequence[Sample]):
    """The samples at some `frames`, made when they are asked for, and arrays of all that moves.

    The arrays have the frames last, or one for all where nothing moves.
    """

    def __init__(
        self, frames: Sequence[float], first: Sample, make: Callable[[int], Sample], motion: Callable[[], SampledMotion]
    ) -> None:
        self.frames, self.first = frames, first
        self._make, self._read_motion = make, motion

    def __len__(self) -> int:
        return len(self.frames)

    def __getitem__(self, index: Any) -> Any:
        indices = range(len(self.frames))[index]
        if isinstance(indices, range):
            return [self[i] for i in indices]
        return self._make(indices) if indices else self.first

    @property
    def worlds(self) -> Array:
        """Matrices of the armature (4, 4, frames or 1), world space."""
        return self._motion.worlds

    @property
    def bases(self) -> Array:
        """Matrices of the chain root's parent (4, 4, frames or 1), armature space."""
        return self._motion.bases

    @property
    def targets(self) -> Array:
        """Matrices of the target (4, 4, frames or 1), world space."""
        return self._motion.targets

    @property
    def poles(self) -> Array | None:
        """Locations of the pole target (3, frames or 1), world space; None without one."""
        return self._motion.poles

    @cached_property
    def steady(self) -> bool:
        """True if nothing but these arrays differs from frame to frame, so that one chain serves all frames.

        The same are the settings, the looks, the limits, the scale of the bases, and all channels of the bones but the
        rotations of those that are solved; there are no obstacles.
        """
        return self._motion.still and (self.bases.shape[2] == 1 or _one_scale(self.bases))

    @cached_property
    def _motion(self) -> SampledMotion:
        return self._read_motion()


def keyed_samples(frames: Sequence[float], first: Sample, motion: SampledMotion) -> Samples:
    """Return samples that differ from the first only by a motion that was read from F-curves.

    Samples between which the rig does not move share it as one object.
    """
    worlds, bases, targets, poles, _ = motion
    moves = worlds.shape[2] > 1 or bases.shape[2] > 1

    def make(index: int) -> Sample:
        rig = first.rig
        if moves:
            rig = rig_at(to_matrix(worlds, index), to_matrix(bases, index), rig.channels, rig.freedoms)
        pole = None if poles is None else Vector(poles[:, index if poles.shape[1] > 1 else 0])
        return Sample(frames[index], rig, first.limb, to_matrix(targets, index), first.looks, pole)

    return Samples(frames, first, make, lambda: motion)


def evaluated_samples(read: Sequence[Sample]) -> Samples:
    """Return samples that were read one by one from the dependency graph."""
    return Samples([now.frame for now in read], read[0], read.__getitem__, lambda: _motion_of(read))


def _motion_of(read: Sequence[Sample]) -> SampledMotion:
    first = read[0]
    poles = None
    if first.pole is not None:
        poles = _once(np.array([now.pole[:] for now in read if now.pole is not None]).T)
    worlds, bases = (
        _stacked(matrices) for matrices in zip(*((now.rig.world, now.rig.base) for now in read), strict=True)
    )
    return SampledMotion(worlds, bases, _stacked([now.target for now in read]), poles, _is_still(read))


def _is_still(read: Sequence[Sample]) -> bool:
    """Tell whether the samples differ only in matrices and in rotations of solved bones."""
    first = read[0]
    limbs = {id(now.limb): now.limb for now in read}.values()
    if any(now.obstacles or now.looks != first.looks for now in read) or any(limb != first.limb for limb in limbs):
        return False
    rigs = {id(now.rig): now.rig for now in read}.values()
    bones = first.limb.armature.pose.bones
    held = [
        name not in first.limb.solved or isinstance(first.rig.freedoms.get(name) or freedom_of(bones[name]), Locked)
        for name in first.limb.bones
    ]
    kept = _kept(first.rig.channels, held)
    return all(rig.freedoms == first.rig.freedoms and _kept(rig.channels, held) == kept for rig in rigs)


def _kept(channels: Sequence[Channels], held: Sequence[bool]) -> list[tuple[float, ...]]:
    """Return the channels that a chain is made of: all but the rotations of bones that are not held."""
    return [
        (*location, *scale, *(rotation if still else ()))
        for (location, rotation, scale), still in zip(channels, held, strict=True)
    ]


def _stacked(matrices: Sequence[Matrix]) -> Array:
    """Return matrices as an array (4, 4, frames), or (4, 4, 1) if all are the same."""
    numbers: chain[float] = chain.from_iterable(chain.from_iterable(matrices))
    return _once(np.fromiter(numbers, np.float64, 16 * len(matrices)).reshape(-1, 4, 4).transpose(1, 2, 0))


def _once(array: Array) -> Array:
    """Return the first frame of an array, if all frames are alike; otherwise all."""
    alike = array == array[..., :1]
    return np.ascontiguousarray(array[..., :1] if alike.all() else array)


def _one_scale(bases: Array) -> bool:
    """Tell whether the bases of all frames have one uniform scale, without shear and mirroring."""
    lengths = column_lengths(bases)
    size = lengths[0, 0]
    rows = bases[:3, :3]
    square = np.einsum("ijf,ikf->jkf", rows, rows) / (size * size or 1.0) - np.eye(3)[:, :, None]
    determinants = np.linalg.det(rows.transpose(2, 0, 1))
    return bool(size > 0.0 and np.abs(square).max() < 2.0 * SQUARE and determinants.min() > 0.0)

# SPDX-License-Identifier: GPL-3.0-or-later
"""The keys of limbs: solved frames as arrays over the frames, channels made of them, and fewer keys."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from functools import cached_property
from itertools import chain
from math import inf
from typing import NamedTuple, Protocol

import numpy as np
from bpy.types import Object, Scene, ViewLayer
from mathutils import Matrix

from ..cooperative import Work, finished
from ..kinematics import Freedom, Locked, Pose
from ..kinematics.arrays import Array, Numbers
from ..kinematics.batch.limit_arrays import Freedoms
from ..motion.frames import BatchKinematics, Curves, flowing, straight
from ..motion.reduction import FullBake, JointChannels, LimbBounds, Reduction, reduce
from ..rig.by_hand.reference import Boned
from ..rig.destination import Destination
from ..rig.freedom import keyed
from ..rig.keyframes import ByHand, Channel, interpolation_of, values_before
from ..rig.limb import Limb
from ..rig.rotation import channel, run_of, within_limits
from ..rig.timeline import Clock
from .frame_solver import SolvedFrame, chains_of, same_joints
from .shot import SolvedShot
from .writing import Keys, Writing, write_together

REDUCED = 0.005  # of the reach: deviation of the tip that key reduction allows by default


class WrittenKeys(NamedTuple):
    """Number of `keys` written, number in a `full` bake, and the largest `tip_deviation` from that by key reduction.

    `at` are the indices of the frames that have keys; the deviation is in world space [Blender units].
    """

    keys: int
    full: int
    at: Sequence[int]
    tip_deviation: float = 0.0
    warnings: Sequence[str] = ()


class LimbBake(NamedTuple):
    """The solved frames of a limb to write between two frames, the `ends`; keys in `kept`, by bone, stay."""

    limb: Limb
    solved: Sequence[SolvedFrame]
    ends: tuple[float, float]
    destination: Destination
    kept: Mapping[str, ByHand] = {}

    def writing(self, keys: Keys, bones: Boned | None = None) -> Writing:
        """Return the writing of these keys for the limb's bones, or for other ones."""
        kind = self.limb.destination
        return Writing(bones or self.limb, keys, self.ends, self.destination, kind, bool(self.kept))


def write_bakes(
    bakes: Sequence[LimbBake], undo: ExitStack, *, scene: Scene, view_layer: ViewLayer
) -> Work[list[WrittenKeys]]:
    """Write the keys of solved limbs as write_together() does; with key reduction some are dropped.

    Keys made by hand that are kept keep all of the others.
    """
    parts = []
    for bake in bakes:
        keys = yield from _keys_of(bake, scene)
        parts.append(bake.writing(keys))
    counts = yield from write_together(parts, undo, scene=scene, view_layer=view_layer)
    return [
        WrittenKeys(count, keys.full_keys(count, bake.limb.reduce), keys.at, keys.deviation)
        for bake, (_, keys, *_), count in zip(bakes, parts, counts, strict=True)
    ]


def _keys_of(bake: LimbBake, scene: Scene) -> Work[Keys]:
    """Make the keys of a limb's solved frames, which run on from those before them."""
    limb, kept, arrays, clock = bake.limb, bake.kept, arrays_of(bake.solved), Clock(scene, bake.limb.armature)
    first = clock.time(bake.ends[0])
    interpolation = interpolation_of(arrays.frames, *bake.ends, limb.interpolation)
    linear = interpolation == "LINEAR"
    times = [clock.time(frame) for frame in arrays.frames]
    before = {}
    for name in limb.in_order:
        before[name] = values_before_start(limb.armature, name, first)
        yield
    runs = yield from channel_values(limb.armature, arrays, times, before, kept)
    full, at, deviation = len(times) * sum(len(run.indices) for run in runs), range(len(times)), 0.0
    if limb.reduce and runs and len(times) > 2 and not kept and arrays.alike:
        at, curves, deviation = yield from _reduced(limb, arrays, times, runs, linear)
        runs = thinned(runs, at, curves)
    return Keys(runs, [times[i] for i in at], interpolation, full, at, deviation)


def pose_channels(limb: Limb, solved: SolvedFrame) -> list[Channel]:
    """Return the channels of a limb that is solved at one frame, near the present values."""
    return finished(channel_values(limb.armature, SolvedArrays([solved]), [solved.now.frame], {}, {}))


def channel_values(
    armature: Object,
    solved: JointRotations,
    times: Sequence[float],
    before: Mapping[str, tuple[float, ...]],
    kept: Mapping[str, ByHand],
) -> Work[list[Channel]]:
    """Channel values of every solved bone at all times, each running on from the ones before or from a kept key."""
    runs = []
    for name in solved.joints:
        bone = armature.pose.bones[name]
        prop, _ = channel(bone)
        rotations, freedoms = solved.rotations(name), solved.freedoms(name)
        previous = before.get(name) or tuple(getattr(bone, prop))
        parts, begin = [], 0
        for time, stays in (*kept.get(name, {}).items(), (inf, {})):
            end = bisect_left(times, time)
            if end > begin:
                some = freedoms if isinstance(freedoms, Freedom) else freedoms[begin:end]
                part = run_of(rotations[begin:end], bone.rotation_mode, some, previous)
                parts.append(part)
                previous = tuple(part[-1].tolist())
            previous = tuple(stays.get(index, value) for index, value in enumerate(previous))
            begin = end
        values = within_limits(name, np.vstack(parts), bone.rotation_mode, freedoms)
        yield
        runs.append(Channel(name, bone.path_from_id(prop), values, keyed(bone)))
    return runs


def _reduced(
    limb: Limb, solved: SolvedArrays | ShotArrays, times: Sequence[float], runs: Sequence[Channel], linear: bool
) -> Work[Reduction]:
    """Find the keys needed of a full bake, interpolated linearly or in curves."""
    first, worlds = solved.first, solved.worlds
    names = [joint.name for joint in first.chain.joints]
    tracks, begin = [], 0
    for run in runs:
        columns = slice(begin, begin + run.values.shape[1])
        mode = limb.armature.pose.bones[run.bone].rotation_mode
        tracks.append(JointChannels(names.index(run.bone), mode, columns, run.indices))
        begin = columns.stop
    values = np.hstack([run.values for run in runs]).astype(np.float64)
    curves = (straight if linear else flowing)(np.array(times, np.float64), values)
    full = FullBake(curves, tracks, LimbBounds(solved.kinematics(), worlds))
    world = Matrix(worlds[0]).to_3x3()
    reach = sum((world @ first.link(i)).length for i in range(len(names)))
    return (yield from reduce(full, limb.reduce_tolerance or REDUCED * reach))


def thinned(runs: Sequence[Channel], at: Sequence[int], curves: Curves) -> list[Channel]:
    """Return the runs with only the keys that are kept, and the slopes of their handles."""
    thinned, begin = [], 0
    for run in runs:
        end = begin + run.values.shape[1]
        slopes = curves.left[:, begin:end], curves.right[:, begin:end]
        thinned.append(run._replace(values=run.values[list(at)], slopes=slopes))
        begin = end
    return thinned


def values_before_start(armature: Object, name: str, frame: float) -> tuple[float, ...]:
    """Return channel values of the last keys before `frame`; the present ones for channels without."""
    bone = armature.pose.bones[name]
    prop, _ = channel(bone)
    keyed_values = values_before(armature, bone.path_from_id(prop), frame)
    return tuple(keyed_values.get(index, value) for index, value in enumerate(getattr(bone, prop)))


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

# SPDX-License-Identifier: GPL-3.0-or-later
"""Writing of solved frames as keys and poses, all of which can be undone until the end."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from math import inf
from typing import NamedTuple

import numpy as np
from bpy.types import Object, Scene, ViewLayer
from mathutils import Matrix

from ..cooperative import Work, finished
from ..kinematics import Freedom
from ..motion.bezier import Curves, flowing, straight
from ..motion.reduction import FullBake, JointChannels, Reduction, reduce
from ..rig.channel_runs import run_of
from ..rig.clock import Clock
from ..rig.destination import Destination
from ..rig.freedom import keyed
from ..rig.keyframes import (
    GENERATED,
    AnimatedValues,
    ByHand,
    Channel,
    interpolation_of,
    replace_keys,
    values_before,
    write_keys,
)
from ..rig.limb import Limb
from ..rig.limit_check import within_limits
from ..rig.posed import remember_written
from ..rig.reference import hold_reference, keep_replaced
from ..rig.rotation import channel, set_rotation
from .frame_solver import SolvedFrame
from .written import JointRotations, ShotArrays, SolvedArrays, arrays_of

_NONE = np.empty((0, 4), np.float32)
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


def write_pose(limb: Limb, solved: SolvedFrame, key: bool, scene: Scene, view_layer: ViewLayer, undo: ExitStack) -> int:
    """Pose the bones as solved at one frame, and with `key` key them there; return the number of keys."""
    time = Clock(scene, limb.armature).time(solved.now.frame)
    hold_reference(limb.pose_bones, scene, undo)
    runs = finished(channel_values(limb.armature, SolvedArrays([solved]), [time], {}, {}))
    keys = finished(write_keys(limb.armature, runs, [time], time, time, view_layer, undo)) if key else 0
    for run in runs:
        _put(limb.armature, run, run.values[0], undo)
    remember_written(limb.pose_bones)
    view_layer.update()
    return keys


def key_present_pose(limb: Limb, scene: Scene, view_layer: ViewLayer) -> int:
    """Key the limb as it is posed at the present frame; return the number of keys."""
    time = Clock(scene, limb.armature).time(scene.frame_current + scene.frame_subframe)
    runs = []
    for bone in limb.pose_bones:
        prop, _ = channel(bone)
        values = np.array([tuple(getattr(bone, prop))], np.float32)
        runs.append(Channel(bone.name, bone.path_from_id(prop), values, keyed(bone)))
    with ExitStack() as undo:
        keys = finished(write_keys(limb.armature, runs, [time], time, time, view_layer, undo))
        undo.pop_all()
    return keys


class LimbBake(NamedTuple):
    """The solved frames of a limb to write between two frames, the `ends`; keys in `kept`, by bone, stay."""

    limb: Limb
    solved: Sequence[SolvedFrame]
    ends: tuple[float, float]
    destination: Destination
    kept: Mapping[str, ByHand] = {}


def write_bakes(
    bakes: Sequence[LimbBake], undo: ExitStack, *, scene: Scene, view_layer: ViewLayer
) -> Work[list[WrittenKeys]]:
    """Replace the keys of limbs between their ends by those of the solved frames, and pose the present frame.

    Blender evaluates all of them once: it copies the whole action for that. With key reduction some keys are dropped,
    unless there are keys to be kept. Values that were posed without a keyframe stay as `view_layer` shows them. Closing
    `undo` restores everything, also if the work is closed before its end.
    """
    paths: dict[Object, list[str]] = {}
    for bake in bakes:
        armature = bake.limb.armature
        paths.setdefault(armature, []).extend(bone.path_from_id(channel(bone)[0]) for bone in bake.limb.pose_bones)
    saved = [AnimatedValues(armature, some) for armature, some in paths.items()]
    for values in saved:
        undo.callback(values.update_and_restore, view_layer)
    written, shown = [], []
    for bake in bakes:
        keys, runs = yield from _write(bake, undo, scene)
        written.append(keys)
        shown.append(runs)
    view_layer.update()
    runs_of: dict[Object, list[Channel]] = {}
    for bake, runs in zip(bakes, shown, strict=True):
        runs_of.setdefault(bake.limb.armature, []).extend(runs)
    for armature, values in zip(paths, saved, strict=True):
        values.restore([(run.path, index) for run in runs_of[armature] for index in run.indices])
    yield
    frame = scene.frame_current + scene.frame_subframe
    for bake, runs in zip(bakes, shown, strict=True):
        _show(bake, runs, Clock(scene, bake.limb.armature).time(frame), undo)
    return written


def _write(bake: LimbBake, undo: ExitStack, scene: Scene) -> Work[tuple[WrittenKeys, list[Channel]]]:
    """Replace the keys of one limb, and evaluate nothing; returns what was written, and the channels without values."""
    limb, clock, kept = bake.limb, Clock(scene, bake.limb.armature), bool(bake.kept)
    first, last = map(clock.time, bake.ends)
    keys = yield from _keys_of(bake, clock, first)
    bag = bake.destination.bag(limb.destination, limb.armature, undo)
    keep_replaced(limb, keys.runs, bag, (first, last), scene, undo, kept)
    count = yield from replace_keys(
        bag, keys.runs, keys.times, first, last, undo, keys.interpolation, kind=GENERATED, keep=kept
    )
    written = WrittenKeys(count, max(keys.full, count) if limb.reduce else count, keys.at, keys.deviation)
    return written, [run._replace(values=_NONE, slopes=None) for run in keys.runs]


class _Keys(NamedTuple):
    """Keys to write: channels with their `times` and interpolation; the rest is that of WrittenKeys."""

    runs: list[Channel]
    times: list[float]
    interpolation: str
    full: int
    at: Sequence[int]
    deviation: float


def _keys_of(bake: LimbBake, clock: Clock, first: float) -> Work[_Keys]:
    """Make the keys of a limb's solved frames, which run on from those before `first` (evaluated time)."""
    limb, kept, arrays = bake.limb, bake.kept, arrays_of(bake.solved)
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
    return _Keys(runs, [times[i] for i in at], interpolation, full, at, deviation)


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
    full = FullBake(
        (straight if linear else flowing)(np.array(times, np.float64), values), tracks, solved.kinematics(), worlds
    )
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


def _show(bake: LimbBake, runs: Sequence[Channel], frame: float, undo: ExitStack) -> None:
    """Pose the baked bones by their curves, which Blender would only do at the next change of frame."""
    limb = bake.limb
    for run in runs:
        bone = limb.armature.pose.bones[run.bone]
        values = list(getattr(bone, channel(bone)[0]))
        curves = bake.destination.shown(limb.destination, limb.armature, frame, run.path)
        for index in curves.keys() & run.indices:
            values[index] = curves[index].evaluate(frame)
        _put(limb.armature, run, values, undo)


def _put(armature: Object, run: Channel, values: Sequence[float], undo: ExitStack) -> None:
    """Set the rotation channels of a bone if they differ; closing `undo` restores them."""
    bone = armature.pose.bones[run.bone]
    before = tuple(getattr(bone, channel(bone)[0]))
    if before != tuple(values):  # Blender evaluates the rig again for what is set, changed or not
        undo.callback(set_rotation, bone, before)
        set_rotation(bone, values)

# SPDX-License-Identifier: GPL-3.0-or-later
"""The keys of limbs and bodies that are solved: channels made of arrays over the frames, and fewer keys."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from math import inf
from typing import Any, NamedTuple

import numpy as np
from bpy.types import Object, PropertyGroup, Scene, ViewLayer
from mathutils import Matrix

from ...cooperative import Work, finished
from ...errors import SettingError
from ...goals.task import FadedTask, PlaceTask, Task, unwrapped
from ...items import HELD, REDUCED
from ...kinematics import Free, Freedom
from ...kinematics.arrays import Numbers
from ...kinematics.batch import States
from ...kinematics.batch.limit_arrays import Freedoms
from ...motion.frames import Curves, flowing, straight, through
from ...motion.handles import clamp
from ...motion.reduction import BodyBounds, FullBake, JointChannels, LimbBounds, handle_slopes, reduce
from ...rig.body import RigBody, moving_bones
from ...rig.by_hand.keys import location_channel
from ...rig.by_hand.reference import Boned
from ...rig.freedom import keyed
from ...rig.ik_controls import IKControls
from ...rig.keyframes import (
    SAME_FRAME,
    ByHand,
    Channel,
    clamped_slopes,
    interpolation_of,
    is_baked,
    values_before,
)
from ...rig.layers import Destination
from ...rig.limb import Limb
from ...rig.rotation import channel, run_of, within_limits
from ...rig.targets.motion import frames_of_target
from ...rig.timeline import Clock
from ...rig.units import scale_of
from ...settings import KeySettings, PostureSettings, settings_of
from ...solvers.batch.descent import hold
from ...solvers.body.priorities import HELD_SHARE
from .frame_solver import SolvedFrame
from .problem import BodyProblem
from .shot import JointArrays, JointRotations, ShotArrays, SolvedArrays, arrays_of
from .writing import Keys, Writing, write_together

_STILL = 1e-6  # [rad, or the unit of a channel] what single precision makes of a channel that does not move
_RECORDED = 3  # a target with keys at every so many frames, or more of them, was not posed by hand


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
    times = clock.times(arrays.frames)
    before = {}
    for name in limb.in_order:
        before[name] = values_before_start(limb.armature, name, first)
        yield
    runs = yield from channel_values(limb.armature, arrays, times, before, kept)
    full, at, deviation = len(times) * sum(len(run.indices) for run in runs), range(len(times)), 0.0
    if limb.reduce and limb.destination != "LAYER" and runs and len(times) > 2 and not kept and arrays.alike:
        poses = poses_of([limb], arrays.frames, scene)
        at, runs, _, deviation = yield from _reduced(limb, arrays, times, runs, linear, poses)
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
        runs.append(Channel(name, bone.path_from_id(prop), values, keyed(bone, _limited(freedoms))))
    return runs


def _limited(freedoms: Freedoms) -> Freedom | None:
    """Return the one freedom of a joint in all frames; None where its bone may not have it, as toes turned back."""
    return freedoms if isinstance(freedoms, Freedom) and not isinstance(freedoms, Free) else None


def _reduced(
    limb: Limb,
    solved: SolvedArrays | ShotArrays,
    times: Sequence[float],
    runs: Sequence[Channel],
    linear: bool,
    poses: Sequence[int],
) -> Work[FewerKeys]:
    """Find the keys needed of a full bake, interpolated linearly or in curves; those of `poses`, by index, stay."""
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
    return (yield from fewer_keys(full, runs, limb.reduce_tolerance or REDUCED * reach, poses))


def fitted(runs: Sequence[Channel], curves: Curves) -> list[Channel]:
    """Return the runs with the slopes of the handles of curves that have a key at each of their frames."""
    found, begin = [], 0
    for run in runs:
        end = begin + run.values.shape[1]
        found.append(run._replace(slopes=(curves.left[:, begin:end], curves.right[:, begin:end])))
        begin = end
    return found


class FewerKeys(NamedTuple):
    """The keys `at` these indices of frames, with their handles, and how far they deviate from the full bake."""

    at: Sequence[int]
    runs: list[Channel]
    curves: Curves
    deviation: float


def fewer_keys(full: FullBake, runs: Sequence[Channel], tolerance: float, poses: Sequence[int]) -> Work[FewerKeys]:
    """Find the keys that a motion needs, those of `poses`, by index, among them; Auto Clamped wherever that holds.

    The deviation is as that of the bounds of the full bake.
    """
    at, curves, _ = yield from reduce(full, tolerance, poses)
    curves, which, deviation = yield from clamp(full, curves, tolerance, clamped_slopes)
    found, begin = [], 0
    for run in fitted([run._replace(values=run.values[list(at)]) for run in runs], curves):
        own = slice(begin, begin + run.values.shape[1])
        still = np.flatnonzero(np.ptp(full.curves.values[:, own], axis=0) <= _STILL).tolist()
        found.append(run._replace(clamped=which[:, own], still=still))
        begin = own.stop
    return FewerKeys(at, found, curves, deviation)


def poses_of(limbs: Sequence[Limb], frames: Sequence[float], scene: Scene) -> list[int]:
    """Return the indices of the frames at which the targets of limbs were posed: they have keys there, but few.

    Targets with a key at every third frame or more were recorded, and no frame of theirs stands out.
    """
    posed: set[int] = set()
    for limb in limbs:
        keyed_at = frames_of_target(limb, scene, frames[0], frames[-1])
        near = np.searchsorted(frames, np.array(keyed_at) - SAME_FRAME).tolist()
        here = {k for k, frame in zip(near, keyed_at, strict=True) if abs(frames[k] - frame) <= SAME_FRAME}
        if _RECORDED * len(here) < len(frames):
            posed |= here
    return sorted(posed)


def values_before_start(armature: Object, name: str, frame: float) -> tuple[float, ...]:
    """Return channel values of the last keys before `frame`; the present ones for channels without."""
    bone = armature.pose.bones[name]
    prop, _ = channel(bone)
    keyed_values = values_before(armature, bone.path_from_id(prop), frame)
    return tuple(keyed_values.get(index, value) for index, value in enumerate(getattr(bone, prop)))


_SURE = 0.8  # of what held tips may slip: the rest is for where nobody measures
_CLOSE = 0.3  # of what held tips may slip: with more, handles of a smooth curve are fitted


@dataclass(frozen=True, kw_only=True)
class BodyKeySettings(KeySettings):
    """Settings of the keys of a body, and its `smoothing`.

    `within` has for tips, by name, how far key reduction may move them [Blender units, world space]; 0 and what is not
    there are by default 0.5 % of the limb's reach, of held tips 0.1 %.
    """

    smoothing: float = 0.0
    within: Mapping[str, float] = field(default_factory=dict)

    @classmethod
    def of(cls, stored: Any, **more: Any) -> BodyKeySettings:
        """Return the settings of a limb, or those stored on a tip bone."""
        return cls(**{name: getattr(stored, name) for name in (*settings_of(KeySettings), "smoothing")}, **more)


def body_settings(rig: RigBody, tip: str = "") -> BodyKeySettings:
    """Return the settings of the keys of a body: those of one of its limbs, by default the first that reaches.

    How far key reduction may move a tip is up to its own limb.
    """
    limbs: dict[str, Limb | PropertyGroup] = {limb.tip: limb for limb in rig.limbs}
    limbs |= {name: rig.armature.pose.bones[name].ik_triangulation for name in rig.held}
    within = {name: limb.reduce_tolerance for name, limb in limbs.items() if limb.reduce_tolerance}
    return BodyKeySettings.of(limbs[tip or next(iter(limbs))], within=within)


def unheeded_keys(rig: RigBody, settings: BodyKeySettings) -> list[str]:
    """Return warnings that name limbs with settings of keys other than those of the limb by which a body is keyed."""
    bones, rows, found = rig.armature.pose.bones, settings_of(KeySettings, PostureSettings), list[str]()
    limbs = [(name, bones[name].ik_triangulation) for name in rig.held] + [(limb.tip, limb) for limb in rig.limbs]
    names = [name for name in (*settings_of(KeySettings), "smoothing") if name != "reduce_tolerance"]
    # Where no limb has the value it was given for this bake, and is no surprise.
    names = [name for name in names if any(getattr(limb, name) == getattr(settings, name) for _, limb in limbs)]
    for tip, limb in limbs:
        own = [name for name in names if getattr(limb, name) not in (rows[name].default, getattr(settings, name))]
        if own:
            labels = ", ".join(rows[name].label for name in own)
            found.append(
                f"'{tip}': {labels} as set for it do not count, as one limb has the settings of the whole body's keys, "
                "the active one."
            )
    return found


def check_layer(settings: KeySettings | Limb, armature: Object) -> list[str]:
    """Raise SettingError if keys on a layer are asked for that it cannot have; return warnings about the layer."""
    if settings.destination != "LAYER":
        return []
    if settings.keys_on != "FK":
        raise SettingError("A layer has keys of the limb's own bones. Choose FK Controls for Keys On, or no layer.")
    animation = armature.animation_data
    notes = ["A layer has a key at each frame: Reduce Keys is for other destinations."] if settings.reduce else []
    if animation and animation.action:
        notes.append(f"Action '{animation.action.name}' is on an NLA track now, below the layer.")
    return notes


class KeyPlan(NamedTuple):
    """The keys to make of a body: between two frames, the `ends`, at a destination, by `settings`.

    `limbs` are those whose IK controls are keyed as well. With `keep` keys made by hand stay.
    """

    settings: BodyKeySettings
    ends: tuple[int, int]
    destination: Destination
    limbs: Sequence[tuple[Limb, IKControls]] = ()
    keep: bool = False

    def measures_between(self, rig: RigBody) -> bool:
        """Tell whether the keys are measured between the frames too, which those of a layer are not."""
        return self.settings.destination != "LAYER" and bool(rig.held or self.settings.reduce)


class SolvedBody(NamedTuple):
    """A body that is solved: its problem and its states at the same frames.

    `between` is the body at the samples of key reduction; without it nothing is known between the frames.
    """

    problem: BodyProblem
    states: States
    between: BodyProblem | None = None


def body_arrays(problem: BodyProblem, rotations: Numbers) -> JointArrays:
    """Return the joints of a body that turn, as the keys of a limb are made of them; `rotations` (n, 4, F) of all.

    Toes, which are not solved, are among them if they are turned back, or were before.
    """
    rig = problem.rig
    toes = [toe for toe in rig.toes.values() if toe in problem.turned_toes or is_baked(rig.armature, [toe])]
    still = {joint.name for joint in problem.body.joints if not joint.freedom.moves}.intersection(toes)
    joints = [replace(joint, freedom=Free()) if joint.name in still else joint for joint in problem.body.joints]
    return JointArrays(joints, rotations, [*(bone.name for bone in moving_bones(rig, problem.body)), *toes])


def body_keys(body: SolvedBody, plan: KeyPlan, scene: Scene, kept: Mapping[str, ByHand]) -> Work[Keys]:
    """Make the keys of a body that is solved, which run on from those before the ends of its plan.

    Without the body between its frames, keys are interpolated as those of a limb. Keys made by hand that are `kept`
    keep all of the others.
    """
    problem, states, between = body
    rig, settings, frames = problem.rig, plan.settings, problem.samples.frames
    clock = Clock(scene, rig.armature)
    times = clock.times(frames)
    first, interpolation = clock.time(plan.ends[0]), interpolation_of(frames, *plan.ends, settings.interpolation)
    linear = interpolation == "LINEAR"
    rotations, locations = problem.rotations(states), problem.locations(states)
    before = {
        bone.name: values_before_start(rig.armature, bone.name, first) for bone in moving_bones(rig, problem.body)
    }
    runs = yield from _channels(problem, rotations, locations, times, before, kept)
    full = len(times) * sum(len(run.indices) for run in runs)
    if between is None or len(times) < 2:
        return Keys(runs, times, interpolation, full)
    tracks, located = _tracks(problem, runs)
    bounds = _bounds(between, settings, rotations, located)
    whole = FullBake(straight(np.array(times), _values(runs)), tracks, bounds, located)
    yield from whole.measure()
    handled = settings.interpolation in {"AUTO", "BEZIER"} and (not linear or bool(bounds.far(whole, 1.0).any()))
    if handled:
        curves = yield from handle_slopes(whole)
        whole = FullBake(curves, tracks, bounds, located)
        yield from whole.measure()
        rough = bounds.far(whole, _CLOSE)
        if rough.any():
            inner = whole.inner
            every = np.empty((*rotations.shape[:2], len(inner))), np.empty((3, len(inner)))
            halves = _held_between(whole, bounds, between)
            at_halves = between.body.tree.rotations(halves), between.locations(halves, np.flatnonzero(inner))
            for values, here, there in zip(every, (rotations, locations), at_halves, strict=True):
                values[..., ~inner], values[..., inner] = here, there
            woven = yield from _channels(problem, *every, whole.times.tolist(), before, kept)
            runs = [run._replace(values=run.values[~inner]) for run in woven]
            held = _values([run._replace(values=run.values[inner]) for run in woven])
            held = held.reshape(len(times) - 1, -1, held.shape[1])
            curves = through(curves._replace(values=_values(runs)), held, rough)
            whole = FullBake(curves, tracks, bounds, located)
        runs = fitted(runs, whole.curves)
    if settings.reduce and len(times) > 2 and not kept:
        fewer = yield from fewer_keys(whole, runs, 1.0, poses_of(rig.limbs, frames, scene))
        at, outside = fewer.at, _outside(whole, fewer.curves)
        allowed = {limb.tip: bounds.near[problem.body.number_of[limb.tip]] for limb in rig.limbs}
        return Keys(fewer.runs, [times[i] for i in at], "BEZIER", full, at, outside=outside, allowed=allowed)
    return Keys(runs, times, interpolation, full, outside=_outside(whole, whole.curves))


def body_channels(problem: BodyProblem, states: States) -> list[Channel]:
    """Return the channels of a body that is posed at the frames of the problem, near the present values."""
    rotations, locations = problem.rotations(states), problem.locations(states)
    return finished(_channels(problem, rotations, locations, problem.samples.frames, {}, {}))


def _tracks(problem: BodyProblem, runs: Sequence[Channel]) -> tuple[list[JointChannels], list[int]]:
    """Return the rotation channels of joints, and the columns of location channels, in the columns of all channels."""
    names = [joint.name for joint in problem.body.joints]
    tracks, located, begin = [], list[int](), 0
    for run in runs:
        columns = slice(begin, begin + run.values.shape[1])
        begin = columns.stop
        if run.path.endswith(".location"):
            located = list(range(columns.start, columns.stop))
        else:
            mode = problem.rig.armature.pose.bones[run.bone].rotation_mode
            tracks.append(JointChannels(names.index(run.bone), mode, columns, run.indices))
    return tracks, located


def _outside(whole: FullBake, curves: Curves) -> float:
    """Return how far the centre of mass is outside its support at most, with these curves."""
    return float(whole.measured(curves, np.arange(len(whole.times)))[-1].max())


def _channels(
    problem: BodyProblem,
    rotations: Numbers,
    locations: Numbers,
    times: Sequence[float],
    before: Mapping[str, tuple[float, ...]],
    kept: Mapping[str, ByHand],
) -> Work[list[Channel]]:
    """Channels with their values at these times, of rotations (n, 4, F) of all joints and locations (3, F).

    They run on from the values `before`, by default from the present ones.
    """
    rig, arrays = problem.rig, body_arrays(problem, rotations)
    runs: list[Channel] = yield from channel_values(rig.armature, arrays, times, before, kept)
    if rig.hips_motion != "FIXED":
        runs.append(location_channel(rig.armature, rig.hips, locations))
    return runs


def _bounds(between: BodyProblem, settings: BodyKeySettings, rotations: Numbers, located: Sequence[int]) -> BodyBounds:
    """All that bounds a body between its frames, at which its joints have these `rotations` (n, 4, F)."""
    rig, body, scale = between.rig, between.body, scale_of(between.rig.armature)
    shares = {body.number_of[name]: between.samples.influence[name] for name in rig.held}
    held: list[Task] = []
    for task in between.tasks:
        if isinstance(unwrapped(task), PlaceTask):
            within = settings.within.get(body.tips[task.tip].name, 0.0)
            task = task.within(np.array([within / scale]) if within else _SURE * task.tolerance)
        present = (shares[task.tip] == 1.0).astype(float)  # a tip on its way is bounded by the full bake alone
        held.append(task if present.all() else FadedTask(task=task, rest=np.zeros((task.count, 1)), present=present))
    near = {}
    for number, share in shares.items():
        if (share < 1.0).any():
            within = settings.within.get(body.tips[number].name, 0.0)
            near[number] = within / scale if within else HELD * body.tree.tips[number].reach
    for limb in rig.limbs:
        within = settings.within.get(limb.tip, 0.0)
        near[body.number_of[limb.tip]] = within / scale if within else REDUCED * body.reach(limb.tip)
    return BodyBounds(
        body=body,
        rotations=np.ascontiguousarray(np.moveaxis(rotations, -1, 0)),
        animated=body.tree.rotations(between.reference),
        roots=between.samples.bases[:3, :3],
        located=located,
        placed=between.placed,
        held=held,
        steady=between.balance(0.0),
        near=near,
    )


def _held_between(whole: FullBake, bounds: BodyBounds, between: BodyProblem) -> States:
    """States of the body at all samples between two frames, with held tips held."""
    here, tree = np.flatnonzero(whole.inner), between.body.tree
    posed = bounds.geometry(*whole.posed(whole.curves, here), here).states
    empty = np.empty((0, len(here))), np.empty((0, 4, len(here)))
    frames = States(*empty, posed.balls[tree.held], posed.root, posed.place)
    states = tree.posed(posed.balls, frames)
    hold(tree, states, [task.take(here) for task in bounds.held], share=HELD_SHARE)
    return states


def _values(runs: Sequence[Channel]) -> Numbers:
    return np.hstack([run.values for run in runs]).astype(np.float64)

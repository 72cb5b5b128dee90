# SPDX-License-Identifier: GPL-3.0-or-later
"""Edits of a shot: a tip is pulled at one frame, and the frames around follow with a falloff, solved again.

What drives the tip is moved: its target, by keyframes, and where it has none its own animation. Then the frames within
the falloff are solved near the poses that they show, with which those outside end; these do not change.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from math import ceil, floor, isfinite
from time import perf_counter
from typing import Any

import bpy
import numpy as np
from bpy.types import Object, PoseBone, Scene, ViewLayer
from mathutils import Quaternion, Vector

from ..cooperative import Job, Work, cooperative, relay
from ..errors import AnimationError, ChainError, SettingError
from ..items import PROFILES
from ..kinematics import Freedom
from ..kinematics.arrays import Numbers
from ..rig.anatomy.limbs import Anatomy
from ..rig.armature import Bones, find_bone
from ..rig.body import RigBody
from ..rig.by_hand.record import is_recorded_body, recorded_bake, recorded_body
from ..rig.checks import check_limb
from ..rig.controls import Controls
from ..rig.destination import Destination
from ..rig.frames.body_frames import plain_rotations, plain_values
from ..rig.frames.reader import FrameReader
from ..rig.frames.samples import tip_location
from ..rig.freedom import keyed
from ..rig.hips import location_path
from ..rig.keyframes import (
    AnimatedValues,
    Channel,
    check_action,
    check_curves,
    check_keys,
    curves_of,
    ensure_channelbag,
    interpolation_of,
    is_baked,
)
from ..rig.keyframes.arrays import get_keys, put_keys
from ..rig.keyframes.channelbags import channelbag_of, find_curves, new_curve
from ..rig.keyframes.shaping import knots_for, profile_at, reshaped, with_keys_at, with_outside_of
from ..rig.keyframes.unkeyed import values_shown
from ..rig.limb import Limb
from ..rig.rotation import channel, values_for, within_limits
from ..rig.targets.motion import carried_by_nothing, into_location, keyable_owner
from ..rig.targets.untouched import check_body_limbs, is_waiting
from ..rig.timeline import Clock, check_nla, evaluated_time
from .bake import frames_from
from .edited_shot import body_as_shown, fades, near_shown
from .frame_solver import NATURAL
from .keys import JointRotations, WrittenKeys, arrays_of, body_arrays
from .measure import Watch, measure_frames, report_of
from .natural_shot import solve_frames, solve_naturally
from .report import Report
from .shot import SolvedShot
from .tips import report_written
from .writing import Keys, Undo, Writing, write_together

_NEAR = 0.002  # of the offset: how near the keyframes of a target follow the profile
_PARTS = 4


@dataclass(frozen=True)
class Pull:
    """A pull by `offset` (world space) at a `frame`, that fades over `falloff` frames on both sides."""

    frame: float
    offset: Vector
    falloff: int
    profile: str

    def __post_init__(self) -> None:
        if self.profile not in PROFILES:
            raise SettingError(f"Falloff '{self.profile}' is unknown. Choose one of {', '.join(PROFILES)}.")
        if self.falloff < 1:
            raise SettingError(f"A falloff of {self.falloff} frames is too short. Give it 1 or more.")
        if not all(map(isfinite, tuple(self.offset))):
            raise SettingError("The offset is no valid vector. Give it three numbers.")

    @property
    def ends(self) -> tuple[float, float]:
        """First and last frame of the falloff."""
        return self.frame - self.falloff, self.frame + self.falloff

    def share(self, frame: float) -> float:
        """Return the share of the offset at a frame."""
        return float(profile_at(self.profile, 1.0 - abs(frame - self.frame) / self.falloff))


@cooperative
def pull(
    armature: Object,
    tip: str,
    frame: float,
    offset: Sequence[float],
    falloff: int = 15,
    profile: str = "SMOOTH",
    scene: Scene | None = None,
    view_layer: ViewLayer | None = None,
) -> Job[Report]:
    """Pull a tip by `offset` [Blender units, world space] at a frame, and have the frames around follow.

    The offset fades over `falloff` frames on both sides, by a `profile` of proportional editing: SMOOTH, SPHERE, ROOT,
    INVERSE_SQUARE, SHARP, LINEAR or CONSTANT. The location of the limb's target is keyed so, and the frames within the
    falloff, of the limb or its body, are solved again near what they show and written; those outside keep their curves.
    Of a bone without a target its own keys are edited, with those of its limb. Raises an IKError that names the
    culprit, as where nothing is baked or keyed; then, and if it is stopped, nothing has changed.
    """
    scene, view_layer = scene or bpy.context.scene, view_layer or bpy.context.view_layer
    edit = Pull(float(frame), Vector(offset), int(falloff), profile)
    bone = armature.pose.bones[find_bone(armature, tip).name]
    view_layer.update()
    with Undo() as undo:
        part = yield from relay(part_around(bone, edit, scene, view_layer, undo), (0, _PARTS))
        if part.helper is None:
            yield from relay(_move_target(part, edit, scene, view_layer, undo), (0, _PARTS))
        yield 1, _PARTS
        report = yield from relay(_solve_again(part, scene, view_layer, undo), (1, _PARTS))
        part.remove_helper()
        view_layer.update()
        undo.pop_all()
    yield _PARTS, _PARTS
    return report


@dataclass(frozen=True)
class EditedPart:
    """Frames of a limb or body to solve again; a `helper` is a target that is removed afterwards."""

    limb: Limb
    rig: RigBody | None
    frames: Sequence[float]
    helper: Object | None = None

    @property
    def of(self) -> Limb | RigBody:
        return self.rig or self.limb

    @property
    def ends(self) -> tuple[float, float]:
        return self.frames[0], self.frames[-1]

    @property
    def solved(self) -> Sequence[str]:
        return self.rig.bones if self.rig else self.limb.in_order

    def remove_helper(self) -> None:
        """Remove the helper with its action, if there is one."""
        if self.helper is not None:
            action = self.helper.animation_data.action
            bpy.data.objects.remove(self.helper)
            bpy.data.actions.remove(action)


def part_around(bone: PoseBone, edit: Pull, scene: Scene, view_layer: ViewLayer, undo: ExitStack) -> Work[EditedPart]:
    """Return the frames that a pull solves again: of a bake, or of an animation by hand.

    Raises ChainError for a tip that is held, AnimationError where nothing is baked or keyed.
    """
    stored = getattr(bone, "ik_triangulation", None)
    if stored is not None and stored.hold:
        raise ChainError(f"'{bone.name}' is held. Turn off Hold in Place to pull it, or change its contact.")
    if stored is not None and stored.target is not None:
        yield
        return _baked_part(bone, edit, scene)
    return (yield from _keyed_part(bone, edit, scene, view_layer, undo))


def _baked_part(bone: PoseBone, edit: Pull, scene: Scene) -> EditedPart:
    """Return the frames of a bake within the falloff. Raises AnimationError where there are none."""
    armature, tip = bone.id_data, bone.name
    if is_waiting(bone):
        raise AnimationError(
            f"The target of '{tip}' was not moved or keyed yet. Press Target from Animation first, then Bake."
        )
    rig = None
    if is_recorded_body(armature, tip):
        rig, span, _, _ = recorded_body(armature, tip, scene)
        limb = next(each for each in rig.limbs if each.tip == tip)
    else:
        limb, span, _ = recorded_bake(armature, tip, scene)
    if limb.keys_on == "IK" or not is_baked(armature, rig.bones if rig else limb.in_order):
        raise AnimationError(f"'{tip}' has no baked keys in the active action. Bake it first, onto its own bones.")
    first, last, step = span
    if not first <= edit.frame <= last:
        raise AnimationError(f"Frame {edit.frame:g} is not in the bake, from {first:g} to {last:g}. Choose another.")
    begin = first + step * max(0, floor((edit.ends[0] - first) / step))
    end = first + step * min(ceil((edit.ends[1] - first) / step), floor((last - first) / step + 1e-6))
    return EditedPart(limb, rig, frames_from(begin, end, step))


def _keyed_part(bone: PoseBone, edit: Pull, scene: Scene, view_layer: ViewLayer, undo: ExitStack) -> Work[EditedPart]:
    """Return the frames of an animation by hand, with a target that is keyed at the tip, pulled.

    Raises AnimationError where the bones have no keys there.
    """
    armature = bone.id_data
    known = Anatomy(armature, Controls(armature)).limb_with(bone.name)
    above = [bone.name, *(each.name for each in bone.parent_recursive[:2])]
    names = tuple(known.bones) if known and known.bones[-1] == bone.name else tuple(reversed(above))
    helper = bpy.data.objects.new("IK Triangulation Pull", None)
    undo.callback(bpy.data.objects.remove, helper)
    scene.collection.objects.link(helper)
    limb = Limb.from_bones(armature, names, helper)
    times = [key for curve in curves_of(armature) for key in _times(curve, limb.pose_bones)]
    clock = Clock(scene, armature)
    if not times or not min(times) <= clock.time(edit.frame) <= max(times):
        raise AnimationError(
            f"The limb of '{bone.name}' has no target, and its bones no keys around frame {edit.frame:g}. "
            "Key them first, or add a limb."
        )
    frames = range(floor(edit.ends[0]), ceil(edit.ends[1]) + 1)
    reader = FrameReader(limb, scene, view_layer, frames)
    places = yield from reader.evaluate(frames, lambda depsgraph, _: tip_location(limb, depsgraph))
    bag = ensure_channelbag(helper, ExitStack())
    for index in range(3):
        curve = new_curve(bag, "location", index, "Object Transforms", ExitStack())
        curve.keyframe_points.add(len(frames))
        for point, frame in zip(curve.keyframe_points, frames, strict=True):
            place = places[frame][index] + edit.offset[index] * edit.share(frame)
            point.co, point.interpolation = (evaluated_time(scene, frame), place), "LINEAR"
    undo.callback(bpy.data.actions.remove, helper.animation_data.action)
    helper.location = places[frames[0]]
    view_layer.update()
    return EditedPart(limb, None, frames, helper)


def _times(curve: Any, bones: Sequence[PoseBone]) -> list[float]:
    paths = {bone.path_from_id(channel(bone)[0]) for bone in bones}
    return get_keys(curve, ["co"])["co"][:, 0].tolist() if curve.data_path in paths else []


def _move_target(part: EditedPart, edit: Pull, scene: Scene, view_layer: ViewLayer, undo: ExitStack) -> Work[None]:
    """Key the location of the target within the falloff, with the offset."""
    limb, target = part.limb, part.limb.target
    owner, name = keyable_owner(limb), f"target '{limb.target_name}'"
    path, clock = owner.path_from_id("location"), Clock(scene, target)
    check_action(target)
    check_nla(target, scene, *edit.ends)
    old = {curve.array_index: curve for curve in curves_of(target) if curve.data_path == path}
    check_curves(list(old.values()), name)
    if any(len(curve.modifiers) for curve in old.values()):
        raise AnimationError(f"The F-Curves of {name} have modifiers. Apply or remove them first.")
    animation = target.animation_data
    if animation and any(curve.data_path == path and not curve.mute for curve in animation.drivers):
        raise AnimationError(f"The location of {name} has a driver. Pull what drives it, or remove it.")
    around = range(floor(edit.ends[0]), ceil(edit.ends[1]) + 1)
    if carried_by_nothing(target, limb.subtarget):
        offsets = dict.fromkeys((around[0], around[-1]), edit.offset)
    else:
        reader = FrameReader(limb, scene, view_layer, around)
        offsets = yield from reader.evaluate(
            around, lambda depsgraph, _: into_location(target, limb.subtarget, depsgraph, edit.offset)
        )
    at, ways = sorted(offsets), [[*offsets[frame]] for frame in sorted(offsets)]
    present = tuple(owner.location)

    def moved(index: int) -> Any:
        line, curve = [way[index] for way in ways], old.get(index)

        def value(time: float) -> float:
            frame = clock.frame(time)
            before = curve.evaluate(time) if curve else present[index]
            return before + float(np.interp(frame, at, line)) * edit.share(frame)

        return value

    ends = clock.time(edit.ends[0]), clock.time(edit.ends[1])
    known = {index: get_keys(curve) for index, curve in old.items()}
    times = {clock.time(edit.frame), *(time for keys in known.values() for time in keys["co"][:, 0].tolist())}
    values = [moved(index) for index in range(3)]
    knots = knots_for(values, ends, times, _NEAR * max(edit.offset.length, 1e-9))
    saved = AnimatedValues(target, [path])
    undo.callback(saved.update_and_restore, view_layer)
    new = {}
    bag = ensure_channelbag(target, undo)
    group = limb.subtarget or "Object Transforms"
    for index in range(3):
        curve = old.get(index) or new_curve(bag, path, index, group, undo)
        if index not in old:
            curve.keyframe_points.insert(ends[0], present[index], options={"FAST"})
        new[curve] = reshaped(with_keys_at(curve, ends), values[index], knots)
    for curve, keys in new.items():
        if curve.array_index in known:
            undo.callback(put_keys, curve, known[curve.array_index])
        put_keys(curve, keys)
    view_layer.update()
    keyed_now = values_shown(target, [path])
    saved.restore()
    for show in keyed_now:
        show()
    yield


def _solve_again(part: EditedPart, scene: Scene, view_layer: ViewLayer, undo: ExitStack) -> Work[Report]:
    """Solve the frames of a part near what they show, write them, and measure."""
    started, armature, frames = perf_counter(), part.of.armature, part.frames
    warnings = check_keys(armature, part.solved)
    check_nla(armature, scene, *part.ends)
    if part.rig is not None:
        check_body_limbs(part.rig, scene, view_layer)
        return (yield from _solve_body(part.rig, frames, warnings, scene, view_layer, undo))
    limb = part.limb
    check_limb(limb, scene, view_layer)
    if limb.solver != NATURAL:
        warnings.append("Pull solves by Natural, which keeps near the frames around.")
        limb = replace(limb, solver=NATURAL)
    bones, reader = Bones(armature, limb.bones, limb.solved), FrameReader(limb, scene, view_layer, frames)
    watch = Watch(limb)
    samples = yield from reader.read()
    clock = Clock(scene, armature)
    shown = plain_rotations(armature, limb.bones, [clock.time(frame) for frame in frames])
    found = yield from solve_naturally(limb, bones, samples, scene, part_from=int(frames[0]), shown=shown)
    solved = found if isinstance(found, SolvedShot) else list(solve_frames(limb, bones, samples, scene, shown=shown))
    count = yield from _write(limb, arrays_of(solved), {}, frames, part.helper is None, scene, view_layer, undo)
    keys = WrittenKeys(count, count, range(len(frames)))
    measured = yield from measure_frames(watch, reader, solved, keys.at)
    return report_of(limb, solved, perf_counter() - started, keys, warnings, measured=measured)


def _solve_body(
    rig: RigBody,
    frames: Sequence[float],
    warnings: Sequence[str],
    scene: Scene,
    view_layer: ViewLayer,
    undo: ExitStack,
) -> Work[Report]:
    """Solve frames of a body near what they show, its tips held by the animation made by hand; write and measure."""
    started = perf_counter()
    problem = yield from body_as_shown(rig, frames, scene, view_layer)
    samples = problem.samples
    found = None if fades(problem) else near_shown(problem, scene)
    if found is None or not found.met.all():
        found = yield from problem.path(scene)
    states = found.states
    arrays = body_arrays(rig, problem, problem.rotations(states))
    located = {} if rig.hips_motion == "FIXED" else {rig.hips: problem.locations(states)}
    count = yield from _write(rig, arrays, located, frames, True, scene, view_layer, undo)
    how = {"warnings": warnings, "keys": count, "full_keys": count}
    report = yield from report_written(problem, states, samples, scene, **how)
    return replace(report, seconds=perf_counter() - started)


def _write(
    of: Limb | RigBody,
    solved: JointRotations,
    located: Mapping[str, Numbers],
    frames: Sequence[float],
    keep_types: bool,
    scene: Scene,
    view_layer: ViewLayer,
    undo: ExitStack,
) -> Work[int]:
    """Key the solved bones at frames, and the locations (3, F) of hips, with the curves outside as they were.

    With `keep_types` corrections by hand remain some; otherwise all keys count as baked.
    """
    armature, clock = of.armature, Clock(scene, of.armature)
    times = [clock.time(frame) for frame in frames]
    ends, runs = (times[0], times[-1]), list[Channel]()
    for name in solved.joints:
        bone = armature.pose.bones[name]
        prop, _ = channel(bone)
        path, mode = bone.path_from_id(prop), bone.rotation_mode
        before, freedoms, rows = plain_values(bone, prop, times).T, solved.freedoms(name), []
        for number, rotation in enumerate(solved.rotations(name)):
            freedom = freedoms if isinstance(freedoms, Freedom) else freedoms[number]
            rows.append(tuple(values_for(Quaternion(rotation), mode, freedom, before[number])))
        values = within_limits(name, np.array(rows, np.float32), mode, freedoms)
        runs.append(Channel(name, path, values, keyed(bone)))
    for name, places in located.items():
        runs.append(Channel(name, location_path(armature, name), places.T.astype(np.float32), range(3)))
    bag, old = channelbag_of(armature), {}
    for run in runs:
        for index, curve in find_curves(bag, run.path).items() if bag else ():
            if index in run.indices:
                undo.callback(put_keys, curve, get_keys(curve))
                old[run.path, index] = with_keys_at(curve, ends)
                put_keys(curve, old[run.path, index])
    interpolation = interpolation_of(frames, frames[0], frames[-1], "AUTO")
    keys = Keys(runs, times, interpolation, len(times) * sum(len(run.indices) for run in runs), range(len(times)))
    destination = Destination(*(evaluated_time(scene, frame) for frame in (frames[0], frames[-1])))
    part = Writing(of, keys, (frames[0], frames[-1]), destination)
    (count,) = yield from write_together([part], undo, scene=scene, view_layer=view_layer)
    saved = AnimatedValues(armature, [run.path for run in runs])
    bag = channelbag_of(armature)
    for run in runs:
        for index, curve in find_curves(bag, run.path).items():
            if (run.path, index) in old:
                put_keys(curve, with_outside_of(get_keys(curve), old[run.path, index], ends, keep_types))
    saved.update_and_restore(view_layer)
    return count

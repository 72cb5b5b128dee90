# SPDX-License-Identifier: GPL-3.0-or-later
"""Edits of a shot: a tip is pulled at one frame, and the frames around follow with a falloff, solved again.

What drives the tip is moved: its target, by keyframes, and where it has none its own animation. Then the frames within
the falloff are solved near the poses that they show, with which those outside end; these do not change. What a bake
would make of the frames before the edit and after it is solved as well, so that the edit agrees with a bake.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from functools import cache, partial
from math import ceil, floor
from time import perf_counter
from typing import Any, NamedTuple

import bpy
import numpy as np
from bpy.types import ActionChannelbag, Object, Scene, ViewLayer
from mathutils import Euler, Quaternion, Vector

from ...cooperative import Job, Work, cooperative, relay
from ...errors import AnimationError
from ...kinematics import Free, Freedom
from ...kinematics.arrays import Numbers
from ...motion.faded_path import carried_over, end_fades, without_ends
from ...rig.armature import Bones, find_bone
from ...rig.body import RigBody
from ...rig.by_hand.keys import location_path
from ...rig.checks import check_limb
from ...rig.frames.body_frames import Animation, plain_animation, plain_rotations, plain_values
from ...rig.frames.reader import FrameReader
from ...rig.freedom import keyed
from ...rig.keyframes import (
    AnimatedValues,
    Channel,
    check_action,
    check_curves,
    check_keys,
    check_unmodified,
    curves_of,
    ensure_channelbag,
    interpolation_of,
)
from ...rig.keyframes.arrays import get_keys, put_keys
from ...rig.keyframes.channelbags import channelbag_of, find_curves, new_curve
from ...rig.keyframes.shaping import knots_for, reshaped, with_keys_at, with_outside_of
from ...rig.layers import Destination
from ...rig.limb import Limb
from ...rig.rotation import channel, rotation_from, values_for, within_limits
from ...rig.targets.goal import orientation_of
from ...rig.targets.made import spaces_on
from ...rig.targets.motion import hangs_on_nothing_that_moves, into_location, into_rotation, keyable_owner
from ...rig.targets.surface import looks_of
from ...rig.targets.untouched import check_body_limbs
from ...rig.timeline import Clock, check_nla, evaluated_time, frames_from
from ..shots.frame_solver import NATURAL
from ..shots.keys import JointRotations, WrittenKeys, arrays_of, body_arrays
from ..shots.measure import Watch, measure_frames, report_of
from ..shots.natural_shot import shown_reference, solve_frames, solve_naturally
from ..shots.report import Report
from ..shots.shot import SolvedShot
from ..shots.tips import report_written
from ..shots.writing import Keys, Undo, Writing, write_together
from ..solved_body import read_to_solve
from .edited_part import EditedPart, Falloff, Pull, part_around
from .edited_shot import body_as_shown, fades, near_shown

_NEAR = 0.002  # of the offset: how near the keyframes of a target follow the profile
_PARTS = 4
_FREE = Free()

_AROUND = 12  # frames of a limb on both sides of those edited: farther away they hardly matter
_MOST = 250  # frames of a body that are solved as a whole; of a longer bake those around the edited ones,
_FAR = 60  # so many on both sides


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
    *,
    rotation: Sequence[float] = (0.0, 0.0, 0.0),
) -> Job[Report]:
    """Pull a tip by `offset` [Blender units, world space] at a frame, and have the frames around follow.

    The tip also turns by `rotation`, XYZ Euler angles [rad] in world space, if it follows the rotation of its target.
    Both fade over `falloff` frames on both sides, by a `profile` of proportional editing: SMOOTH, SPHERE, ROOT,
    INVERSE_SQUARE, SHARP, LINEAR or CONSTANT. The limb's target is keyed so, and the frames within the falloff, of the
    limb or its body, are solved again near what they show and written; those outside keep their curves.
    Of a bone without a target its own keys are edited, with those of its limb. Raises an IKError that names the
    culprit, as where nothing is baked or keyed; then, and if it is stopped, nothing has changed.
    """
    scene, view_layer = scene or bpy.context.scene, view_layer or bpy.context.view_layer
    axis, angle = Euler(rotation).to_quaternion().to_axis_angle()
    edit = Pull(float(frame), int(falloff), profile, Vector(offset), axis * angle)
    bone = armature.pose.bones[find_bone(armature, tip).name]
    view_layer.update()
    with Undo() as undo:
        part = yield from relay(part_around(bone, edit, scene, view_layer, undo), (0, _PARTS))
        before = yield from relay(poses_of_bake(part, scene, view_layer), (0, _PARTS))
        if part.helper is None:
            yield from relay(_move_target(part, edit, scene, view_layer, undo), (0, _PARTS))
        yield 1, _PARTS
        change = yield from relay(change_of(part, before, edit, scene, view_layer), (1, _PARTS))
        report = yield from relay(solve_again(part, part.frames, change, scene, view_layer, undo), (1, _PARTS))
        part.remove_helper()
        view_layer.update()
        undo.pop_all()
    yield _PARTS, _PARTS
    return report


def _move_target(part: EditedPart, edit: Pull, scene: Scene, view_layer: ViewLayer, undo: ExitStack) -> Work[None]:
    """Key the location of the target within the falloff, with the offset, and with a turn its rotation."""
    limb, target = part.limb, part.limb.target
    owner, name = keyable_owner(limb), f"target '{limb.target_name}'"
    check_action(target)
    check_nla(target, scene, *edit.ends)
    props = ["location"] if edit.offset.length or not edit.turn.length else []
    if edit.turn.length:
        kind = orientation_of(limb, looks_of(target, limb.subtarget, view_layer.depsgraph))
        if kind not in {"FULL", "DIRECTION"}:
            raise AnimationError(
                f"'{limb.tip}' does not follow the rotation of its target. Press Target from Animation first, "
                "and set Orientation to Match Target."
            )
        props.append(channel(owner)[0])
    paths = [owner.path_from_id(prop) for prop in props]
    known = [curve for curve in curves_of(target) if curve.data_path in paths]
    check_curves(known, name)
    check_unmodified(known, name)
    animation = target.animation_data
    driven = {curve.data_path for curve in (animation.drivers if animation else ()) if not curve.mute}
    for prop, path in zip(props, paths, strict=True):
        if path in driven:
            what = "location" if prop == "location" else "rotation"
            raise AnimationError(f"The {what} of {name} has a driver. Pull what drives it, or remove it.")
    around = range(floor(edit.ends[0]), ceil(edit.ends[1]) + 1)

    def ways_at(depsgraph: Any, _: float) -> tuple[Vector, Vector]:
        how = target, limb.subtarget, depsgraph
        return into_location(*how, edit.offset), into_rotation(*how, edit.turn)

    if hangs_on_nothing_that_moves(target, limb.subtarget):
        ways = dict.fromkeys((around[0], around[-1]), ways_at(view_layer.depsgraph, 0.0))
    else:
        ways = yield from FrameReader(limb, scene, view_layer, around).evaluate(around, ways_at)
    saved = AnimatedValues(target, paths)
    undo.callback(saved.update_and_restore, view_layer)
    bag = ensure_channelbag(target, undo)
    for prop, path in zip(props, paths, strict=True):
        line = [ways[frame][prop != "location"] for frame in sorted(ways)]
        _move_channels(_Moved(owner, prop, sorted(ways), np.array(line)), path, edit, bag, limb.subtarget, scene, undo)
    saved.show_keyed(paths, view_layer)
    yield


@dataclass(frozen=True)
class _Moved:
    """A property of a target's `owner` that moves by `ways` (F, 3) at `frames`, in its own space."""

    owner: Any
    prop: str
    frames: Sequence[float]
    ways: Numbers

    def value(self, before: Sequence[float], frame: float, share: float) -> Sequence[float]:
        """Return the channel values with a share of the way at a frame."""
        way = Vector([float(np.interp(frame, self.frames, column)) for column in self.ways.T]) * share
        if self.prop == "location":
            return tuple(Vector(before) + way)
        mode = self.owner.rotation_mode
        turned = Quaternion(way.normalized(), way.length) @ rotation_from(before, mode)
        return tuple(values_for(turned, mode, _FREE, before))


def _move_channels(
    moved: _Moved, path: str, edit: Pull, bag: ActionChannelbag, bone: str, scene: Scene, undo: ExitStack
) -> None:
    """Key the channels of a property of a target within the falloff."""
    old, present = find_curves(bag, path), tuple(getattr(moved.owner, moved.prop))
    clock = Clock(scene, moved.owner.id_data)

    @cache
    def values_at_time(time: float) -> Sequence[float]:
        before = [old[i].evaluate(time) if i in old else each for i, each in enumerate(present)]
        frame = clock.frame(time)
        return moved.value(before, frame, edit.share(frame))

    def height(index: int, time: float) -> float:
        return float(values_at_time(time)[index])

    heights = [partial(height, index) for index in range(len(present))]
    ends = clock.time(edit.ends[0]), clock.time(edit.ends[1])
    known = {index: get_keys(curve) for index, curve in old.items()}
    times = {clock.time(edit.frame), *(time for keys in known.values() for time in keys["co"][:, 0].tolist())}
    size = edit.offset.length if moved.prop == "location" else edit.turn.length
    parts = _between_spaces(moved.owner, ends, clock, scene)
    knots = [knots_for(heights, part, times, _NEAR * max(size, 1e-9)) for part in parts]
    new = {}
    for index, each in enumerate(heights):
        curve = old.get(index) or new_curve(bag, path, index, bone or "Object Transforms", undo)
        if index not in old:
            curve.keyframe_points.insert(ends[0], present[index], options={"FAST"})
        new[curve] = with_keys_at(curve, [time for part in parts for time in part])
        for part in knots:
            new[curve] = reshaped(new[curve], each, part)
    for curve, keys in new.items():
        if curve.array_index in known:
            undo.callback(put_keys, curve, known[curve.array_index])
        put_keys(curve, keys)


def _between_spaces(owner: Any, ends: tuple[float, float], clock: Clock, scene: Scene) -> list[tuple[float, float]]:
    """Return the parts of a falloff between which the channels of a target step, as it leaves a space there."""
    found = [ends]
    for _, each in spaces_on(owner, scene):
        last, after = clock.time(each.frame_end), clock.time(each.frame_end + 1)
        begin, end = found[-1]
        if begin < last and after < end:
            found[-1:] = [(begin, last), (after, end)]
    return found


def poses_of_bake(part: EditedPart, scene: Scene, view_layer: ViewLayer) -> Work[BakedPoses | None]:
    """Return the poses that a bake would give a part now; None where that is by another method, or there was none."""
    if part.helper is not None or part.limb.solver != NATURAL:
        return None
    return (yield from baked_poses(part.of, part.span, part.frames, part.smoothing, scene, view_layer))


def change_of(
    part: EditedPart, before: BakedPoses | None, edit: Falloff, scene: Scene, view_layer: ViewLayer
) -> Work[BakeChange | None]:
    """Return the change that an edit makes to the poses of a bake, from those before it; None where these are none."""
    after = None if before is None else (yield from poses_of_bake(part, scene, view_layer))
    return None if before is None or after is None else BakeChange(before, after, edit.frame)


def solve_again(
    part: EditedPart,
    like: Sequence[float],
    change: BakeChange | None,
    scene: Scene,
    view_layer: ViewLayer,
    undo: ExitStack,
) -> Work[Report]:
    """Solve the frames of a part near what the frames `like` show, changed as a bake changes; write and measure."""
    started, armature, frames = perf_counter(), part.of.armature, part.frames
    warnings = check_keys(armature, part.solved)
    check_nla(armature, scene, *part.ends)
    if part.rig is not None:
        check_body_limbs(part.rig, scene, view_layer)
        return (yield from _solve_body(part, part.rig, like, change, warnings, scene, view_layer, undo))
    limb = part.limb
    check_limb(limb, scene, view_layer)
    if limb.solver != NATURAL:
        warnings.append("These frames are solved by Natural, which keeps near the frames around them.")
        limb = replace(limb, solver=NATURAL)
    bones, reader = Bones(armature, limb.bones, limb.solved), FrameReader(limb, scene, view_layer, frames)
    watch = Watch(limb)
    samples = yield from reader.read()
    clock = Clock(scene, armature)
    shown = plain_rotations(armature, limb.bones, [clock.time(frame) for frame in like])
    if change is not None:
        shown = change.rotations(limb.bones, shown, frames, like)
    found = yield from solve_naturally(limb, bones, samples, scene, part_from=int(frames[0]), shown=shown)
    solved = found if isinstance(found, SolvedShot) else list(solve_frames(limb, bones, samples, scene, shown=shown))
    count = yield from _write(limb, arrays_of(solved), {}, part, scene, view_layer, undo)
    keys = WrittenKeys(count, count, range(len(frames)))
    measured = yield from measure_frames(watch, reader, solved, keys.at)
    return report_of(limb, solved, perf_counter() - started, keys, warnings, measured=measured)


def _solve_body(
    part: EditedPart,
    rig: RigBody,
    like: Sequence[float],
    change: BakeChange | None,
    warnings: Sequence[str],
    scene: Scene,
    view_layer: ViewLayer,
    undo: ExitStack,
) -> Work[Report]:
    """Solve frames of a body near what those `like` show, its tips held as made by hand; write and measure."""
    started, frames = perf_counter(), part.frames
    shown = plain_animation(rig, Clock(scene, rig.armature), like)
    if change is not None:
        rotations = change.rotations(rig.bones, shown.rotations, frames, like)
        shown = Animation(rotations, change.locations(shown.locations, frames, like))
    problem = yield from body_as_shown(rig, frames, scene, view_layer, shown)
    samples = problem.samples
    found = None if fades(problem) else near_shown(problem, scene)
    if found is None or not found.met.all():
        found = yield from problem.path(scene)
    states = found.states
    arrays = body_arrays(problem, problem.rotations(states))
    located = {} if rig.hips_motion == "FIXED" else {rig.hips: problem.locations(states)}
    count = yield from _write(rig, arrays, located, part, scene, view_layer, undo)
    how = {"warnings": warnings, "keys": count, "full_keys": count}
    report = yield from report_written(problem, states, samples, scene, **how)
    return replace(report, seconds=perf_counter() - started)


def _write(
    of: Limb | RigBody,
    solved: JointRotations,
    located: Mapping[str, Numbers],
    part: EditedPart,
    scene: Scene,
    view_layer: ViewLayer,
    undo: ExitStack,
) -> Work[int]:
    """Key the solved bones at the frames of a part, and the locations (3, F) of hips, with the curves outside.

    These are as they were. In a bake corrections by hand remain some; with a helper all keys count as baked.
    """
    armature, clock, frames = of.armature, Clock(scene, of.armature), part.frames
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
    writing = Writing(of, keys, (frames[0], frames[-1]), destination)
    (count,) = yield from write_together([writing], undo, scene=scene, view_layer=view_layer)
    saved = AnimatedValues(armature, [run.path for run in runs])
    bag, (begins, stops) = channelbag_of(armature), part.kept
    kept = ends[0] if begins else -np.inf, ends[1] if stops else np.inf
    for run in runs:
        for index, curve in find_curves(bag, run.path).items():
            if (run.path, index) in old:
                put_keys(curve, with_outside_of(get_keys(curve), old[run.path, index], kept, part.helper is None))
    saved.update_and_restore(view_layer)
    return count


class BakedPoses(NamedTuple):
    """Rotations (n, 4, F) of joints by their names, and locations (3, F) of hips, at frames as a bake poses them."""

    frames: Sequence[float]
    joints: Sequence[str]
    rotations: Numbers
    locations: Numbers | None = None

    def at(self, frames: Sequence[float]) -> BakedPoses:
        """Return the poses at other frames, between those known."""
        at = np.interp(frames, np.array(self.frames, float), np.arange(len(self.frames)))
        below = np.clip(np.floor(at).astype(int), 0, max(len(self.frames) - 2, 0))
        above, part = np.minimum(below + 1, len(self.frames) - 1), at - below
        one, other = self.rotations[..., below], self.rotations[..., above]
        near = np.where((one * other).sum(1, keepdims=True) < 0.0, -1.0, 1.0)
        mixed = one * (1.0 - part) + other * near * part
        mixed /= np.linalg.norm(mixed, axis=1, keepdims=True)
        places = self.locations
        if places is not None:
            places = places[:, below] * (1.0 - part) + places[:, above] * part
        return BakedPoses(frames, self.joints, mixed, places)


def baked_poses(
    of: Limb | RigBody,
    span: tuple[float, float, float],
    frames: Sequence[float],
    smoothing: float,
    scene: Scene,
    view_layer: ViewLayer,
) -> Work[BakedPoses | None]:
    """Solve frames of a bake over a span as that bake does, and others around as far as these matter to them.

    None of a limb whose frames cannot be solved together.
    """
    first, last, step = span
    if isinstance(of, RigBody):
        around = _frames_around(span, frames, last - first if (last - first) / step <= _MOST else _FAR * step)
        problem = yield from read_to_solve(of, around, scene, view_layer)
        states = (yield from problem.path(scene, smoothing)).states
        names = [joint.name for joint in problem.body.joints]
        return BakedPoses(around, names, problem.rotations(states), problem.locations(states))
    around = _frames_around(span, frames, _AROUND * step)
    reader = FrameReader(of, scene, view_layer, around)
    samples_of_limb = yield from reader.read()
    bones = Bones(of.armature, of.bones, of.solved)
    shown = shown_reference(reader)
    shot = yield from solve_naturally(of, bones, samples_of_limb, scene, part_from=int(around[0]), shown=shown)
    if not isinstance(shot, SolvedShot):
        return None
    arrays = arrays_of(shot)
    rotations = np.array([np.asarray(arrays.rotations(name)).T for name in arrays.joints])
    return BakedPoses(around, arrays.joints, rotations)


def _frames_around(span: tuple[float, float, float], frames: Sequence[float], away: float) -> Sequence[float]:
    """Return the frames of a bake from so many before the first of some to as many after their last."""
    first, last, step = span
    before = min(np.floor((frames[0] - first) / step), np.ceil(away / step))
    after = min(np.floor((last - frames[-1]) / step + 1e-6), np.ceil(away / step))
    if step == int(step):
        return range(int(frames[0] - before * step), int(frames[-1] + after * step) + 1, int(step))
    return frames_from(int(first), int(last), step)


class BakeChange(NamedTuple):
    """The change of an edit at a frame: poses as a bake made them before, and as it makes them after."""

    before: BakedPoses
    after: BakedPoses
    at: float

    def rotations(
        self, names: Sequence[str], shown: Numbers, frames: Sequence[float], like: Sequence[float]
    ) -> Numbers:
        """Return the rotations (n, 4, F) of bones that are `shown` at the frames `like`, as the edit changes them."""
        known = [name for name in self.before.joints if name in self.after.joints and name in names]
        rows = [list(names).index(name) for name in known]
        one, other = (
            poses.at(at).rotations[[list(poses.joints).index(name) for name in known]]
            for poses, at in ((self.before, like), (self.after, frames))
        )
        changed = shown.copy()
        changed[rows] = carried_over(shown[rows], one, other, self._fades(frames))
        return changed

    def locations(self, shown: Numbers, frames: Sequence[float], like: Sequence[float]) -> Numbers:
        """Return the locations (3, F) of hips that are `shown` at the frames `like`, as the edit changes them."""
        one, other = self.before.at(like).locations, self.after.at(frames).locations
        if one is None or other is None:
            return shown
        moved: Numbers = shown + without_ends(other - one, self._fades(frames))
        return moved

    def _fades(self, frames: Sequence[float]) -> Numbers:
        known = self.after.frames
        bound = frames[0] > known[0], frames[-1] < known[-1]
        return end_fades(np.array(frames, float), self.at, *bound)

# SPDX-License-Identifier: GPL-3.0-or-later
"""Retime: what a tip does at a frame happens earlier or later, and the motion around it is stretched with a falloff."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from functools import partial
from math import isfinite

import bpy
import numpy as np
from bpy.types import FCurve, Object, PoseBone, Scene, ViewLayer

from ...cooperative import Job, Work, cooperative, relay
from ...errors import AnimationError, ChainError, SettingError
from ...kinematics.arrays import Numbers
from ...rig.armature import find_bone
from ...rig.keyframes import AnimatedValues, check_action, check_curves, check_keys, check_unmodified, curves_of
from ...rig.keyframes.arrays import SAME_FRAME, KeyArrays, enum_number, get_keys, in_range, put_keys
from ...rig.keyframes.shaping import Height, knots_for, profile_at, reshaped, retimed, with_keys_at
from ...rig.rotation import PROPERTIES
from ...rig.targets.made import spaces_on
from ...rig.targets.motion import keyable_owner
from ...rig.timeline import Clock, check_nla
from ..shots.report import Report
from ..shots.writing import Undo
from .edit import change_of, poses_of_bake, solve_again
from .edited_part import Falloff, bones_to, check_keyed_around, part_around

_PARTS = 3
_SLOWEST = 0.1  # of the speed before: the motion is not slowed down more, nor does it stand still or go back
_WIDEST = 1000  # frames of falloff that are tried
_PER_FRAME = 32  # samples of a change in time
_NEAR = 0.02  # of the motion within the falloff: how near the keyframes follow it at its other time
_MOVING = (*PROPERTIES, "location", "scale")


@dataclass(frozen=True)
class Retime(Falloff):
    """A change of timing: what is at the `frame` comes `shift` frames later, and what is around it with a falloff."""

    shift: float = 0.0

    def __post_init__(self) -> None:
        super().__post_init__()
        if not isfinite(self.shift):
            raise SettingError("The offset is no valid number of frames.")
        if not self._goes_on(self.falloff):
            enough = next((each for each in range(self.falloff, _WIDEST) if self._goes_on(each)), None)
            advice = f"Give it a falloff of {enough} frames or more." if enough else "Choose a profile without a step."
            raise SettingError(f"{self.shift:+g} frames within {self.falloff} would turn the motion back. {advice}")

    def _goes_on(self, falloff: int) -> bool:
        """Tell whether with so many frames of falloff the motion goes on from each frame to the next."""
        shares = profile_at(self.profile, np.arange(falloff + 1) / falloff)
        return bool(abs(self.shift) * np.diff(shares).max() <= 1.0 - _SLOWEST)

    def moved(self, frame: float) -> float:
        """Return the frame at which what was at a frame happens."""
        return frame + self.shift * self.share(frame)

    def samples(self) -> tuple[Numbers, Numbers]:
        """Return frames within the falloff, and the frames at which what was there happens, in order of time."""
        before = np.linspace(*self.ends, 2 * self.falloff * _PER_FRAME + 1)
        near = 1.0 - np.abs(before - self.frame) / self.falloff
        return before, np.maximum.accumulate(before + self.shift * profile_at(self.profile, near))

    def sources(self, frames: Sequence[float]) -> list[float]:
        """Return the frames at which what happens at these happened before."""
        before, after = self.samples()
        begin, end = self.ends
        return [float(np.interp(frame, after, before)) if begin < frame < end else float(frame) for frame in frames]


@cooperative
def retime(
    armature: Object,
    tip: str,
    frame: float,
    offset: float,
    falloff: int = 15,
    profile: str = "SMOOTH",
    scene: Scene | None = None,
    view_layer: ViewLayer | None = None,
) -> Job[Report | None]:
    """Have what a tip does at a frame happen `offset` frames later, or earlier if that is negative.

    The change fades over `falloff` frames on both sides, by a `profile` of proportional editing; what is outside keeps
    its timing. The keyframes of the limb's target move, and the frames within the falloff, of the limb or its body, are
    solved again near the poses that were there at their time before. Of a bone without a target the keyframes of its
    limb move, and there is no report; nor is there with an offset of 0, which changes nothing. Raises an IKError that
    names the culprit; then, and if it is stopped, nothing has changed.
    """
    scene, view_layer = scene or bpy.context.scene, view_layer or bpy.context.view_layer
    edit = Retime(float(frame), int(falloff), profile, float(offset))
    bone = armature.pose.bones[find_bone(armature, tip).name]
    view_layer.update()
    report = None
    with Undo() as undo:
        if has_target(bone):
            part = yield from relay(part_around(bone, edit, scene, view_layer, undo), (0, _PARTS))
            if not edit.shift:
                return None
            _check_spaces(keyable_owner(part.limb), edit, scene)
            before = yield from relay(poses_of_bake(part, scene, view_layer), (0, _PARTS))
            curves, name = _of_target(part.limb.target, keyable_owner(part.limb)), f"target '{part.limb.target_name}'"
            yield from relay(_move_keys(part.limb.target, curves, name, edit, scene, view_layer, undo), (0, _PARTS))
            yield 1, _PARTS
            like = edit.sources(part.frames)
            change = yield from relay(change_of(part, before, edit, scene, view_layer), (1, _PARTS))
            report = yield from relay(solve_again(part, like, change, scene, view_layer, undo), (1, _PARTS))
        else:
            names = bones_to(bone)
            check_keyed_around([armature.pose.bones[each] for each in names], edit.frame, scene)
            check_keys(armature, names)
            if not edit.shift:
                return None
            found = [curve for each in names for curve in _of_target(armature, armature.pose.bones[each])]
            yield from relay(_move_keys(armature, found, f"'{tip}'", edit, scene, view_layer, undo), (0, _PARTS))
        view_layer.update()
        undo.pop_all()
    yield _PARTS, _PARTS
    return report


def has_target(bone: PoseBone) -> bool:
    """Tell whether a bone is the tip of a limb with a target. Raises ChainError for one that is held."""
    stored = getattr(bone, "ik_triangulation", None)
    if stored is not None and stored.hold:
        raise ChainError(f"'{bone.name}' is held. Turn off Hold in Place to retime it, or change its contact.")
    return stored is not None and stored.target is not None


def _check_spaces(owner: Object | PoseBone, edit: Retime, scene: Scene) -> None:
    """Raise AnimationError for a space of a target that begins or ends within the falloff: it has its own timing."""
    for _, each in spaces_on(owner, scene):
        for frame in (each.frame_start, each.frame_end + 1):
            if edit.ends[0] < frame < edit.ends[1]:
                raise AnimationError(
                    f"The space '{each.name}' of the target begins or ends at frame {frame}. Choose a falloff that "
                    "does not reach it, or remove the space first."
                )


def _of_target(ob: Object, owner: Object | PoseBone) -> list[FCurve]:
    """Return the F-curves that move an object or a bone."""
    paths = {owner.path_from_id(prop) for prop in _MOVING}
    return [curve for curve in curves_of(ob) if curve.data_path in paths and not curve.is_empty]


def _move_keys(
    ob: Object,
    curves: Sequence[FCurve],
    name: str,
    edit: Retime,
    scene: Scene,
    view_layer: ViewLayer,
    undo: ExitStack,
) -> Work[None]:
    """Move keyframes of F-curves of an object in time; those outside of the falloff stay, with the curves there."""
    clock = Clock(scene, ob)
    check_action(ob)
    check_nla(ob, scene, *edit.ends)
    check_curves(curves, name)
    check_unmodified(curves, name)
    if not curves:
        raise AnimationError(f"There are no keys of {name} to move in time.")
    paths = [curve.data_path for curve in curves]
    saved = AnimatedValues(ob, paths)
    undo.callback(saved.update_and_restore, view_layer)
    new = _new_keys(curves, edit, clock)
    for curve, keys in new.items():
        undo.callback(put_keys, curve, get_keys(curve))
        put_keys(curve, keys)
    saved.show_keyed(paths, view_layer)
    yield


def _new_keys(curves: Sequence[FCurve], edit: Retime, clock: Clock) -> dict[FCurve, KeyArrays]:
    """Return the keyframes of F-curves with those within the falloff moved in time.

    Between them others are put where a curve would leave what it did at its time before; not into curves that are held
    or linear there.
    """
    times = [clock.time(frame) for frame in (edit.ends[0], edit.frame, edit.ends[1])]
    sources, after = (np.array([clock.time(frame) for frame in each.tolist()]) for each in edit.samples())

    def moved(time: float) -> float:
        return clock.time(edit.moved(clock.frame(time)))

    def source(time: float) -> float:
        return float(np.interp(time, after, sources)) if after[0] < time < after[-1] else time

    new, alike = {}, dict[bytes, list[FCurve]]()
    for curve in curves:
        first, last = curve.range()
        keys = with_keys_at(curve, [time for time in times if first <= time <= last])
        new[curve] = retimed(keys, moved)
        if first <= times[0] and times[-1] <= last and _is_curved(keys, times):
            alike.setdefault(keys["co"][:, 0].tobytes(), []).append(curve)
    for some in alike.values():  # those keyed together stay so
        known = new[some[0]]["co"][:, 0].astype(float)
        values = [partial(_height, curve, source, _size(new[curve], times)) for curve in some]
        knots = knots_for(values, (times[0], times[-1]), known.tolist(), _NEAR)
        for curve in some:
            keys = reshaped(with_keys_at(curve, (times[0], times[-1])), partial(_height, curve, source, 1.0), knots)
            new[curve] = _with_types_of(keys, new[curve])
    return new


def _is_curved(keys: KeyArrays, times: Sequence[float]) -> bool:
    """Tell whether all segments of a curve between the first and the last of the times are Bezier curves that move."""
    inside = in_range(keys, times[0], times[-1])
    kinds = keys["interpolation"][inside][:-1] == enum_number("interpolation", "BEZIER")
    return bool(kinds.all()) and _size(keys, times) > 0.0


def _size(keys: KeyArrays, times: Sequence[float]) -> float:
    return float(np.ptp(keys["co"][in_range(keys, times[0], times[-1]), 1]))


def _height(curve: FCurve, source: Height, size: float, time: float) -> float:
    return float(curve.evaluate(source(time))) / size


def _with_types_of(keys: KeyArrays, others: KeyArrays) -> KeyArrays:
    """Return keyframes with the types that others at the same times have."""
    at = others["co"][:, 0]
    for number, time in enumerate(keys["co"][:, 0].tolist()):
        same = np.flatnonzero(np.abs(at - time) <= SAME_FRAME)
        if len(same):
            keys["type"][number] = others["type"][same[0]]
    return keys

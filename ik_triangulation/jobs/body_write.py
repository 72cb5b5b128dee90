# SPDX-License-Identifier: GPL-3.0-or-later
"""Writing of the keys of a body, all of which can be undone until the end."""

from __future__ import annotations

from contextlib import ExitStack
from typing import NamedTuple

from bpy.types import Object, Scene, ViewLayer

from ..cooperative import Work
from ..rig.body import RigBody
from ..rig.clock import Clock
from ..rig.destination import Destination
from ..rig.hips import keep_replaced_location, place_before_bake
from ..rig.keyframes import GENERATED, AnimatedValues, Channel, replace_keys
from ..rig.posed import remember_location, remember_place, remember_written
from ..rig.reference import hold_reference, keep_replaced
from ..rig.rotation import channel, set_rotation
from .body_keys import BodyKeys


class BodyWriting(NamedTuple):
    """Destination of a `kind` for the keys of a body between two frames, the `ends`.

    With `keep` keys that were made by hand stay.
    """

    ends: tuple[float, float]
    destination: Destination
    kind: str = "ACTION"
    keep: bool = False


def write_body(
    rig: RigBody, keys: BodyKeys, where: BodyWriting, scene: Scene, view_layer: ViewLayer, undo: ExitStack
) -> Work[int]:
    """Replace the keys of a body, let Blender evaluate them once, and pose the present frame; return their number.

    Values that were posed without a keyframe stay as `view_layer` shows them. Closing `undo` restores everything, also
    if the work is closed before its end.
    """
    armature, clock, keep = rig.armature, Clock(scene, rig.armature), where.keep
    first, last = map(clock.time, where.ends)
    hold_reference(rig.pose_bones, scene, undo)
    saved = AnimatedValues(armature, [run.path for run in keys.runs])
    undo.callback(saved.update_and_restore, view_layer)
    bag = where.destination.bag(where.kind, armature, undo)
    located = [run for run in keys.runs if is_location(run)]
    keep_replaced(rig, [run for run in keys.runs if not is_location(run)], bag, (first, last), scene, undo, keep)
    for run in located:
        place = place_before_bake(armature, run.bone, bag)
        keep_replaced_location(armature, run.bone, bag, (first, last), undo, keep)
        remember_location(armature.pose.bones[run.bone], place, undo)
    count: int = yield from replace_keys(
        bag, keys.runs, keys.times, first, last, undo, keys.interpolation, kind=GENERATED, keep=keep
    )
    saved.update_and_restore(view_layer, [(run.path, index) for run in keys.runs for index in run.indices])
    time = clock.time(scene.frame_current + scene.frame_subframe)
    for run in keys.runs:
        bone = armature.pose.bones[run.bone]
        values = list(getattr(bone, "location" if is_location(run) else channel(bone)[0]))
        curves = where.destination.shown(where.kind, armature, time, run.path)
        for index in curves.keys() & run.indices:
            values[index] = curves[index].evaluate(time)
        put_channel(armature, run, values, undo)
    bones = [armature.pose.bones[name] for name in dict.fromkeys(run.bone for run in keys.runs)]
    remember_written(bones)
    remember_place(bones)
    yield
    return count


def is_location(run: Channel) -> bool:
    """Tell whether a channel is that of a location."""
    return run.path.endswith(".location")


def put_channel(armature: Object, run: Channel, values: list[float], undo: ExitStack) -> None:
    """Set the channels of a bone if they differ; closing `undo` restores them."""
    bone = armature.pose.bones[run.bone]
    before = tuple(getattr(bone, "location" if is_location(run) else channel(bone)[0]))
    if before == tuple(values):
        return
    if is_location(run):
        undo.callback(setattr, bone, "location", before)
        bone.location = values
    else:
        undo.callback(set_rotation, bone, before)
        set_rotation(bone, values)

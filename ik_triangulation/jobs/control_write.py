# SPDX-License-Identifier: GPL-3.0-or-later
"""Writing of the keys of IK controls, all of which can be undone until the end."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass

from bpy.types import Object, PoseBone, Scene, ViewLayer

from ..cooperative import Work
from ..rig.clock import Clock
from ..rig.keyframes import GENERATED, AnimatedValues, Channel, replace_keys
from ..rig.keyframes.replaced import keep_replaced_keys
from ..rig.reference import keep_replaced
from .write import LimbBake


@dataclass(frozen=True)
class ControlBones:
    """The bones that a bake onto IK controls keys, as those of a limb."""

    armature: Object
    bones: Sequence[str]


def write_controls(
    bake: LimbBake,
    runs: Sequence[Channel],
    times: Sequence[float],
    interpolation: str,
    undo: ExitStack,
    *,
    scene: Scene,
    view_layer: ViewLayer,
) -> Work[int]:
    """Replace the keys of controls at these times of the action, and pose the present frame; return their number.

    Blender evaluates them once. Values that were posed without a keyframe stay as `view_layer` shows them. Closing
    `undo` restores everything, also if the work is closed before its end.
    """
    limb, armature, kept = bake.limb, bake.limb.armature, bool(bake.kept)
    clock = Clock(scene, armature)
    first, last = map(clock.time, bake.ends)
    saved = AnimatedValues(armature, [run.path for run in runs])
    undo.callback(saved.update_and_restore, view_layer)
    bag = bake.destination.bag(limb.destination, armature, undo)
    turned = [run for run in runs if "rotation" in _property(run)]
    bones = ControlBones(armature, list(dict.fromkeys(run.bone for run in turned)))
    keep_replaced(bones, turned, bag, (first, last), scene, undo, kept)
    for run in runs:
        if run not in turned:
            values = tuple(getattr(armature.pose.bones[run.bone], _property(run)))
            keep_replaced_keys(bag, run.path, values, () if kept else run.indices, (first, last), undo)
    count: int = yield from replace_keys(bag, runs, times, first, last, undo, interpolation, kind=GENERATED, keep=kept)
    saved.update_and_restore(view_layer, [(run.path, index) for run in runs for index in run.indices])
    time = clock.time(scene.frame_current + scene.frame_subframe)
    for run in runs:
        bone, prop = armature.pose.bones[run.bone], _property(run)
        values = list(getattr(bone, prop))
        curves = bake.destination.shown(limb.destination, armature, time, run.path)
        for index in curves.keys() & run.indices:
            values[index] = curves[index].evaluate(time)
        _put(bone, prop, values, undo)
    yield
    return count


def _put(bone: PoseBone, prop: str, values: Sequence[float], undo: ExitStack) -> None:
    """Set channels of a bone if they differ; closing `undo` restores them."""
    before = tuple(getattr(bone, prop))
    if before != tuple(values):
        undo.callback(setattr, bone, prop, before)
        setattr(bone, prop, values)


def _property(run: Channel) -> str:
    return run.path.rpartition(".")[2]

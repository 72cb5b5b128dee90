# SPDX-License-Identifier: GPL-3.0-or-later
"""The reference of a limb: the pose that somebody made by hand at each frame, near which a solved pose stays.

It is made of the keyframes that no bake has made and those that bakes have replaced; without any, of the pose in which
the limb stood before the extension wrote to it; and of rest where that is not known. What was solved or baked never
counts, so that solving again with nothing changed starts from the same.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from typing import Protocol

import numpy as np
from bpy.types import NlaStrip, Object, PoseBone, Scene
from mathutils import Quaternion

from ..kinematics.arrays import Array, Numbers
from .by_hand import HandKeys, HandMade, made_by_hand_of
from .clock import Clock, evaluated_time
from .frames.curve_values import values_at, values_of_keys
from .frames.transforms import rotation_quaternions
from .limb import Limb
from .nla import strip_times
from .posed import remember_before


class Boned(Protocol):
    """A limb or a whole body: bones of an armature."""

    @property
    def armature(self) -> Object: ...

    @property
    def bones(self) -> Sequence[str]: ...


def reference_rotations(
    limb: Boned, frames: Sequence[float], scene: Scene, without: tuple[float, float] | None = None
) -> Numbers:
    """Return the reference of every bone of a limb or body at these frames: unit quaternions (bones, 4, F).

    The bones are those of `limb.bones`, from root to tip, in their own rest axes; (bones, 4, 1) if nothing moves. Keys
    that correct a bake between the two times in `without` are left out.
    """
    bones = _bones(limb)
    made = made_by_hand_of(bones, scene, without)
    moving = any(each.layers for each in made)
    values = [np.array(each.values, np.float64)[:, None] for each in made]
    if moving:
        values = [np.repeat(each, len(frames), axis=1) for each in values]
        for strip, layer in _layers(made):
            _paint(values, strip, layer, limb.armature, frames, scene)
    result: Numbers = np.empty((len(bones), 4, len(frames) if moving else 1))
    for row, bone in enumerate(bones):
        result[row] = rotation_quaternions(values[row], bone.rotation_mode)
    return result


def present_reference(limb: Limb, scene: Scene) -> dict[str, Quaternion]:
    """Return the reference of every bone of a limb at the scene's present frame, by name."""
    rotations = reference_rotations(limb, [scene.frame_current + scene.frame_subframe], scene)
    return {name: Quaternion(rotation) for name, rotation in zip(limb.bones, rotations[:, :, 0], strict=True)}


def hold_reference(
    bones: Sequence[PoseBone], scene: Scene, undo: ExitStack | None = None
) -> dict[str, tuple[float, ...]]:
    """Remember the pose made by hand of the bones of a limb or body, which are about to be posed.

    Returns their channel values in that pose, by name. Closing `undo` restores what was remembered before.
    """
    held = {}
    for bone, made in zip(bones, made_by_hand_of(bones, scene), strict=True):
        remember_before(bone, made.values, undo)
        held[bone.name] = made.values
    return held


def _bones(limb: Boned) -> list[PoseBone]:
    return [limb.armature.pose.bones[name] for name in limb.bones]


def _layers(made: Sequence[HandMade]) -> list[tuple[NlaStrip | None, dict[int, HandKeys]]]:
    """Return the layers of all bones, the topmost last: the keyframes in each, by the bone's number."""
    found: dict[int, tuple[NlaStrip | None, dict[int, HandKeys]]] = {}
    for row, each in enumerate(made):
        for layer in each.layers:
            found.setdefault(layer.order, (layer.strip, {}))[1][row] = layer
    return [found[order] for order in sorted(found)]


def _paint(
    values: Sequence[Array],
    strip: NlaStrip | None,
    layer: Mapping[int, HandKeys],
    armature: Object,
    frames: Sequence[float],
    scene: Scene,
) -> None:
    """Write the values of a layer's keyframes over those of the bones (channels, frames) where the layer is played."""
    if strip is None:
        clock = Clock(scene, armature)
        times, played = np.array([clock.time(frame) for frame in frames]), slice(None)
    else:
        times, played = strip_times(strip, np.array(frames, np.float64) * evaluated_time(scene, 1.0))
    times = times.astype(np.float32).astype(np.float64)  # as Blender evaluates them
    whole = [(row, index) for row, keys in layer.items() for index in keys.curves]
    parts = [(row, index) for row, keys in layer.items() for index in keys.keys]
    curves = values_at([layer[row].curves[index] for row, index in whole], times)
    keys = values_of_keys([layer[row].keys[index] for row, index in parts], times)
    for (row, index), line in zip((*whole, *parts), (*curves, *keys), strict=True):
        values[row][index, played] = line[played]

# SPDX-License-Identifier: GPL-3.0-or-later
"""The part of bones' animation that somebody made by hand: keyframes that no bake made, and the pose without keys."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import NamedTuple

import bpy
import numpy as np
from bpy.types import ActionChannelbag, FCurve, NlaStrip, Object, PoseBone, Scene

from ..kinematics.arrays import Mask
from ..kinematics.rotation import rotation_angle
from .clock import Clock
from .keyframes import generated
from .keyframes.arrays import KeyArrays, get_keys, in_range
from .keyframes.channelbags import channelbag_of, find_curves
from .keyframes.replaced import Replaced, replaced_in, together
from .nla import layered_strips
from .posed import is_as_written, is_posed_since, values_before_writing, values_in_mode
from .rotation import channel, rotation_from

_SAME = 1e-3  # angle that rounding explains [rad]
_NO_KEYS: KeyArrays = {"co": np.empty((0, 2))}
_REST = {"QUATERNION": (1.0, 0.0, 0.0, 0.0), "AXIS_ANGLE": (0.0, 0.0, 1.0, 0.0)}


class HandKeys(NamedTuple):
    """F-curves of a rotation property that are by hand as a whole, or in these keyframes, by array index.

    They are those of an NLA strip, or of the active action; `order` is greater for what is above.
    """

    order: int
    strip: NlaStrip | None
    curves: Mapping[int, FCurve]
    keys: Mapping[int, tuple[FCurve, KeyArrays]]


class HandMade(NamedTuple):
    """The part of a bone's rotation made by hand: keyframes in layers, the topmost last, and the values below them."""

    values: tuple[float, ...]
    layers: Sequence[HandKeys]


class _Baked(NamedTuple):
    """F-curves with generated keyframes, whether they are of the active action, and what these have replaced."""

    curves: Mapping[int, FCurve]
    is_active: bool
    replaced: Replaced | None


def made_by_hand_of(
    bones: Sequence[PoseBone], scene: Scene, without: tuple[float, float] | None = None
) -> list[HandMade]:
    """Return what was made by hand of each of the bones, which are those of one limb.

    A limb is one pose: if one of its bones has been posed since the extension wrote to it, all stand as by hand. Keys
    between two times in the active action are left out where generated ones are beside them: they correct a bake.
    """
    bags = [*layered_bags(bones[0].id_data)] if bones else []
    read = [_read(bone, bags, without) for bone in bones]
    posed = any(_is_posed(bone, *each, scene) for bone, each in zip(bones, read, strict=True))
    made = []
    for bone, (layers, baked) in zip(bones, read, strict=True):
        values, unkeyed = tuple(getattr(bone, channel(bone)[0])), _unkeyed(bone, layers)
        if baked and not (posed and unkeyed):
            values = _before_bake(bone, baked, values)
        elif unkeyed and not posed:
            values = values_before_writing(bone)
        made.append(HandMade(values, layers))
    return made


def layered_bags(armature: Object) -> Iterator[tuple[NlaStrip | None, ActionChannelbag]]:
    """Yield the channelbags that animate an armature, the topmost last."""
    for strip in layered_strips(armature):
        found = [each.channelbag(strip.action_slot) for layer in strip.action.layers for each in layer.strips]
        yield from ((strip, bag) for bag in found if bag)
    active = channelbag_of(armature)
    if active:
        yield None, active


def _read(
    bone: PoseBone,
    bags: Sequence[tuple[NlaStrip | None, ActionChannelbag]],
    without: tuple[float, float] | None,
) -> tuple[list[HandKeys], _Baked | None]:
    """Return the keyframes by hand of a bone's rotation, and the topmost bake of it."""
    prop, count = channel(bone)
    path = bone.path_from_id(prop)
    layers, baked = [], None
    for order, (strip, bag) in enumerate(bags):
        curves = {index: curve for index, curve in find_curves(bag, path, count).items() if counts(curve)}
        left_out = without if strip is None else None
        others = {index: ~mask for index, curve in curves.items() if (mask := generated(curve)).any()}
        whole = {index: curve for index, curve in curves.items() if index not in others}
        known = replaced_in(bag, path) if others else None
        keys = {index: keys_by_hand(curves[index], own, known, index, left_out) for index, own in others.items()}
        keys = {index: (curves[index], each) for index, each in keys.items() if len(each["co"])}
        if whole or keys:
            layers.append(HandKeys(order, strip, whole, keys))
        if others:
            baked = _Baked(curves, strip is None, known)
    return layers, baked


def keys_by_hand(
    curve: FCurve, own: Mask, known: Replaced | None, index: int, without: tuple[float, float] | None = None
) -> KeyArrays:
    """Return the keyframes of a curve in the mask `own`, and between them those that bakes have replaced.

    Own ones between the two times in `without` are left out.
    """
    if own.any():
        keys = get_keys(curve)
        own = own if without is None else own & ~in_range(keys, *without)
        return together({name: column[own] for name, column in keys.items()}, known, index)
    return known.keys.get(index, _NO_KEYS) if known else _NO_KEYS


def counts(curve: FCurve) -> bool:
    """Tell whether Blender evaluates an F-curve."""
    return not (curve.mute or curve.is_empty or (curve.group and curve.group.mute))


def _unkeyed(bone: PoseBone, layers: Sequence[HandKeys]) -> Collection[int]:
    """Return the channels without keyframes by hand."""
    keyed = {index for layer in layers for index in (*layer.curves, *layer.keys)}
    return [index for index in range(channel(bone)[1]) if index not in keyed]


def _is_posed(bone: PoseBone, layers: Sequence[HandKeys], baked: _Baked | None, scene: Scene) -> bool:
    """Tell whether somebody has posed a bone, where it has no keyframes by hand, since it was written to."""
    unkeyed = _unkeyed(bone, layers)
    if not unkeyed or baked is None:
        return bool(unkeyed) and is_posed_since(bone, unkeyed)
    if not baked.is_active or scene != bpy.context.scene or is_as_written(bone, unkeyed):
        return False  # what is shown is known only of the scene in the window
    return not _is_shown(bone, baked.curves, scene)


def _is_shown(bone: PoseBone, curves: Mapping[int, FCurve], scene: Scene) -> bool:
    """Tell whether a bone is posed as its curves show it at the present frame."""
    present = tuple(getattr(bone, channel(bone)[0]))
    time = Clock(scene, bone.id_data).time(scene.frame_current + scene.frame_subframe)
    shown = [curves[index].evaluate(time) if index in curves else value for index, value in enumerate(present)]
    now, then = (rotation_from(each, bone.rotation_mode) for each in (present, shown))
    return rotation_angle(now, then) <= _SAME


def _before_bake(bone: PoseBone, baked: _Baked, present: Sequence[float]) -> tuple[float, ...]:
    """Return the values that a bone had before it was baked; those of rest if they are not known."""
    known, mode = baked.replaced, bone.rotation_mode
    return values_in_mode(known.before, known.mode, mode, present) if known else _REST.get(mode, (0.0, 0.0, 0.0))

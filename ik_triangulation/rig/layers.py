# SPDX-License-Identifier: GPL-3.0-or-later
"""Destinations of a bake: the active action, a new one in its place, an NLA track or a layer; old keys are kept.

A layer is an NLA track with the difference of a bake from the animation below, which is combined with it.

Blender combines quaternions by their product and adds the other channels, each by the influence of the strip
(nla_combine_quaternion and nla_combine_value in blenkernel/intern/anim_sys.cc). The active action is above all tracks,
so it is pushed down to a track of its own, as it is; it is given back with the last layer above it.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from contextlib import ExitStack
from functools import partial
from math import tau
from typing import NamedTuple

import bpy
import numpy as np
from bpy.types import Action, ActionChannelbag, AnimData, NlaStrip, NlaTrack, Object, ViewLayer

from ..kinematics.arrays import Array
from ..kinematics.batch.algebra import conjugated, product, signs_along
from .keyframes import AnimatedValues, Channel, ensure_channelbag, generated
from .keyframes.arrays import SAME_FRAME, get_keys, in_range, put_keys
from .rotation import PROPERTIES
from .timeline import evaluated_time, strips_of

_STEP = float(np.sqrt(2.0 * 2.0**-24))  # [rad] the least half angle whose cosine is none in single precision
_COARSE = 0.02  # [rad] half angles up to which cosines are chosen
_LENGTHS = 1.0 + np.concatenate(([0.0], np.linspace(-0.3, 0.6, 181)))  # that are tried, the first one preferred

_MARK = "ik_triangulation_layer"  # custom property of a layer's action: the name of the track pushed down for it, or ""
_BELOW = "ik_triangulation_below_layer"  # custom property of an action that was pushed down, as tracks can be renamed


def new_layer(first: float, last: float, armature: Object, undo: ExitStack) -> ActionChannelbag:
    """Create a layer above all that animates an armature, from frame `first` to `last`, with an influence to key.

    Closing `undo` removes it, and gives the active action back.
    """
    if armature.animation_data is None:
        armature.animation_data_create()
        undo.callback(armature.animation_data_clear)
    animation = armature.animation_data
    below = _push_down(armature, first, last, undo) if animation.action else ""
    bag, _, strip = new_strip(f"{armature.name} Layer", first, last, armature, undo)
    bag.id_data[_MARK] = below
    strip.blend_type = "COMBINE"
    strip.use_animated_influence = True
    strip.influence = 1.0
    strip.keyframe_insert("influence", frame=first)
    return bag


def _push_down(armature: Object, first: float, last: float, undo: ExitStack) -> str:
    """Move the active action to a track above the others, where it is evaluated as before; return the track's name."""
    animation = armature.animation_data
    action, slot = animation.action, animation.action_slot
    begin, end = action.frame_range
    scenes = [scene for scene in bpy.data.scenes if armature.name in scene.objects]
    begin = min(begin, first, *(evaluated_time(scene, scene.frame_start) for scene in scenes))
    end = max(end, last, begin + 1, *(evaluated_time(scene, scene.frame_end) for scene in scenes))
    is_mixed = len(animation.nla_tracks) > 0  # without any Blender shows the action as it is
    undo.callback(_assign_again, animation, action, slot.handle if slot else None)
    track = _new_track(animation, action.name, undo)
    strip = _new_strip(track, action, slot, begin, end)
    strip.extrapolation = "HOLD"
    strip.blend_type = animation.action_blend_type if is_mixed else "REPLACE"
    if is_mixed and animation.action_influence < 1.0:
        strip.use_animated_influence = True
        strip.influence = animation.action_influence
        strip.keyframe_insert("influence", frame=begin)
    animation.action = None
    if _BELOW not in action:
        action[_BELOW] = True
        undo.callback(action.pop, _BELOW, None)
    return str(track.name)


def _assign_again(animation: AnimData, action: Action, handle: int | None) -> None:
    animation.action = action
    animation.action_slot = next((slot for slot in action.slots if slot.handle == handle), None)


def new_strip(
    name: str, first: float, last: float, armature: Object, undo: ExitStack
) -> tuple[ActionChannelbag, NlaTrack, NlaStrip]:
    """Create an action on a track above all others, played only from frame `first` to `last`.

    Closing `undo` removes both.
    """
    animation = armature.animation_data
    action = bpy.data.actions.new(name)
    undo.callback(bpy.data.actions.remove, action)
    slot = action.slots.new(armature.id_type, armature.name)
    bag = action.layers.new("Layer").strips.new(type="KEYFRAME").channelbag(slot, ensure=True)
    track = _new_track(animation, action.name, undo)
    strip = _new_strip(track, action, slot, first, max(last, first + 1))
    strip.extrapolation, strip.blend_type = "NOTHING", "REPLACE"
    return bag, track, strip


def _new_track(animation: AnimData, name: str, undo: ExitStack) -> NlaTrack:
    track = animation.nla_tracks.new(prev=animation.nla_tracks[-1] if len(animation.nla_tracks) else None)
    undo.callback(animation.nla_tracks.remove, track)
    track.name = name
    return track


def _new_strip(track: NlaTrack, action: Action, slot: object, first: float, last: float) -> NlaStrip:
    """Create a strip that plays an action from frame `first` to `last` at its own times."""
    strip = track.strips.new(action.name, int(first), action)
    strip.action_slot = slot
    strip.use_sync_length = False
    # In this order: Blender keeps each start before its end, and fits the strip's scale to them.
    strip.action_frame_start = min(first, strip.action_frame_start)
    strip.action_frame_end, strip.action_frame_start = last, first
    strip.frame_start, strip.frame_end, strip.scale = first, last, 1.0
    return strip


def without_effect(run: Channel) -> Channel:
    """Return a channel of a single row that changes nothing of what is below."""
    values = np.zeros((1, run.values.shape[1]), np.float32)
    if run.path.endswith("rotation_quaternion"):
        values[0, 0] = 1.0
    return run._replace(values=values, indices=_indices(run), slopes=None)


def difference(run: Channel, below: Array) -> Channel:
    """Return the channel of a layer that makes the values of a run of those `below`, which are shaped like them.

    Of equivalent differences it is the shortest at first, and then that nearest to the one before.
    """
    values, indices = run.values.astype(np.float64), _indices(run)
    if run.path.endswith("rotation_quaternion"):
        under, over = (each / np.linalg.norm(each, axis=1, keepdims=True) for each in (below, values))
        found = product(conjugated(under.T), over.T)
        found = found * signs_along(found[None])[0]
        values = _combinable((found if found[0, 0] >= 0.0 else -found).T)
    elif run.path.endswith("rotation_euler"):
        values = np.unwrap(values - below, axis=0)
        values = values - tau * np.round(values[:1] / tau)
    else:
        values = values - below
    return run._replace(values=values.astype(np.float32), indices=indices, slopes=None)


def _combinable(rotations: Array) -> Array:
    """Return quaternions (F, 4) as Blender's combination reads them best.

    It takes the angle from the first number alone, in single precision, where small angles are coarse: between 0 and
    7e-4 there is none. So that is the number of the nearest angle. The others count by their direction
    only, and have a length with which the norm is 1 to the last bit: else the first number would be divided by it.
    """
    result, first = rotations.copy(), rotations[:, 0]
    half = np.arctan2(np.linalg.norm(rotations[:, 1:], axis=1), np.abs(first))
    near = np.flatnonzero(half < _COARSE)
    steps = np.floor((half[near] / _STEP) ** 2)
    lower, upper = _STEP * np.sqrt(steps), _STEP * np.sqrt(steps + 1.0)
    steps += upper - half[near] < half[near] - lower
    exact = (1.0 - steps * 2.0**-24).astype(np.float32)
    along = rotations[near, 1:] / np.maximum(np.linalg.norm(rotations[near, 1:], axis=1, keepdims=True), 1e-30)
    length = np.sqrt((1.0 - exact.astype(float)) * (1.0 + exact.astype(float)))
    others = (along[:, None] * length[:, None, None] * _LENGTHS[:, None]).astype(np.float32)  # (frames, lengths, 3)
    norms = exact[:, None] * exact[:, None]
    for axis in range(3):  # in single precision and this order, as Blender does
        norms = norms + others[..., axis] * others[..., axis]
    best = np.abs(norms - np.float32(1.0)).argmin(axis=1)
    result[near, 0] = np.copysign(exact, first[near])
    result[near, 1:] = others[np.arange(len(near)), best]
    return result


def _indices(run: Channel) -> Sequence[int]:
    """Return the channels to key: of quaternions all, as Blender combines them as one."""
    return range(4) if run.path.endswith("rotation_quaternion") else run.indices


class _Layer(NamedTuple):
    track: NlaTrack
    strip: NlaStrip
    bag: ActionChannelbag


def _layers(armature: Object) -> Iterator[_Layer]:
    """Yield the layers of an armature, the topmost first."""
    animation = armature.animation_data
    for track in reversed(animation.nla_tracks if animation else ()):
        for strip in track.strips:
            if strip.action and strip.action_slot and _MARK in strip.action:
                bag = strip.action.layers[0].strips[0].channelbag(strip.action_slot)
                if bag is not None:
                    yield _Layer(track, strip, bag)


def is_blended(armature: Object) -> bool:
    """Tell whether an animation of an armature is mixed with others instead of replacing what is below it."""
    animation = armature.animation_data
    if animation is None or not animation.use_nla or animation.use_tweak_mode:
        return False
    blends = {strip.blend_type for strip in strips_of(animation, muted=False)}
    if animation.action and len(animation.nla_tracks):
        blends.add(animation.action_blend_type if animation.action_influence == 1.0 else "PART")
    return bool(blends - {"REPLACE"})


def is_layer_on_top(animation: AnimData) -> bool:
    """Tell whether a layer is above all other animation: that below it is part of the base it is combined with."""
    tracks = [track for track in animation.nla_tracks if not track.mute and len(track.strips)]
    top = tracks[-1].strips[0].action if tracks and animation.action is None else None
    return top is not None and _MARK in top


def is_baked_layer(armature: Object, bones: Collection[str]) -> bool:
    """Tell whether the layer on top has baked keyframes, of these bones alone: another bake takes its place."""
    return _layer_of(armature, bones) is not None


def _layer_of(armature: Object, bones: Collection[str]) -> _Layer | None:
    animation, top = armature.animation_data, next(_layers(armature), None)
    if top is None or not is_layer_on_top(animation) or top.track != animation.nla_tracks[-1] or top.track.mute:
        return None
    baked = all(generated(curve).all() for curve in top.bag.fcurves)
    return top if baked and {curve.data_path for curve in top.bag.fcurves} <= _paths(armature, bones) else None


def reopened_layer(
    armature: Object, bones: Collection[str], first: float, last: float, view_layer: ViewLayer, undo: ExitStack
) -> ActionChannelbag | None:
    """Return the layer on top if bakes have made it over these frames of no other bones, emptied; None otherwise.

    Its track, strip and influence stay. A layer with keyframes made by hand is none of these. Closing `undo` gives its
    keyframes back.
    """
    top = _layer_of(armature, bones)
    if top is None:
        return None
    ends = abs(top.strip.frame_start - first), abs(top.strip.frame_end - max(last, first + 1))
    if max(ends) > SAME_FRAME:
        return None
    curves = list(top.bag.fcurves)
    undo.callback(AnimatedValues(armature, [curve.data_path for curve in curves]).update_and_restore, view_layer)
    for curve in curves:
        keys = get_keys(curve)
        undo.callback(put_keys, curve, keys)
        put_keys(curve, {name: column[:0] for name, column in keys.items()})
    view_layer.update()
    return top.bag


def has_baked_layers(armature: Object, bones: Collection[str]) -> bool:
    """Tell whether bakes have left keys of these bones on layers."""
    paths = _paths(armature, bones)
    return any(curve.data_path in paths for layer in _layers(armature) for curve in layer.bag.fcurves)


def _paths(armature: Object, bones: Collection[str]) -> set[str]:
    posed = [armature.pose.bones[name] for name in bones]
    return {bone.path_from_id(prop) for bone in posed for prop in (*PROPERTIES, "location")}


def remove_layer_keys(
    armature: Object, bones: Collection[str], first: float, last: float, undo: ExitStack
) -> tuple[int, Sequence[partial[str | None]]]:
    """Remove the keyframes that bakes have given these bones on layers between two times; return their number.

    Layers, and curves, that are left without any are for the caller to remove by the calls returned, as that cannot be
    undone; they return a message for the user, if any. Closing `undo` restores everything else.
    """
    paths, count, ends = _paths(armature, bones), 0, list[partial[str | None]]()
    for layer in _layers(armature):
        left = 0
        for curve in layer.bag.fcurves:
            keys = get_keys(curve)
            going = generated(curve) & in_range(keys, first, last)
            if curve.data_path not in paths or not going.any():
                left += len(going)
                continue
            count += int(going.sum())
            left += int((~going).sum())
            undo.callback(put_keys, curve, keys)
            put_keys(curve, {name: column[~going] for name, column in keys.items()})
            if going.all():
                ends.append(partial(layer.bag.fcurves.remove, curve))
        if not left:
            ends.append(partial(_remove_layer, armature, layer))
    return count, ends


def _remove_layer(armature: Object, layer: _Layer) -> str | None:
    """Remove a layer; with the last one the action that was pushed down is the active one again.

    Returns a note where it cannot be, as that would change the motion.
    """
    animation, action = armature.animation_data, layer.strip.action
    below = action[_MARK]
    layer.track.strips.remove(layer.strip)
    if not len(layer.track.strips):
        animation.nla_tracks.remove(layer.track)
    if not action.users:
        bpy.data.actions.remove(action)
    others = list(_layers(armature))
    if below and others:
        others[-1].bag.id_data[_MARK] = others[-1].bag.id_data[_MARK] or below
    return _give_back(animation, below) if below and not others else None


def _give_back(animation: AnimData, below: str) -> str | None:
    """Assign the action that was pushed down again; return a note where it stays on its track, called `below` then."""
    found = (
        (track, strip)
        for track in reversed(animation.nla_tracks)
        for strip in track.strips
        if strip.action and (_BELOW in strip.action or track.name == below)
    )
    track, strip = next(found, (None, None))
    if track is None:
        return None  # it was removed meanwhile
    base, slot = strip.action, strip.action_slot
    base.pop(_BELOW, None)
    is_alone = animation.action is None and len(track.strips) == 1 and track == animation.nla_tracks[-1]
    if not is_alone or track.mute or not _plays_as_it_is(strip):
        return (
            f"Action '{base.name}' stays on NLA track '{track.name}', as others are above it or its strip was changed. "
            "The motion is the same."
        )
    animation.nla_tracks.remove(track)
    _assign_again(animation, base, slot.handle if slot else None)
    return None


def _plays_as_it_is(strip: NlaStrip) -> bool:
    """Tell whether a strip plays its action at the action's own times."""
    moved = abs(strip.frame_start - strip.action_frame_start) > SAME_FRAME
    return not (moved or strip.mute or strip.use_reverse or strip.scale != 1.0 or strip.repeat != 1.0)


OF_RANGE = {"NLA_TRACK", "LAYER"}  # kinds that have an action of their own for a range of frames

Made = dict[tuple[int, str, float, float], ActionChannelbag]


class LayerOf(NamedTuple):
    """Bones of an armature that are baked onto a layer, from `first` to `last`."""

    armature: Object
    bones: Collection[str]
    first: float
    last: float


def reopen_layers(parts: Sequence[LayerOf], made: Made, view_layer: ViewLayer, undo: ExitStack) -> None:
    """Have a bake of these bones take the place of the layer that an earlier one of them has put on top.

    The layers are emptied, and are among those `made` then. Closing `undo` gives their keyframes back.
    """
    found: dict[tuple[int, str, float, float], list[LayerOf]] = {}
    for part in parts:
        found.setdefault((part.armature.session_uid, "LAYER", part.first, part.last), []).append(part)
    for key, some in found.items():
        if key not in made:
            armature, bones = some[0].armature, {bone for part in some for bone in part.bones}
            bag = reopened_layer(armature, bones, *key[2:], view_layer, undo)
            if bag is not None:
                made[key] = bag


class Destination:
    """The destination of a limb's baked keys from frame `first` to `last`; limbs baked together share those `made`.

    ACTION is the active action and slot. NEW_ACTION is a copy of that, assigned in its place. NLA_TRACK is an action
    with only the baked keys, on a track above the others: it is evaluated from `first` to `last`, and the active action
    stays assigned. LAYER is one with the difference from all that is below, which the active action becomes part of.
    """

    def __init__(self, first: float, last: float, made: Made | None = None) -> None:
        self._first, self._last = first, last
        self._made = {} if made is None else made

    def bag(self, kind: str, armature: Object, undo: ExitStack) -> ActionChannelbag:
        """Return the channelbag to write to. Closing `undo` removes anything that was created for it."""
        if kind == "ACTION":
            return ensure_channelbag(armature, undo)
        key = self._key(kind, armature)
        if key not in self._made:
            of_range = {"NLA_TRACK": _new_keys_track, "LAYER": new_layer}.get(kind)
            make = partial(of_range, self._first, self._last) if of_range else _new_action
            self._made[key] = make(armature, undo)
        return self._made[key]

    def _key(self, kind: str, armature: Object) -> tuple[int, str, float, float]:
        """Return the key by which limbs share a channelbag; a track hides those below, so it is as long as a bake."""
        return armature.session_uid, kind, *((self._first, self._last) if kind in OF_RANGE else (0.0, 0.0))


def _new_action(armature: Object, undo: ExitStack) -> ActionChannelbag:
    """Assign a copy of the object's action in its place; the old one is kept even if it has no other users."""
    animation = armature.animation_data
    if animation and animation.action:
        old = animation.action
        new = old.copy()
        undo.callback(bpy.data.actions.remove, new)
        if old.is_editable:
            undo.callback(setattr, old, "use_fake_user", old.use_fake_user)
            old.use_fake_user = True
        handle = animation.action_slot.handle if animation.action_slot else None
        undo.callback(_assign, armature, old, handle)
        _assign(armature, new, handle)
    return ensure_channelbag(armature, undo)


def _assign(armature: Object, action: Action, handle: int | None) -> None:
    """Assign an action and its slot with that handle."""
    animation = armature.animation_data
    animation.action = action
    animation.action_slot = next((slot for slot in action.slots if slot.handle == handle), None)


def _new_keys_track(first: float, last: float, armature: Object, undo: ExitStack) -> ActionChannelbag:
    """Create an action on an NLA track above all others, from frame `first` to `last`; the active action stays."""
    if armature.animation_data is None:
        armature.animation_data_create()
        undo.callback(armature.animation_data_clear)
    return new_strip(f"{armature.name}Action", first, last, armature, undo)[0]

# SPDX-License-Identifier: GPL-3.0-or-later
"""Write and remove keyframes in bulk: inside the range they are replaced, outside it untouched.

Blender places Auto Clamped handles by the keyframes around them, so they are read from F-curves made for that.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from contextlib import ExitStack
from itertools import chain
from math import inf
from typing import Any, NamedTuple

import bpy
import numpy as np
from bpy.types import ActionChannelbag, FCurve, Object, ViewLayer

from ...cooperative import Work
from ..rotation import PROPERTIES
from .arrays import SELECTED, KeyArrays, NewKeys, enum_number, get_keys, in_range, merge_keys, put_keys
from .channelbags import channelbag_of, curves_of, ensure_channelbag, find_curves, is_stuck, new_curve
from .reading import GENERATED, put_replaced, replaced_in
from .unkeyed import AnimatedValues


class Channel(NamedTuple):
    """A rotation property of a bone and its `values`: a row for each frame, a column for each array index.

    Only `indices` of it are keyed. `slopes` are those of the handles before and after each keyframe (both shaped like
    `values`, per frame) and make Bézier curves of these handles; without them handles and interpolation are those of a
    full bake. Handles in the mask `clamped` (shaped like `values`) are Auto Clamped. Of the indices in `still`, which
    do not move, only the first and the last frame get a key.
    """

    bone: str
    path: str
    values: np.ndarray[Any, Any]
    indices: Sequence[int]
    slopes: tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]] | None = None
    still: Sequence[int] = ()
    clamped: np.ndarray[Any, Any] | None = None


def write_keys(
    armature: Object,
    channels: Sequence[Channel],
    frames: Sequence[float],
    first: float,
    last: float,
    view_layer: ViewLayer,
    undo: ExitStack,
    interpolation: str = "AUTO",
    kind: str = "KEYFRAME",
) -> Work[int]:
    """Key the channels in the active action as replace_keys() does, and let Blender evaluate them at once.

    Values that were posed without a keyframe stay as `view_layer` shows them. The action, its slot and F-curves are
    created where they are missing. Closing `undo` restores everything, also if the work is abandoned.
    """
    saved = AnimatedValues(armature, [channel.path for channel in channels])
    undo.callback(saved.update_and_restore, view_layer)
    bag = ensure_channelbag(armature, undo)
    count = yield from replace_keys(bag, channels, frames, first, last, undo, interpolation, kind)
    saved.update_and_restore(view_layer)
    yield
    return count


def replace_keys(
    bag: ActionChannelbag,
    channels: Sequence[Channel],
    frames: Sequence[float],
    first: float,
    last: float,
    undo: ExitStack,
    interpolation: str = "AUTO",
    kind: str = "KEYFRAME",
    keep: bool = False,
) -> Work[int]:
    """Key the channels at `frames`; keyframes they had from `first` to `last` are replaced. Returns their number.

    `interpolation` is one of Blender's, or AUTO: linear if the keyframes are on every frame, otherwise Bézier. `kind`
    is one of Blender's keyframe types; with `keep` only keyframes of this type are replaced. F-curves are created where
    the channelbag has none. Nothing is evaluated: that discards values which were posed without a keyframe, so these
    have to be saved before. Closing `undo` restores the keyframes, also if the work is abandoned.
    """
    fitted = any(channel.slopes for channel in channels)
    interpolation = "BEZIER" if fitted else interpolation_of(frames, first, last, interpolation)
    new_keys = NewKeys(frames, interpolation, kind)
    only = enum_number("type", kind) if keep else None
    count = 0
    for channel in channels:
        curves = find_curves(bag, channel.path, channel.values.shape[1])
        indices = [index for index in range(channel.values.shape[1]) if index in channel.indices]
        still = [index for index in indices if index in channel.still]
        moving = [index for index in indices if index not in still]
        keys: Iterable[tuple[int, KeyArrays]] = zip(
            moving, new_keys.on_curves(channel.values, moving, channel.slopes, channel.clamped), strict=True
        )
        if still:
            ends, flat = NewKeys([frames[0], frames[-1]], interpolation, kind), np.repeat(channel.values[:1], 2, axis=0)
            level = ends.on_curves(flat, still, (np.zeros_like(flat),) * 2, np.ones(flat.shape, bool))
            keys = chain(keys, zip(still, level, strict=True))
        for index, new in keys:
            curve = curves.get(index) or new_curve(bag, channel.path, index, channel.bone, undo)
            old = get_keys(curve) if index in curves else None
            if old:
                undo.callback(put_keys, curve, old)
            if old is None or (only is None and in_range(old, first, last).all()):
                put_keys(curve, new, left_as_added=new_keys.as_added if channel.slopes is None else SELECTED)
                count += len(new["co"])
            else:
                merged = merge_keys(old, new, first, last, only)
                put_keys(curve, merged)
                count += int((in_range(merged, first, last) & (merged["type"] == new["type"][0])).sum())
            yield
    return count


class Removed(NamedTuple):
    """The number of keyframes that were removed from a channelbag, and the F-curves that have none left."""

    count: int
    bag: ActionChannelbag | None
    empty: Sequence[FCurve]


def remove_generated(
    armature: Object, bones: Collection[str], first: float, last: float, view_layer: ViewLayer, undo: ExitStack
) -> Removed:
    """Remove the keyframes that bakes have given the bones from `first` to `last`, as remove_generated_of() does.

    They are those of rotations, and of location and scale that were baked: of hips with a body, of IK controls.
    """
    bag = channelbag_of(armature)
    poses = [armature.pose.bones[name] for name in bones]
    turns = [bone.path_from_id(prop) for bone in poses for prop in PROPERTIES]
    places = (bone.path_from_id(prop) for bone in poses for prop in ("location", "scale"))
    turns += [path for path in places if replaced_in(bag, path)]
    return remove_generated_of(armature, turns, first, last, view_layer, undo)


def remove_generated_of(
    armature: Object, properties: Iterable[str], first: float, last: float, view_layer: ViewLayer, undo: ExitStack
) -> Removed:
    """Remove the keyframes that bakes have given some properties from `first` to `last`.

    The keyframes that these have replaced are given back and shown; otherwise the values shown stay until the frame is
    changed. F-curves that are left without keyframes are for the caller to remove, as that cannot be undone. Closing
    `undo` restores everything else.
    """
    bag, paths = channelbag_of(armature), {path: list[FCurve]() for path in properties}
    for curve in curves_of(armature):
        if curve.data_path in paths and not is_stuck(curve):
            paths[curve.data_path].append(curve)
    saved = AnimatedValues(armature, sorted(paths))
    removed, given = 0, []
    undo.callback(saved.update_and_restore, view_layer)
    for path, curves in paths.items():
        count, back = _remove_generated(bag, path, curves, (first, last), undo)
        removed += count
        given += [(path, index) for index in back]
    saved.update_and_restore(view_layer, given)
    return Removed(removed, bag, [curve for curves in paths.values() for curve in curves if curve.is_empty])


def _remove_generated(
    bag: ActionChannelbag, path: str, curves: Sequence[FCurve], ends: tuple[float, float], undo: ExitStack
) -> tuple[int, list[int]]:
    """Remove generated keyframes of a property between the `ends`; return their number, and the channels given back.

    With the last of them everything is given back that they have replaced.
    """
    keys = [get_keys(curve) for curve in curves]
    generated = [each["type"] == enum_number("type", GENERATED) for each in keys]
    going = [mask & in_range(each, *ends) for mask, each in zip(generated, keys, strict=True)]
    count = sum(int(mask.sum()) for mask in going)
    if not count:
        return 0, []
    known = replaced_in(bag, path)
    ends = ends if count < sum(int(mask.sum()) for mask in generated) else (-inf, inf)
    kept, given = dict(known.keys) if known else {}, []
    for curve, old, mask in zip(curves, keys, going, strict=True):
        new, index = {name: column[~mask] for name, column in old.items()}, curve.array_index
        if index in kept:
            back = in_range(kept[index], *ends)
            new = merge_keys(new, {name: column[back] for name, column in kept[index].items()}, inf, -inf)
            kept[index] = {name: column[~back] for name, column in kept[index].items()}
            given += [index] * bool(back.any())
        if len(new["co"]) != len(old["co"]) or mask.any():
            undo.callback(put_keys, curve, old)
            put_keys(curve, new)
    if known:
        put_replaced(bag, path, known._replace(keys=kept) if ends[1] < inf else None, undo)
    return count, given


def interpolation_of(frames: Sequence[float], first: float, last: float, interpolation: str) -> str:
    """Return the interpolation of a full bake of these frames: with AUTO linear if it has every frame of the range."""
    if interpolation != "AUTO":
        return interpolation
    return "LINEAR" if 1 < len(frames) == last - first + 1 else "BEZIER"


_Array = np.ndarray[Any, Any]


def clamped_slopes(keys: tuple[_Array, _Array, _Array, _Array], which: _Array) -> tuple[_Array, _Array]:
    """Return the slopes of the handles on both sides of keyframes, of which some are Auto Clamped.

    They are those in the mask `which` (F x channels). `keys` are times (F), values, and the slopes before and after
    (F x channels) that the others keep. As long as Blender smooths a curve, which it does with new ones, all handles
    lead a third of the way to their neighbours.
    """
    times, values, left, right = keys
    found = left.copy(), right.copy()
    steps = np.concatenate(([3.0], np.diff(times), [3.0])) / 3.0
    clamped, free = (enum_number("handle_left_type", item) for item in ("AUTO_CLAMPED", "FREE"))
    interpolation = np.full(len(times), enum_number("interpolation", "BEZIER"), np.uint8)
    action = bpy.data.actions.new("Handles")
    try:
        slot = action.slots.new("OBJECT", "Handles")
        bag = action.layers.new("Handles").strips.new(type="KEYFRAME").channelbag(slot, ensure=True)
        for column in np.flatnonzero(which.any(0)).tolist():
            curve = bag.fcurves.new("handles", index=column)
            curve.auto_smoothing = "CONT_ACCEL"
            points = curve.keyframe_points
            points.add(len(times))
            kinds = np.where(which[:, column], clamped, free).astype(np.uint8)
            ends = ("co", 0.0 * times, left), ("handle_left", -steps[:-1], left), ("handle_right", steps[1:], right)
            for name, shift, slopes in ends:
                places = np.column_stack((times + shift, values[:, column] + shift * slopes[:, column]))
                points.foreach_set(name, places.astype(np.float32).ravel())
            for name, numbers in (("interpolation", interpolation), ("handle_left_type", kinds)):
                points.foreach_set(name, numbers)
            points.foreach_set("handle_right_type", kinds)
            curve.update()
            placed = get_keys(curve, ("co", "handle_left", "handle_right"))
            for side, slopes in zip(("handle_left", "handle_right"), found, strict=True):
                way = placed[side].astype(np.float64) - placed["co"]
                slopes[:, column] = np.where(which[:, column], way[:, 1] / way[:, 0], slopes[:, column])
    finally:
        bpy.data.actions.remove(action)
    return found

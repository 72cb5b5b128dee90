# SPDX-License-Identifier: GPL-3.0-or-later
"""Write and remove keyframes in bulk: inside the range they are replaced, outside it untouched."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from contextlib import ExitStack
from typing import Any, NamedTuple

import numpy as np
from bpy.types import ActionChannelbag, Object, ViewLayer

from ...cooperative import Work
from ..rotation import PROPERTIES
from .arrays import SELECTED, NewKeys, enum_number, get_keys, in_range, merge_keys, put_keys
from .channelbags import channelbag_of, curves_of, ensure_channelbag, find_curves, new_curve
from .checks import is_stuck
from .reading import GENERATED
from .unkeyed import AnimatedValues


class Channel(NamedTuple):
    """A rotation property of a bone and its `values`: a row for each frame, a column for each array index.

    Only `indices` of it are keyed. `slopes` are those of the handles before and after each keyframe (both shaped like
    `values`, per frame) and make Bézier curves of these handles; without them handles and interpolation are those of a
    full bake.
    """

    bone: str
    path: str
    values: np.ndarray[Any, Any]
    indices: Sequence[int]
    slopes: tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]] | None = None


def write_keys(
    armature: Object,
    channels: Sequence[Channel],
    frames: Sequence[float],
    first: float,
    last: float,
    view_layer: ViewLayer,
    undo: ExitStack,
    interpolation: str = "AUTO",
) -> Work[int]:
    """Key the channels in the active action as replace_keys() does, and let Blender evaluate them at once.

    Values that were posed without a keyframe stay as `view_layer` shows them. The action, its slot and F-curves are
    created where they are missing. Closing `undo` restores everything, also if the work is abandoned.
    """
    saved = AnimatedValues(armature, [channel.path for channel in channels])
    undo.callback(saved.update_and_restore, view_layer)
    bag = ensure_channelbag(armature, undo)
    count = yield from replace_keys(bag, channels, frames, first, last, undo, interpolation)
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
    if interpolation == "AUTO" or fitted:
        interpolation = "LINEAR" if not fitted and is_linear(frames, first, last, interpolation) else "BEZIER"
    new_keys = NewKeys(frames, interpolation, kind)
    only = enum_number("type", kind) if keep else None
    count = 0
    for channel in channels:
        curves = find_curves(bag, channel.path, channel.values.shape[1])
        indices = [index for index in range(channel.values.shape[1]) if index in channel.indices]
        keys = new_keys.on_curves(channel.values, indices, channel.slopes)
        for index, new in zip(indices, keys, strict=True):
            curve = curves.get(index) or new_curve(bag, channel.path, index, channel.bone, undo)
            old = get_keys(curve) if index in curves else None
            if old:
                undo.callback(put_keys, curve, old)
            if old is None or (only is None and in_range(old, first, last).all()):
                put_keys(curve, new, left_as_added=new_keys.as_added if channel.slopes is None else SELECTED)
                count += len(frames)
            else:
                merged = merge_keys(old, new, first, last, only)
                put_keys(curve, merged)
                count += int((in_range(merged, first, last) & (merged["type"] == new["type"][0])).sum())
            yield
    return count


def remove_keys(
    armature: Object, bones: Collection[str], first: float, last: float, view_layer: ViewLayer, kind: str = GENERATED
) -> int:
    """Remove the rotation keyframes of this `kind` that the bones have from `first` to `last`; returns their number.

    F-curves that are left without keyframes are removed too. The pose shown stays until the frame is changed.
    """
    paths = {armature.pose.bones[name].path_from_id(prop) for name in bones for prop in PROPERTIES}
    curves = [curve for curve in curves_of(armature) if curve.data_path in paths and not is_stuck(curve)]
    saved = AnimatedValues(armature, sorted(paths))
    removed = 0
    with ExitStack() as undo:
        undo.callback(saved.update_and_restore, view_layer)
        for curve in curves:
            keys = get_keys(curve)
            going = (keys["type"] == enum_number("type", kind)) & in_range(keys, first, last)
            if going.any():
                undo.callback(put_keys, curve, keys)
                put_keys(curve, {name: column[~going] for name, column in keys.items()})
                removed += int(going.sum())
        undo.pop_all()
    bag = channelbag_of(armature)
    for curve in curves:
        if curve.is_empty:
            bag.fcurves.remove(curve)
    saved.update_and_restore(view_layer)
    return removed


def is_linear(frames: Sequence[float], first: float, last: float, interpolation: str) -> bool:
    """Tell whether a full bake of these frames interpolates linearly: with AUTO if it has every frame of the range."""
    return interpolation == "LINEAR" or (interpolation == "AUTO" and 1 < len(frames) == last - first + 1)

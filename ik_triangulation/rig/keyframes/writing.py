# SPDX-License-Identifier: GPL-3.0-or-later
"""Writing keys in bulk into the action and slot of an object: inside the range replaced, outside it untouched.

Keys are written through the F-Curves' arrays, hundreds of times faster than key by key, so what keyframe_insert() would
refuse is looked for first (check_keys).
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import ExitStack
from functools import cache
from typing import Any, NamedTuple

import bpy
import numpy as np
from bpy.types import ActionChannelbag, AnimData, FCurve, Keyframe, Object, PoseBone, ViewLayer

from ...cooperative import Work
from ...errors import AnimationError
from ..frames.restore import Show, values_shown
from ..rotation import PROPERTIES, channel

# Everything a key holds, in the order in which writing it back is exact: coordinates after the handle types.
_ATTRIBUTES = {
    "interpolation": (1, np.uint8),
    "easing": (1, np.uint8),
    "type": (1, np.uint8),
    "amplitude": (1, np.float32),
    "period": (1, np.float32),
    "back": (1, np.float32),
    "handle_left_type": (1, np.uint8),
    "handle_right_type": (1, np.uint8),
    "select_control_point": (1, np.bool_),
    "select_left_handle": (1, np.bool_),
    "select_right_handle": (1, np.bool_),
    "co": (2, np.float32),
    "handle_left": (2, np.float32),
    "handle_right": (2, np.float32),
}
# What a key that is added to a curve has as it should be: it is selected and eased automatically.
_ADDED = {"easing", "select_control_point", "select_left_handle", "select_right_handle"}
# What differs from channel to channel.
_OWN = {"co", "handle_left", "handle_right", "handle_left_type", "handle_right_type"}
_SAME_FRAME = 1e-3  # frames; Blender takes nearer keys for one

GENERATED = "GENERATED"  # the type of keys that Blender has for what is not made by hand

BagOf = Callable[[Object, ExitStack], ActionChannelbag]
ByHand = dict[float, dict[int, float]]  # values of a bone's keys by frame and array index
Keys = dict[str, "np.ndarray[Any, Any]"]


class Channel(NamedTuple):
    """A rotation property of a bone and its `values`: a row for each frame, a column for each array index.

    Only `indices` of it are keyed. `slopes` [per frame] of the handles before and after each key, as many as `values`,
    make curves of those handles; without them handles and interpolation are those of a full bake.
    """

    bone: str
    path: str
    values: np.ndarray[Any, Any]
    indices: Sequence[int]
    slopes: tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]] | None = None


def check_keys(armature: Object, bones: Collection[str], destination: str = "ACTION") -> list[str]:
    """Raise AnimationError if rotation keys of these bones could not be written there or would not be played back.

    Returns warnings about what can be written but may not be what was meant. For each `destination` see destination.py.
    """
    animation = armature.animation_data
    if animation is None or animation.action is None:
        return []
    action, name = animation.action, armature.name
    if animation.use_tweak_mode and destination != "ACTION":
        raise AnimationError(f"'{name}' is in NLA tweak mode. Write to the active action, or leave tweak mode first.")
    if destination == "NLA_TRACK":
        return [warning for bone in bones for warning in _hiding(armature.pose.bones[bone], animation)]
    if destination == "ACTION" and not action.is_editable:
        where = f" from '{action.library.name_full}'" if action.library else ""
        raise AnimationError(f"Action '{action.name}' is linked{where}. Assign a local action to '{name}'.")
    if animation.action_slot is None and len(action.slots):
        raise AnimationError(f"Action '{action.name}' has no slot assigned to '{name}'. Assign one.")
    others = [user.name for user in animation.action_slot.users() if user != armature] if animation.action_slot else []
    if destination == "ACTION" and others:
        raise AnimationError(
            f"Slot '{animation.action_slot.name_display}' also drives '{others[0]}'. Give '{name}' a slot of its own."
        )
    return [warning for bone in bones for warning in _check_curves(armature.pose.bones[bone], curves_of(armature))]


def _hiding(bone: PoseBone, animation: AnimData) -> Iterator[str]:
    used = bone.path_from_id(channel(bone)[0])
    if any(curve.data_path == used and not curve.mute for curve in curves_of(bone.id_data)):
        yield f"Action '{animation.action.name}' keys '{bone.name}' as well and hides the NLA track. Mute that."


def _check_curves(bone: PoseBone, curves: Sequence[FCurve]) -> Iterator[str]:
    used, _ = channel(bone)
    paths = {bone.path_from_id(prop): prop for prop in PROPERTIES}
    keyed = {prop: [c for c in curves if paths.get(c.data_path) == prop] for prop in PROPERTIES}
    stuck = sum(_is_stuck(curve) for curve in keyed.pop(used))
    if stuck:
        raise AnimationError(f"{stuck} F-Curves of '{bone.name}' are locked, muted or sampled. Unlock them.")
    for prop, found in keyed.items():
        if found:
            yield f"Bone '{bone.name}' has keys on {prop} but uses {bone.rotation_mode}."


def check_curves(curves: Sequence[FCurve], name: str) -> None:
    """Raise AnimationError if the curves of what is called `name` cannot be keyed."""
    if any(map(_is_stuck, curves)):
        raise AnimationError(f"The F-Curve of {name} is locked, muted or sampled. Unlock it.")


def _is_stuck(curve: FCurve) -> bool:
    group = curve.group
    return bool(curve.lock or curve.mute or len(curve.sampled_points) or (group and (group.lock or group.mute)))


def values_before(armature: Object, path: str, frame: float) -> dict[int, float]:
    """What the last keys before `frame` say about the channels of a property, by array index."""
    return {index: value for index, (_, value) in keys_beside(armature, path, frame, after=False).items()}


def keys_beside(armature: Object, path: str, frame: float, after: bool) -> dict[int, tuple[float, float]]:
    """Time and value of the first keys `after` a frame, or the last ones before it, by the property's array index."""
    found = {}
    for curve in curves_of(armature):
        if curve.data_path == path:
            keys = _get(curve)["co"]
            beside = keys[keys[:, 0] > frame + _SAME_FRAME] if after else keys[keys[:, 0] < frame - _SAME_FRAME]
            if len(beside):
                time, value = beside[0 if after else -1].tolist()
                found[curve.array_index] = time, value
    return found


def key_frames(ob: Object, bone: str, first: float, last: float) -> list[float]:
    """When an object has keys from `first` to `last`, or a bone of it: of whatever property, each time once."""
    path = ob.pose.bones[bone].path_from_id() if bone else ""
    times = [_get(c)["co"][:, 0] for c in curves_of(ob) if c.data_path.startswith(path or "pose.bones") == bool(path)]
    found = np.unique(np.concatenate(times)) if times else np.empty(0)
    found = found[(found >= first) & (found <= last)]
    return [float(time) for time in found[np.diff(found, prepend=-np.inf) > _SAME_FRAME]]


def made_by_hand(armature: Object, bones: Collection[str], first: float, last: float) -> dict[str, ByHand]:
    """The rotation keys of the bones from `first` to `last` that were not generated, in order of time."""
    paths = {armature.pose.bones[n].path_from_id(channel(armature.pose.bones[n])[0]): n for n in bones}
    found: dict[str, ByHand] = {}
    for curve in curves_of(armature):
        if curve.data_path in paths:
            keys = _get(curve)
            ours = _inside(keys, first, last) & (keys["type"] != _number("type", GENERATED))
            for time, value in keys["co"][ours].tolist():
                found.setdefault(paths[curve.data_path], {}).setdefault(time, {})[curve.array_index] = value
    return {name: dict(sorted(keys.items())) for name, keys in found.items()}


def remove_keys(
    armature: Object, bones: Collection[str], first: float, last: float, view_layer: ViewLayer, kind: str = GENERATED
) -> int:
    """Remove the rotation keys of this `kind` that the bones have from `first` to `last`; returns how many there were.

    F-Curves that are left without keys go with them. What is shown stays until the frame is changed.
    """
    paths = {armature.pose.bones[name].path_from_id(prop) for name in bones for prop in PROPERTIES}
    curves = [curve for curve in curves_of(armature) if curve.data_path in paths and not _is_stuck(curve)]
    shown = _values_shown(armature, sorted(paths))
    removed = 0
    with ExitStack() as undo:
        undo.callback(_settle, view_layer, shown)
        for curve in curves:
            keys = _get(curve)
            going = (keys["type"] == _number("type", kind)) & _inside(keys, first, last)
            if going.any():
                undo.callback(_put, curve, keys)
                _put(curve, {name: column[~going] for name, column in keys.items()})
                removed += int(going.sum())
        undo.pop_all()
    bag = _channelbag(armature)
    for curve in curves:
        if curve.is_empty:
            bag.fcurves.remove(curve)
    _settle(view_layer, shown)
    return removed


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
    bag_of: BagOf | None = None,
    keep: bool = False,
) -> Work[int]:
    """Key the channels at `frames`; keys they had from `first` to `last` are replaced. Returns the number of keys.

    Keys are interpolated as `interpolation` says, of itself straight between frames keyed one by one and smoothly
    between others, and are of this `kind`, one of Blender's types of keys; with `keep` only such keys are replaced.
    They go to where `bag_of` says, by default the active action and slot; these and F-Curves are made where there are
    none. What was posed without a key stays as it is shown in `view_layer`. Closing `undo` puts everything back as it
    was, also if the work is given up.
    """
    values = np.hstack([channel.values for channel in channels])
    fitted = [channel.slopes for channel in channels if channel.slopes]
    if fitted:
        left, right = (np.hstack(slopes) for slopes in zip(*fitted, strict=True))
        keys = _new_keys(frames, values, "BEZIER", kind, left, right) | _fitted_handles(left, right)
    else:
        slopes = np.gradient(values, frames, axis=0) if len(frames) > 1 else np.zeros_like(values)
        straight = is_linear(frames, first, last, interpolation)
        shape = ("LINEAR" if straight else "BEZIER") if interpolation == "AUTO" else interpolation
        keys = _new_keys(frames, values, shape, kind, slopes, slopes)
    places = [(channel.bone, channel.path, index) for channel in channels for index in range(channel.values.shape[1])]
    wanted = {(channel.path, index) for channel in channels for index in channel.indices}
    shown = _values_shown(armature, [channel.path for channel in channels])
    undo.callback(_settle, view_layer, shown)
    bag = (bag_of or ensure_channelbag)(armature, undo)
    curves = {(curve.data_path, curve.array_index): curve for curve in bag.fcurves}
    count = 0
    for column, (bone, path, index) in enumerate(places):
        if (path, index) not in wanted:
            continue
        new = {name: points[column] if name in _OWN else points for name, points in keys.items()}
        curve = curves.get((path, index))
        if curve is None:
            curve = bag.fcurves.new(path, index=index)
            undo.callback(bag.fcurves.remove, curve)
            _join_group(bag, curve, bone, undo)
        if len(curve.keyframe_points):
            old = _get(curve)
            undo.callback(_put, curve, old)
            merged = _merged(old, new, first, last, _number("type", kind) if keep else None)
            _put(curve, merged)
            count += int((_inside(merged, first, last) & (merged["type"] == new["type"][0])).sum())
        else:
            _put(curve, new, left_as_added=_ADDED)
            count += len(frames)
        yield
    _settle(view_layer, shown)
    yield
    return count


def is_linear(frames: Sequence[float], first: float, last: float, interpolation: str) -> bool:
    """Whether a full bake of these frames leads straight from key to key: of itself if they are all in the range."""
    return interpolation == "LINEAR" or (interpolation == "AUTO" and 1 < len(frames) == last - first + 1)


def _values_shown(armature: Object, paths: Sequence[str]) -> list[Show]:
    """Calls that set these and all animated properties to what they are now, which need not be what their keys say."""
    return values_shown(armature, (*paths, *(curve.data_path for curve in curves_of(armature))))


def _settle(view_layer: ViewLayer, shown: Sequence[Show]) -> None:
    """Let Blender evaluate the changed action, as it would at the next chance, and show what was shown before."""
    view_layer.update()
    for show in shown:
        show()


def curves_of(armature: Object) -> Sequence[FCurve]:
    """The F-Curves that move the object now; none if it has no action or slot."""
    bag = _channelbag(armature)
    return bag.fcurves if bag else ()


def _channelbag(armature: Object) -> ActionChannelbag | None:
    animation = armature.animation_data
    if animation is None or animation.action is None or animation.action_slot is None:
        return None
    strips = [strip for layer in animation.action.layers for strip in layer.strips]
    return strips[0].channelbag(animation.action_slot) if strips else None


def ensure_channelbag(armature: Object, undo: ExitStack) -> ActionChannelbag:
    """The curves of the object's active action and slot; all this is made where it is not there."""
    if armature.animation_data is None:
        armature.animation_data_create()
        undo.callback(armature.animation_data_clear)
    animation = armature.animation_data
    if animation.action is None:
        action = bpy.data.actions.new(f"{armature.name}Action")
        undo.callback(bpy.data.actions.remove, action)
        animation.action = action
    action = animation.action
    if animation.action_slot is None:
        slot = action.slots.new(armature.id_type, armature.name)
        undo.callback(action.slots.remove, slot)
        animation.action_slot = slot
    slot = animation.action_slot
    if not len(action.layers):
        undo.callback(action.layers.remove, action.layers.new("Layer"))
    layer = action.layers[0]
    if not len(layer.strips):
        undo.callback(layer.strips.remove, layer.strips.new(type="KEYFRAME"))
    strip = layer.strips[0]
    if strip.channelbag(slot) is None:
        undo.callback(strip.channelbags.remove, strip.channelbag(slot, ensure=True))
    return strip.channelbag(slot)


def _join_group(bag: ActionChannelbag, curve: FCurve, name: str, undo: ExitStack) -> None:
    group = bag.groups.get(name)
    if group is None:
        group = bag.groups.new(name)
        undo.callback(bag.groups.remove, group)
    curve.group = group


def _new_keys(
    frames: Sequence[float],
    values: np.ndarray[Any, Any],
    interpolation: str,
    kind: str,
    left: np.ndarray[Any, Any],
    right: np.ndarray[Any, Any],
) -> Keys:
    """Keys at `frames`, with handles a third of the way to their neighbours along the slopes to the left and right.

    What differs from channel to channel has one more dimension in front, for the columns of `values`.
    """
    columns, count = values.shape[1], len(frames)
    times = np.asarray(frames, np.float64)
    steps = np.diff(times, prepend=times[0] - 1.0, append=times[-1] + 1.0)[:, None] / 3.0
    alike = _defaults(interpolation, kind)
    keys: Keys = {
        name: np.full((columns, count) if name in _OWN else count, number, _ATTRIBUTES[name][1])
        for name, number in alike.items()
    }
    for name, way, slopes in (
        ("co", 0.0, left),
        ("handle_left", -steps[:-1], left),
        ("handle_right", steps[1:], right),
    ):
        points = np.empty((columns, count, 2), np.float32)
        points[:, :, 0] = (times[:, None] + way).T
        points[:, :, 1] = (values + slopes * way).T
        keys[name] = points
    return keys


def _fitted_handles(left: np.ndarray[Any, Any], right: np.ndarray[Any, Any]) -> Keys:
    """Types for handles that Blender shall leave as they are; those in one line stay so when they are edited."""
    aligned, free = _number("handle_left_type", "ALIGNED"), _number("handle_left_type", "FREE")
    types = np.where(left == right, aligned, free).T.astype(np.uint8)
    return {"handle_left_type": types, "handle_right_type": types}


def _defaults(interpolation: str, kind: str) -> dict[str, float]:
    """What a key has besides its place, as one made by hand: selected, and ready for elastic and back easing."""
    handle = _number("handle_left_type", "AUTO_CLAMPED")
    plain = {name: 0 for name, (width, _) in _ATTRIBUTES.items() if width == 1}
    return {
        **plain,
        "interpolation": _number("interpolation", interpolation),
        "type": _number("type", kind),
        "handle_left_type": handle,
        "handle_right_type": handle,
        "amplitude": 0.8,
        "period": 4.1,
        "back": 1.70158,
        "select_control_point": True,
        "select_left_handle": True,
        "select_right_handle": True,
    }


def _merged(old: Keys, new: Keys, first: float, last: float, only: int | None = None) -> Keys:
    """The old keys outside the range and the new ones, in order of time.

    If `only` keys of that type are to be replaced the others inside the range stay as well, instead of new ones there.
    """
    stays = ~_inside(old, first, last)
    if only is not None:
        stays |= old["type"] != only
    free = _apart(new["co"][:, 0], old["co"][stays, 0])
    order = np.argsort(np.concatenate((old["co"][stays, 0], new["co"][free, 0])), kind="stable")
    return {name: np.concatenate((column[stays], new[name][free]))[order] for name, column in old.items()}


def _apart(times: np.ndarray[Any, Any], others: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """Which of the times are none of the others, which are in order."""
    others = np.concatenate(([-np.inf], others, [np.inf]))
    after = np.searchsorted(others, times)
    apart: np.ndarray[Any, Any] = np.minimum(others[after] - times, times - others[after - 1]) > _SAME_FRAME
    return apart


def _inside(keys: Keys, first: float, last: float) -> np.ndarray[Any, Any]:
    """Which of the keys are inside the range."""
    times = keys["co"][:, 0]
    inside: np.ndarray[Any, Any] = (times >= first - _SAME_FRAME) & (times <= last + _SAME_FRAME)
    return inside


def _get(curve: FCurve) -> Keys:
    keys: Keys = {}
    for name, (width, dtype) in _ATTRIBUTES.items():
        flat: np.ndarray[Any, Any] = np.empty(len(curve.keyframe_points) * width, dtype)
        curve.keyframe_points.foreach_get(name, flat)
        keys[name] = flat.reshape(-1, 2) if width == 2 else flat
    return keys


def _put(curve: FCurve, keys: Keys, left_as_added: Collection[str] = ()) -> None:
    """Make these the curve's keys, bit by bit: no update(), which would move the handles of keys that are not ours."""
    points = curve.keyframe_points
    points.clear()
    points.add(len(keys["co"]))
    for name in _ATTRIBUTES:  # in their order
        if name not in left_as_added:
            points.foreach_set(name, keys[name].ravel())


@cache
def _number(prop: str, item: str) -> int:
    return int(Keyframe.bl_rna.properties[prop].enum_items[item].value)

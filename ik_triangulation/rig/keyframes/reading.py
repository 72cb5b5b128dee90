# SPDX-License-Identifier: GPL-3.0-or-later
"""Times and values of keys, and those made by hand that bakes have replaced, which the action keeps."""

from __future__ import annotations

import json
from bisect import bisect_left, bisect_right
from collections.abc import Collection, Mapping, Sequence
from contextlib import ExitStack
from hashlib import blake2b
from typing import Any, NamedTuple

import numpy as np
from bpy.types import Action, ActionChannelbag, FCurve, Keyframe, Object

from ...kinematics.arrays import Mask
from ..rotation import channel
from .arrays import SAME_FRAME, KeyArrays, enum_number, get_keys, in_range, merge_keys, packed, unpacked
from .channelbags import channelbag_of, curves_of, find_curves

GENERATED = "GENERATED"  # Blender's type of keyframes that were not made by hand

ByHand = dict[float, dict[int, float]]  # values of a bone's keyframes by frame and array index

_KEY = "ik_triangulation_replaced"  # the custom property of an action: a group with a text for each property
_NEVER = (np.inf, -np.inf)  # a range without keyframes


def values_before(armature: Object, path: str, frame: float) -> dict[int, float]:
    """Return the values of the last keyframes before `frame` on a property, by array index."""
    return {index: value for index, (_, value) in keys_beside(armature, path, frame, after=False).items()}


def keys_beside(armature: Object, path: str, frame: float, after: bool) -> dict[int, tuple[float, float]]:
    """Return time and value of the first keyframes `after` a frame, or the last before it, by array index."""
    found = {}
    for index, curve in find_curves(channelbag_of(armature), path).items():
        points = curve.keyframe_points  # in order of time
        first, last = curve.range()
        if not len(points) or (last <= frame + SAME_FRAME if after else first >= frame - SAME_FRAME):
            continue  # the usual case: nothing is beside what was baked
        if after:
            at = bisect_right(points, frame + SAME_FRAME, key=_time)
        else:
            at = bisect_left(points, frame - SAME_FRAME, key=_time) - 1
        if 0 <= at < len(points):
            found[index] = points[at].co.x, points[at].co.y
    return found


def _time(key: Keyframe) -> float:
    return float(key.co.x)


def key_frames(ob: Object, bone: str, first: float, last: float) -> list[float]:
    """Return the times of all keyframes of an object, or of its `bone`, from `first` to `last`, each time once."""
    path = ob.pose.bones[bone].path_from_id() if bone else ""
    curves = [curve for curve in curves_of(ob) if curve.data_path.startswith(path or "pose.bones") == bool(path)]
    times = [get_keys(curve, ["co"])["co"][:, 0] for curve in curves]
    found = np.unique(np.concatenate(times)) if times else np.empty(0)
    found = found[(found >= first) & (found <= last)]
    return [float(time) for time in found[np.diff(found, prepend=-np.inf) > SAME_FRAME]]


def made_by_hand(armature: Object, bones: Collection[str], first: float, last: float) -> dict[str, ByHand]:
    """Return the rotation keyframes of the bones from `first` to `last` that were not generated, in order of time."""
    found: dict[str, ByHand] = {}
    bag = channelbag_of(armature)
    for name in bones:
        bone = armature.pose.bones[name]
        for index, curve in find_curves(bag, bone.path_from_id(channel(bone)[0])).items():
            keys = get_keys(curve, ["type", "co"])
            ours = in_range(keys, first, last) & (keys["type"] != enum_number("type", GENERATED))
            for time, value in keys["co"][ours].tolist():
                found.setdefault(name, {}).setdefault(time, {})[index] = value
    return {name: dict(sorted(keys.items())) for name, keys in found.items()}


def is_baked(armature: Object, bones: Collection[str]) -> bool:
    """Tell whether a bake has left rotation keyframes on one of the bones, in the active action."""
    bag = channelbag_of(armature)
    for bone in (armature.pose.bones[name] for name in bones) if bag is not None else ():
        curves = find_curves(bag, bone.path_from_id(channel(bone)[0]))
        if any(generated(curve).any() for curve in curves.values()):
            return True
    return False


def generated(curve: FCurve) -> Mask:
    """Return a mask of the keyframes that a bake has made."""
    mask: Mask = get_keys(curve, ["type"])["type"] == enum_number("type", GENERATED)
    return mask


class Replaced(NamedTuple):
    """The state of a bone's rotation property before it was baked.

    `keys` are the keyframes made by hand that were replaced, by array index; `before` the channel values, in rotation
    `mode`, that the bone had by hand where it had no keyframes. `followed` are the keyframes that count instead for
    what is baked: those of a motion that was copied from another character.
    """

    mode: str
    before: tuple[float, ...]
    keys: dict[int, KeyArrays]
    followed: Mapping[int, KeyArrays] = {}

    def reference(self, index: int) -> KeyArrays | None:
        """Return the keyframes of a channel that bakes stay near; None without any."""
        return self.followed.get(index, self.keys.get(index))


def replaced_in(bag: ActionChannelbag | None, path: str) -> Replaced | None:
    """Return what was replaced of a property; None if that is not known."""
    texts = _texts(bag.id_data) if bag else None
    text = texts.get(_name(bag, path)) if texts else None
    try:
        kept = json.loads(text) if text else None
        if kept is None:
            return None
        found = [kept["keys"], kept.get("followed", {})]
        keys, followed = ({int(index): unpacked(each) for index, each in some.items()} for some in found)
        return Replaced(str(kept["mode"]), tuple(map(float, kept["before"])), keys, followed)
    except (AttributeError, LookupError, TypeError, ValueError):
        return None  # damaged


def put_replaced(bag: ActionChannelbag, path: str, kept: Replaced | None, undo: ExitStack) -> None:
    """Keep what was replaced of a property, or with None forget it; closing `undo` restores what was kept before."""
    texts = _texts(bag.id_data)
    before = texts.get(_name(bag, path)) if texts else None
    text = None
    if kept:
        keys, followed = (
            {str(index): packed(each) for index, each in some.items() if len(each["co"])}
            for some in (kept.keys, kept.followed)
        )
        more = {"followed": followed} if followed else {}
        text = json.dumps({"mode": kept.mode, "before": kept.before, "keys": keys, **more})
    if text != before:
        undo.callback(_put, bag.id_data, _name(bag, path), before)
        _put(bag.id_data, _name(bag, path), text)


def keep_replaced(
    bag: ActionChannelbag,
    path: str,
    before: Sequence[float],
    indices: Collection[int],
    ends: tuple[float, float],
    undo: ExitStack,
    mode: str = "",
) -> None:
    """Keep what a bake is about to replace of a property between the `ends` (times in the action).

    These are the keyframes made by hand of the channels in `indices`, added to those kept by earlier bakes, and the
    channel values `before`, in rotation `mode`. Closing `undo` restores what was kept before.
    """
    curves = find_curves(bag, path)
    baked = {index: generated(curve) for index, curve in curves.items()}
    known = replaced_in(bag, path) if any(mask.any() for mask in baked.values()) else None
    replaced, followed = {}, dict(known.followed) if known else {}
    for index in curves.keys() & indices:
        if not baked[index].all():
            own = get_keys(curves[index])
            going = ~baked[index] & in_range(own, *ends)
            if going.any():
                going_keys = {name: column[going] for name, column in own.items()}
                replaced[index] = together(going_keys, known.keys.get(index) if known else None)
                if index in followed:
                    followed[index] = together(going_keys, followed[index])
    if replaced or not known or known.before != tuple(before):
        keys = {**(known.keys if known else {}), **replaced}
        put_replaced(bag, path, Replaced(mode, tuple(before), keys, followed), undo)


def keep_followed(bag: ActionChannelbag, path: str, ends: tuple[float, float], undo: ExitStack) -> None:
    """Keep the generated keyframes of a property between the `ends` as the reference of later bakes.

    Closing `undo` restores what was kept before.
    """
    known = replaced_in(bag, path)
    if known is None:
        return
    followed = dict(known.followed)
    for index, curve in find_curves(bag, path).items():
        keys, before = get_keys(curve), known.reference(index)
        here = generated(curve) & in_range(keys, *ends)
        new = {name: column[here] for name, column in keys.items()}
        followed[index] = new if before is None else merge_keys(before, new, *ends)
    put_replaced(bag, path, known._replace(followed=followed), undo)


def before_bake(bag: ActionChannelbag, path: str, present: Sequence[float]) -> tuple[float, ...]:
    """Return the values of a property before any bake; the `present` ones if it was not baked."""
    known = replaced_in(bag, path)
    baked = known is not None and any(generated(curve).any() for curve in find_curves(bag, path).values())
    return known.before if known and baked else tuple(present)


def together(keys: KeyArrays, others: KeyArrays | None) -> KeyArrays:
    """Return keyframes and, where these leave room, others of the same channel; in order of time."""
    return keys if others is None else merge_keys(keys, others, *_NEVER)


def _texts(action: Action) -> Any:
    """Return the group of texts, or None."""
    found = action.get(_KEY)
    return found if hasattr(found, "to_dict") else None


def _name(bag: ActionChannelbag, path: str) -> str:
    """Return a name for a property of a slot: paths are too long for those of custom properties."""
    return blake2b(f"{bag.slot_handle}\n{path}".encode(), digest_size=16).hexdigest()


def _put(action: Action, name: str, text: str | None) -> None:
    if text is not None:
        if _texts(action) is None:
            action[_KEY] = {}
        action[_KEY][name] = text
    elif (texts := _texts(action)) is not None and name in texts:
        del texts[name]
        if not len(texts):
            del action[_KEY]

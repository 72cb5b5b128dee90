# SPDX-License-Identifier: GPL-3.0-or-later
"""Keys made by hand that bakes have replaced, and the pose before them, kept in the action that was written to."""

from __future__ import annotations

import json
from collections.abc import Collection, Sequence
from contextlib import ExitStack
from hashlib import blake2b
from typing import Any, NamedTuple

import numpy as np
from bpy.types import Action, ActionChannelbag

from .arrays import KeyArrays, get_keys, in_range, merge_keys
from .channelbags import find_curves
from .packed import packed, unpacked
from .reading import generated

_KEY = "ik_triangulation_replaced"  # the custom property of an action: a group with a text for each property
_NEVER = (np.inf, -np.inf)  # a range without keyframes


class Replaced(NamedTuple):
    """The state of a bone's rotation property before it was baked.

    `keys` are the keyframes made by hand that were replaced, by array index; `before` the channel values, in rotation
    `mode`, that the bone had by hand where it had no keyframes.
    """

    mode: str
    before: tuple[float, ...]
    keys: dict[int, KeyArrays]


def replaced_in(bag: ActionChannelbag | None, path: str) -> Replaced | None:
    """Return what was replaced of a property; None if that is not known."""
    texts = _texts(bag.id_data) if bag else None
    text = texts.get(_name(bag, path)) if texts else None
    try:
        kept = json.loads(text) if text else None
        if kept is None:
            return None
        keys = {int(index): unpacked(each) for index, each in kept["keys"].items()}
        return Replaced(str(kept["mode"]), tuple(map(float, kept["before"])), keys)
    except (AttributeError, LookupError, TypeError, ValueError):
        return None  # damaged


def put_replaced(bag: ActionChannelbag, path: str, kept: Replaced | None, undo: ExitStack) -> None:
    """Keep what was replaced of a property, or with None forget it; closing `undo` restores what was kept before."""
    texts = _texts(bag.id_data)
    before = texts.get(_name(bag, path)) if texts else None
    text = None
    if kept:
        keys = {str(index): packed(each) for index, each in kept.keys.items() if len(each["co"])}
        text = json.dumps({"mode": kept.mode, "before": kept.before, "keys": keys})
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
    replaced = {}
    for index in curves.keys() & indices:
        if not baked[index].all():
            own = get_keys(curves[index])
            going = ~baked[index] & in_range(own, *ends)
            if going.any():
                replaced[index] = together({name: column[going] for name, column in own.items()}, known, index)
    if replaced or not known or known.before != tuple(before):
        put_replaced(bag, path, Replaced(mode, tuple(before), {**(known.keys if known else {}), **replaced}), undo)


def before_bake(bag: ActionChannelbag, path: str, present: Sequence[float]) -> tuple[float, ...]:
    """Return the values of a property before any bake; the `present` ones if it was not baked."""
    known = replaced_in(bag, path)
    baked = known is not None and any(generated(curve).any() for curve in find_curves(bag, path).values())
    return known.before if known and baked else tuple(present)


def together(keys: KeyArrays, kept: Replaced | None, index: int) -> KeyArrays:
    """Return keyframes and, where these leave room, those that were replaced of that channel; in order of time."""
    others = kept.keys.get(index) if kept else None
    return keys if others is None else merge_keys(keys, others, *_NEVER)


def _texts(action: Action) -> Any:
    """Return the group of texts; None if there is none."""
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

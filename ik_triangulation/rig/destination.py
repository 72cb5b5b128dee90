# SPDX-License-Identifier: GPL-3.0-or-later
"""Destinations of a bake: the active action, a new one in its place, an NLA track or a layer; old keys are kept."""

from collections.abc import Collection, Sequence
from contextlib import ExitStack
from functools import partial
from typing import NamedTuple

import bpy
from bpy.types import Action, ActionChannelbag, Object, ViewLayer

from .keyframes import ensure_channelbag
from .layers import new_layer, new_strip, reopened_layer

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
            of_range = {"NLA_TRACK": _new_track, "LAYER": new_layer}.get(kind)
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


def _new_track(first: float, last: float, armature: Object, undo: ExitStack) -> ActionChannelbag:
    """Create an action on an NLA track above all others, from frame `first` to `last`; the active action stays."""
    if armature.animation_data is None:
        armature.animation_data_create()
        undo.callback(armature.animation_data_clear)
    return new_strip(f"{armature.name}Action", first, last, armature, undo)[0]

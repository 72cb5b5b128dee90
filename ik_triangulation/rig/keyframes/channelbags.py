# SPDX-License-Identifier: GPL-3.0-or-later
"""Channelbags: the F-curves that an action holds for one of its slots."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import ExitStack

import bpy
from bpy.types import ActionChannelbag, ActionChannelbagFCurves, FCurve, Object

# From Blender 5 on a new F-curve is put into its group at once.
_NAMES_GROUP = "group_name" in ActionChannelbagFCurves.bl_rna.functions["new"].parameters


def curves_of(armature: Object) -> Sequence[FCurve]:
    """Return the F-curves of the object's active action and slot; an empty sequence if it has none."""
    bag = channelbag_of(armature)
    return bag.fcurves if bag else ()


def channelbag_of(armature: Object) -> ActionChannelbag | None:
    """Return the channelbag of the object's active action and slot; None if there is none yet."""
    animation = armature.animation_data
    if animation is None or animation.action is None or animation.action_slot is None:
        return None
    strips = [strip for layer in animation.action.layers for strip in layer.strips]
    return strips[0].channelbag(animation.action_slot) if strips else None


def ensure_channelbag(armature: Object, undo: ExitStack) -> ActionChannelbag:
    """Return the channelbag of the object's active action and slot; create whatever is missing on the way to it.

    Closing `undo` removes what was created.
    """
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


def find_curves(bag: ActionChannelbag | None, path: str, count: int = 4) -> dict[int, FCurve]:
    """Return the F-curves that a channelbag has of a property with up to `count` array indices, by index."""
    found = {index: bag.fcurves.find(path, index=index) for index in range(count)} if bag else {}
    return {index: curve for index, curve in found.items() if curve is not None}


def new_curve(bag: ActionChannelbag, path: str, index: int, group: str, undo: ExitStack) -> FCurve:
    """Return a new F-curve in the channelbag's group of this name, which is created if it does not exist.

    Closing `undo` removes what was created.
    """
    found = bag.groups.get(group)
    curve = bag.fcurves.new(path, index=index, **({"group_name": group} if _NAMES_GROUP else {}))
    undo.callback(bag.fcurves.remove, curve)
    if found is None:
        found = curve.group if _NAMES_GROUP else bag.groups.new(group)
        undo.callback(bag.groups.remove, found)  # first, as Blender removes a group with its last F-curve
    if not _NAMES_GROUP:
        curve.group = found
    return curve

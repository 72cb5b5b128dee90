# SPDX-License-Identifier: GPL-3.0-or-later
"""Channelbags, the F-curves that an action holds for one of its slots, and the checks before keys are written there."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import ExitStack

import bpy
from bpy.types import Action, ActionChannelbag, ActionChannelbagFCurves, FCurve, Object, PoseBone

from ...errors import AnimationError
from ..rotation import PROPERTIES, channel
from .arrays import KeyArrays, get_keys, put_keys

# From Blender 5 on a new F-curve is put into its group at once.
_NAMES_GROUP = "group_name" in ActionChannelbagFCurves.bl_rna.functions["new"].parameters


def curves_of(armature: Object) -> Sequence[FCurve]:
    """Return the F-curves of the object's active action and slot; an empty sequence if it has none."""
    bag = channelbag_of(armature)
    return bag.fcurves if bag else ()


def curves_of_action(action: Action) -> list[FCurve]:
    """Return the F-curves of all slots of an action, in an order that a copy of it has too."""
    bags = [bag for layer in action.layers for strip in layer.strips for bag in strip.channelbags]
    return [curve for bag in bags for curve in bag.fcurves]


def channelbag_of(armature: Object) -> ActionChannelbag | None:
    """Return the channelbag of the object's active action and slot, or None."""
    animation = armature.animation_data
    if animation is None or animation.action is None or animation.action_slot is None:
        return None
    strips = [strip for layer in animation.action.layers for strip in layer.strips]
    return strips[0].channelbag(animation.action_slot) if strips else None


def ensure_channelbag(armature: Object, undo: ExitStack) -> ActionChannelbag:
    """Return the channelbag of the object's active action and slot; create what is missing.

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


def keep_curves(ob: Object, undo: ExitStack) -> None:
    """Have the closing of `undo` restore the keyframes of an object's action, and remove F-curves made since."""
    bag = ensure_channelbag(ob, undo)
    keys = {(curve.data_path, curve.array_index): get_keys(curve) for curve in bag.fcurves}
    undo.callback(_restore_curves, bag, keys, {group.name for group in bag.groups})


def _restore_curves(bag: ActionChannelbag, keys: Mapping[tuple[str, int], KeyArrays], groups: set[str]) -> None:
    for group in [group for group in bag.groups if group.name not in groups]:
        bag.groups.remove(group)  # first, as Blender removes a group with its last F-curve
    for curve in list(bag.fcurves):
        before = keys.get((curve.data_path, curve.array_index))
        if before is None:
            bag.fcurves.remove(curve)
        else:
            put_keys(curve, before)


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


def check_keys(armature: Object, bones: Collection[str], destination: str = "ACTION") -> list[str]:
    """Raise AnimationError if rotation keyframes of these bones cannot be written there or would not be played back.

    A new NLA track would not be played back where the active action keys the same bones. Returns warnings about what
    can be written but may not be what was meant. See rig/layers.py for each `destination`.
    """
    animation = armature.animation_data
    if animation is None or animation.action is None:
        return []
    name = armature.name
    if animation.use_tweak_mode and destination != "ACTION":
        raise AnimationError(f"'{name}' is in NLA tweak mode. Write to the active action, or leave tweak mode first.")
    if destination == "NLA_TRACK":
        posed = armature.pose.bones
        check_not_hidden(armature, {bone: [posed[bone].path_from_id(channel(posed[bone])[0])] for bone in bones})
        return []
    if destination == "LAYER":
        return []  # the active action goes below it
    check_action(armature, destination)
    return [warning for bone in bones for warning in _check_bone(armature.pose.bones[bone])]


def check_action(ob: Object, destination: str = "ACTION") -> None:
    """Raise AnimationError if the active action of an object cannot be keyed: it is linked, or its slot is shared."""
    animation, name = ob.animation_data, ob.name
    if animation is None or animation.action is None:
        return
    action, slot = animation.action, animation.action_slot
    if destination == "ACTION" and not action.is_editable:
        where = f" from '{action.library.name_full}'" if action.library else ""
        raise AnimationError(f"Action '{action.name}' is linked{where}. Assign a local action to '{name}'.")
    if slot is None and len(action.slots):
        raise AnimationError(f"Action '{action.name}' has no slot assigned to '{name}'. Assign one.")
    others = [user.name for user in slot.users() if user != ob] if slot else []
    if destination == "ACTION" and others:
        raise AnimationError(f"Slot '{slot.name_display}' also drives '{others[0]}'. Give '{name}' a slot of its own.")


def check_curves(curves: Sequence[FCurve], name: str) -> None:
    """Raise AnimationError if the F-curves cannot be keyed; `name` is what the message calls their property."""
    if any(map(is_stuck, curves)):
        raise AnimationError(f"The F-Curve of {name} is locked, muted or sampled. Unlock it.")


def check_unmodified(curves: Sequence[FCurve], name: str) -> None:
    """Raise AnimationError if F-curves have modifiers, as the keyframes are not all that they show."""
    if any(len(curve.modifiers) for curve in curves):
        raise AnimationError(f"The F-Curves of {name} have modifiers. Apply or remove them first.")


def is_stuck(curve: FCurve) -> bool:
    """Tell whether an F-curve or its group is locked or muted, or holds samples instead of keyframes."""
    group = curve.group
    return bool(curve.lock or curve.mute or len(curve.sampled_points) or (group and (group.lock or group.mute)))


def check_not_hidden(armature: Object, paths: Mapping[str, Sequence[str]]) -> None:
    """Raise AnimationError if the active action hides an NLA track with keys at these data paths, by the bones' names.

    Above the tracks is the action, whatever its influence and blending: keys of both would mix.
    """
    animation = armature.animation_data
    bag = channelbag_of(armature)
    if bag is None or animation is None or animation.action_influence == 0.0:
        return
    for bone, some in paths.items():
        if any(not is_muted(curve) for path in some for curve in find_curves(bag, path).values()):
            raise AnimationError(
                f"Action '{animation.action.name}' keys '{bone}' as well and hides a new NLA track. "
                "Push the action down in the NLA editor, or write to the active or a new action."
            )


def is_muted(curve: FCurve) -> bool:
    """Tell whether Blender leaves out an F-curve, as it is muted or empty, or its group is muted."""
    return bool(curve.mute or curve.is_empty or (curve.group and curve.group.mute))


def _check_bone(bone: PoseBone) -> Iterator[str]:
    used, _ = channel(bone)
    bag = channelbag_of(bone.id_data)
    keyed = {prop: find_curves(bag, bone.path_from_id(prop)).values() for prop in PROPERTIES}
    stuck = sum(is_stuck(curve) for curve in keyed.pop(used))
    if stuck:
        raise AnimationError(f"{stuck} F-Curves of '{bone.name}' are locked, muted or sampled. Unlock them.")
    for prop, found in keyed.items():
        if found:
            yield f"Bone '{bone.name}' has keys on {prop} but uses {bone.rotation_mode}."

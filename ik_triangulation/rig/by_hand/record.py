# SPDX-License-Identifier: GPL-3.0-or-later
"""The record of a bake, of limbs and bodies: its settings as JSON in the action that it was written to."""

from __future__ import annotations

import json
from contextlib import ExitStack
from typing import Any

import bpy
from bpy.types import ID, Action, ActionChannelbag, Object, Scene

from ...errors import AnimationError, TargetError
from ...settings import KeySettings, settings_of
from ..body import Contact, RigBody
from ..limb import LIMB_SETTINGS, PER_FRAME, Limb, means_surface, saved_settings
from ..timeline import Clock

_KEY = "ik_triangulation"  # the custom property of an action
_last: dict[str, Any] = {}  # the text that was stored last, and the records it was made of
_NAMED = {"pole_target": "objects", "obstacles": "collections"}  # settings that are data-blocks, and where those are
_OF_BODY = "hips", "hips_motion", "balance", "contact_fade", "floor", "heels", "thickness"
_OF_TIPS = "planted", "free_heads", "may_swing"
# Of records from before there were these settings.
_BEFORE: dict[str, Any] = {"floor": False, "heels": False, "thickness": 0.0}
# Of bakes before a bone could be matched, and before the edge of reach could be soft.
_BEFORE_LIMBS: dict[str, Any] = {"match": "TIP", "soft_edge": False}
_OF_KEYS = *settings_of(KeySettings), "smoothing", "within"
_DAMAGED = AttributeError, KeyError, TypeError, ValueError  # from reading a record that is not whole


def record_bake(
    limb: Limb,
    span: tuple[int, int, float],
    bag: ActionChannelbag,
    undo: ExitStack,
    body: dict[str, Any] | None = None,
) -> None:
    """Store the settings of a limb's bake in the action; `span` is its first frame, last frame and step.

    Of a limb that was baked as part of a `body` those of the body are stored as well.
    """
    settings = {name: _plain(getattr(limb, name)) for name in LIMB_SETTINGS if name not in limb.followed}
    if limb.on_surface and "shape" in settings:
        settings["shape"] = "SURFACE"
    record = {"target": limb.target.name, "bones": limb.in_order, "span": span, "settings": settings}
    _put_record(bag, limb.tip, record if body is None else {**record, "body": body}, undo)


def record_body(
    rig: RigBody, span: tuple[int, int, float], settings: KeySettings, bag: ActionChannelbag, undo: ExitStack
) -> None:
    """Store the settings of a body's bake in the action, at each of its tips; `span` is as for a limb."""
    body: dict[str, Any] = {name: getattr(rig, name) for name in _OF_BODY}
    body |= {"held": list(rig.held), "limbs": [limb.tip for limb in rig.limbs], "solved": sorted(rig.solved)}
    body |= {name: list(getattr(rig, name)) for name in _OF_TIPS}
    body["contacts"] = [[_plain(value) for value in contact] for contact in rig.contacts]
    body["keys"] = {name: getattr(settings, name) for name in _OF_KEYS}
    for limb in rig.limbs:
        record_bake(limb, span, bag, undo, body)
    for name in rig.held:
        _put_record(bag, name, {"span": span, "body": body}, undo)


def _put_record(bag: ActionChannelbag, tip: str, record: dict[str, Any], undo: ExitStack) -> None:
    """Store the record of a bake in the action at a tip bone; closing `undo` restores what was stored."""
    action, slot = bag.id_data, bag.slot.identifier
    texts = _texts(action)
    texts.setdefault(slot, {})[tip] = json.dumps(record)
    undo.callback(_put, action, action.get(_KEY))
    text = _json_object({slot: _json_object(tips) for slot, tips in texts.items()})
    _put(action, text)
    _last.update(text=text, texts=texts)


def recorded_span(armature: Object, tip: str) -> tuple[float, float] | None:
    """Return first and last frame of the last bake of the limb into the active action and slot; None without one."""
    record = _record_of(armature, tip)
    span = record.get("span") if isinstance(record, dict) else None
    whole = isinstance(span, list) and len(span) == 3 and all(isinstance(each, int | float) for each in span)
    return (span[0], span[1]) if whole else None


def corrected_times(rig: RigBody, scene: Scene) -> tuple[float, float] | None:
    """Return the times in the action between which keys made by hand correct the last bake of the body."""
    spans = [span for tip in rig.tips if (span := recorded_span(rig.armature, tip)) is not None]
    if not spans:
        return None
    clock = Clock(scene, rig.armature)
    return min(clock.time(start) for start, _ in spans), max(clock.time(end) for _, end in spans)


def _record_of(armature: Object, tip: str) -> Any:
    """Return the record of the last bake of a limb into the active action and slot; None without one."""
    animation = armature.animation_data
    action = animation.action if animation else None
    slot = animation.action_slot.identifier if action and animation.action_slot else None
    return _bakes(action).get(slot, {}).get(tip) if action else None


def recorded_bake(armature: Object, tip: str, scene: Scene) -> tuple[Limb, tuple[int, int, float], list[str]]:
    """Return the limb that was last baked into the active action and slot, its span, and notes on renamed data-blocks.

    Raises AnimationError if no bake is recorded, and the IKErrors of Limb for data-blocks that no longer exist.
    """
    record = _record_of(armature, tip)
    if record is None:
        raise AnimationError(f"No bake of the limb to '{tip}' is kept with the active action. Bake it first.")
    try:
        start, end, step = record["span"]
        name, bones = record["target"], list(record["bones"])
        settings = {name: value for name, value in record["settings"].items() if name in LIMB_SETTINGS}
    except _DAMAGED as error:
        raise _damaged_error(armature) from error
    settings = _BEFORE_LIMBS | settings
    notes: list[str] = []
    stored = getattr(armature.pose.bones.get(tip), "ik_triangulation", None)
    for setting, where in _NAMED.items():
        if settings.get(setting) is not None:
            now = getattr(stored, setting, None)
            settings[setting] = _data_block(settings[setting], getattr(bpy.data, where), now, notes)
    settings["destination"] = "ACTION"
    if stored is not None:  # settings that followed their animation do so again
        saved = saved_settings(stored)
        left_open = {name: saved[name] for name in PER_FRAME if name not in settings}
        settings |= {**left_open, "left_open": left_open}
    target = _data_block(name, scene.objects, getattr(stored, "target", None), notes)
    if settings.get("shape") == "AUTO" and means_surface("AUTO", target, settings.get("subtarget", "")):
        settings["shape"] = "POINT"  # baked before Automatic meant the surface of a mesh: that is kept by its name
    return Limb.from_bones(armature, bones, target, **settings), (start, end, step), notes


def is_recorded_body(armature: Object, tip: str) -> bool:
    """Tell whether the last bake into the active action and slot of the limb that ends in `tip` was that of a body."""
    record = _record_of(armature, tip)
    return isinstance(record, dict) and "body" in record


def recorded_body(
    armature: Object, tip: str, scene: Scene
) -> tuple[RigBody, tuple[int, int, float], dict[str, Any], list[str]]:
    """Return the body that was last baked into the active action, its span, the settings of its keys, and notes.

    Raises AnimationError if what is kept cannot be read, and what recorded_bake() and RigBody do.
    """
    record = _record_of(armature, tip)
    if record is None:
        raise AnimationError(f"No bake of the body of '{tip}' is kept with the active action. Bake it first.")
    try:
        body, (start, end, step) = dict(record["body"]), record["span"]
        tips, held = [str(name) for name in body["limbs"]], tuple(body["held"])
        body = _BEFORE | body
        more = {name: body[name] for name in _OF_BODY} | {"solved": frozenset(body["solved"])}
        more |= {name: tuple(map(str, body.get(name, ()))) for name in _OF_TIPS}  # none before
        contacts = [Contact(*contact) for contact in body["contacts"]]  # with supports by their names
        settings = {name: value for name, value in body["keys"].items() if name in _OF_KEYS}
    except _DAMAGED as error:
        raise _damaged_error(armature) from error
    limbs, notes = [], list[str]()
    more["contacts"] = tuple(
        each._replace(support=_data_block(each.support, scene.objects, None, notes)) if each.support else each
        for each in contacts
    )
    for name in tips:
        limb, _, said = recorded_bake(armature, name, scene)
        limbs.append(limb)
        notes += said
    settings["destination"] = "ACTION"
    return RigBody(armature, tuple(limbs), held, **more), (start, end, step), settings, list(dict.fromkeys(notes))


def _damaged_error(armature: Object) -> AnimationError:
    name = armature.animation_data.action.name
    return AnimationError(f"What action '{name}' keeps of its bakes is damaged. Bake again.")


def _data_block(name: str, among: Any, now: ID | None, notes: list[str]) -> ID:
    """Return a data-block by its name, or with a note the one that the limb has `now`, as it may have been renamed.

    Raises TargetError if neither exists.
    """
    found = among.get(name)
    if found is None and now and among.get(now.name) == now:
        notes.append(f"'{name}', which the last bake was made with, is not there: '{now.name}' took its place.")
        return now
    if found is None:
        raise TargetError(f"'{name}', which the last bake was made with, is not there. Bake again.")
    return found


def _plain(value: Any) -> Any:
    """Return a setting's value for JSON: data-blocks by their names."""
    return value.name if isinstance(value, ID) else value


def _bakes(action: Action) -> dict[str, dict[str, Any]]:
    """Return all records of an action, by slot and tip bone; none if they cannot be read."""
    try:
        kept = json.loads(action.get(_KEY, "{}"))
    except (TypeError, ValueError):
        return {}
    return kept if isinstance(kept, dict) and all(isinstance(bakes, dict) for bakes in kept.values()) else {}


def _texts(action: Action) -> dict[str, dict[str, str]]:
    """Return all records of an action as JSON, by slot and tip bone: each is made once, however many limbs follow."""
    if _last and _last["text"] == action.get(_KEY):
        return {slot: dict(tips) for slot, tips in _last["texts"].items()}
    return {slot: {tip: json.dumps(bake) for tip, bake in bakes.items()} for slot, bakes in _bakes(action).items()}


def _json_object(members: dict[str, str]) -> str:
    """Return an object of JSON of members that are JSON."""
    return "{" + ", ".join(f"{json.dumps(name)}: {text}" for name, text in members.items()) + "}"


def _put(action: Action, text: str | None) -> None:
    if text is not None:
        action[_KEY] = text
    elif _KEY in action:
        del action[_KEY]

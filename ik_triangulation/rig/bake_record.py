# SPDX-License-Identifier: GPL-3.0-or-later
"""The record of a bake's settings, stored as JSON in the action it was written to, by slot and tip bone."""

from __future__ import annotations

import json
from contextlib import ExitStack
from typing import Any

import bpy
from bpy.types import ID, Action, ActionChannelbag, Object, Scene

from ..errors import AnimationError, TargetError
from .animated import PER_FRAME
from .limb import LIMB_SETTINGS, Limb, means_surface, saved_settings

_KEY = "ik_triangulation"  # the custom property of an action
_last: dict[str, Any] = {}  # the text that was stored last, and the records it was made of
_NAMED = {"pole_target": "objects", "obstacles": "collections"}  # settings that are data-blocks, and where those are


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
    put_record(bag, limb.tip, record if body is None else {**record, "body": body}, undo)


def put_record(bag: ActionChannelbag, tip: str, record: dict[str, Any], undo: ExitStack) -> None:
    """Store the record of a bake in the action at a tip bone; closing `undo` restores what was stored."""
    action, slot = bag.id_data, bag.slot.identifier
    texts = _texts(action)
    texts.setdefault(slot, {})[tip] = json.dumps(record)
    undo.callback(_put, action, action.get(_KEY))
    text = _object({slot: _object(tips) for slot, tips in texts.items()})
    _put(action, text)
    _last.update(text=text, texts=texts)


def recorded_span(armature: Object, tip: str) -> tuple[float, float] | None:
    """Return first and last frame of the last bake of the limb into the active action and slot; None without one."""
    record = record_of(armature, tip)
    span = record.get("span") if isinstance(record, dict) else None
    whole = isinstance(span, list) and len(span) == 3 and all(isinstance(each, int | float) for each in span)
    return (span[0], span[1]) if whole else None


def record_of(armature: Object, tip: str) -> Any:
    """Return the record of the last bake of a limb into the active action and slot; None without one."""
    animation = armature.animation_data
    action = animation.action if animation else None
    slot = animation.action_slot.identifier if action and animation.action_slot else None
    return _bakes(action).get(slot, {}).get(tip) if action else None


def recorded_bake(armature: Object, tip: str, scene: Scene) -> tuple[Limb, tuple[int, int, float], list[str]]:
    """Return the limb that was last baked into the active action and slot, its span, and notes on renamed data-blocks.

    Raises AnimationError if no bake is recorded, and the IKErrors of Limb for data-blocks that no longer exist.
    """
    record = record_of(armature, tip)
    if record is None:
        raise AnimationError(f"No bake of the limb to '{tip}' is kept with the active action. Bake it first.")
    try:
        start, end, step = record["span"]
        name, bones = record["target"], list(record["bones"])
        settings = {name: value for name, value in record["settings"].items() if name in LIMB_SETTINGS}
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        name = armature.animation_data.action.name
        raise AnimationError(f"What action '{name}' keeps of its bakes is damaged. Bake again.") from error
    notes: list[str] = []
    stored = getattr(armature.pose.bones.get(tip), "ik_triangulation", None)
    for setting, where in _NAMED.items():
        if settings.get(setting) is not None:
            now = getattr(stored, setting, None)
            settings[setting] = _named(settings[setting], getattr(bpy.data, where), now, notes)
    settings["destination"] = "ACTION"
    if stored is not None:  # settings that followed their animation do so again
        saved = saved_settings(stored)
        left_open = {name: saved[name] for name in PER_FRAME if name not in settings}
        settings |= {**left_open, "left_open": left_open}
    target = _named(name, scene.objects, getattr(stored, "target", None), notes)
    if settings.get("shape") == "AUTO" and means_surface("AUTO", target, settings.get("subtarget", "")):
        settings["shape"] = "POINT"  # baked before Automatic meant the surface of a mesh: that is kept by its name
    return Limb.from_bones(armature, bones, target, **settings), (start, end, step), notes


def _named(name: str, among: Any, now: ID | None, notes: list[str]) -> ID:
    """Return the data-block of that name; otherwise the one that the limb has `now`, as it may be renamed, with a note.

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


def _object(members: dict[str, str]) -> str:
    """Return an object of JSON of members that are JSON."""
    return "{" + ", ".join(f"{json.dumps(name)}: {text}" for name, text in members.items()) + "}"


def _put(action: Action, text: str | None) -> None:
    if text is not None:
        action[_KEY] = text
    elif _KEY in action:
        del action[_KEY]

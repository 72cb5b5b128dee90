# SPDX-License-Identifier: GPL-3.0-or-later
"""The record of a body's bake, stored in the action with those of its limbs."""

from __future__ import annotations

from contextlib import ExitStack
from typing import Any

from bpy.types import ActionChannelbag, Object, Scene

from ..errors import AnimationError
from ..settings import KeySettings, settings_of
from .bake_record import put_record, record_bake, record_of, recorded_bake
from .body import RigBody
from .contacts import Contact

_OF_BODY = "hips", "hips_motion", "balance", "contact_fade", "floor"
_BEFORE: dict[str, Any] = {"floor": False}  # of records from before there were these settings
_OF_KEYS = *settings_of(KeySettings), "smoothing", "within"


def record_body(
    rig: RigBody, span: tuple[int, int, float], settings: KeySettings, bag: ActionChannelbag, undo: ExitStack
) -> None:
    """Store the settings of a body's bake in the action, at each of its tips; `span` is as for a limb."""
    body: dict[str, Any] = {name: getattr(rig, name) for name in _OF_BODY}
    body |= {"held": list(rig.held), "limbs": [limb.tip for limb in rig.limbs], "solved": sorted(rig.solved)}
    body["planted"] = list(rig.planted)
    body["contacts"] = [list(contact) for contact in rig.contacts]
    body["keys"] = {name: getattr(settings, name) for name in _OF_KEYS}
    for limb in rig.limbs:
        record_bake(limb, span, bag, undo, body)
    for name in rig.held:
        put_record(bag, name, {"span": span, "body": body}, undo)


def is_recorded_body(armature: Object, tip: str) -> bool:
    """Tell whether the last bake into the active action and slot of the limb that ends in `tip` was that of a body."""
    record = record_of(armature, tip)
    return isinstance(record, dict) and "body" in record


def recorded_body(
    armature: Object, tip: str, scene: Scene
) -> tuple[RigBody, tuple[int, int, float], dict[str, Any], list[str]]:
    """Return the body that was last baked into the active action, its span, the settings of its keys, and notes.

    Raises AnimationError if what is kept cannot be read, and what recorded_bake() and RigBody do.
    """
    record = record_of(armature, tip)
    if record is None:
        raise AnimationError(f"No bake of the body of '{tip}' is kept with the active action. Bake it first.")
    try:
        body, (start, end, step) = dict(record["body"]), record["span"]
        tips, held = [str(name) for name in body["limbs"]], tuple(body["held"])
        body = _BEFORE | body
        more = {name: body[name] for name in _OF_BODY} | {"solved": frozenset(body["solved"])}
        more["planted"] = tuple(map(str, body.get("planted", ())))  # bakes of earlier versions had none
        more["contacts"] = tuple(Contact(*contact) for contact in body["contacts"])
        settings = {name: value for name, value in body["keys"].items() if name in _OF_KEYS}
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        raise AnimationError(
            f"What the action of '{armature.name}' keeps of its bakes is damaged. Bake again."
        ) from error
    limbs, notes = [], list[str]()
    for name in tips:
        limb, _, said = recorded_bake(armature, name, scene)
        limbs.append(limb)
        notes += said
    settings["destination"] = "ACTION"
    return RigBody(armature, tuple(limbs), held, **more), (start, end, step), settings, list(dict.fromkeys(notes))

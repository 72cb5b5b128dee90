# SPDX-License-Identifier: GPL-3.0-or-later
"""Saved settings of an armature and its bones, kept so that they can be restored."""

from __future__ import annotations

from contextlib import ExitStack
from typing import Any

from bpy.types import Object, PropertyGroup

_OF_OBJECT = ("ik_triangulation",)
_OF_BONE = ("ik_triangulation", "ik_triangulation_joint", "ik_triangulation_posed")
_NEVER_SET = object()


def keep_settings(armature: Object, undo: ExitStack) -> None:
    """Have the closing of `undo` restore the extension's settings of an armature and of all its bones."""
    bones = armature.pose.bones if armature.pose else ()
    owners = [(armature, _OF_OBJECT), *((bone, _OF_BONE) for bone in bones)]
    groups = [group for owner, names in owners for name in names if (group := getattr(owner, name, None)) is not None]
    undo.callback(armature.update_tag)
    for group, values in [(group, _read(group)) for group in groups]:
        undo.callback(_write, group, values)


def _read(group: PropertyGroup) -> dict[str, Any]:
    """Return the properties of a group that were ever set, by name; items of lists as such dictionaries."""
    found: dict[str, Any] = {}
    for name, prop in group.bl_rna.properties.items():
        if name == "rna_type" or not group.is_property_set(name):
            continue
        value = getattr(group, name)
        if prop.type == "COLLECTION":
            found[name] = [_read(item) for item in value]
        elif getattr(prop, "is_array", False):
            found[name] = tuple(value)
        else:
            found[name] = value
    return found


def _write(group: PropertyGroup, values: dict[str, Any]) -> None:
    """Restore what _read() returned; what is right already is not set, as that would have Blender evaluate it."""
    now = _read(group)
    for name, prop in group.bl_rna.properties.items():
        before, value = values.get(name, _NEVER_SET), now.get(name, _NEVER_SET)
        if name == "rna_type" or value == before:
            continue
        if before is _NEVER_SET:
            group.property_unset(name)
        elif prop.type == "COLLECTION":
            items = getattr(group, name)
            items.clear()
            for each in before:
                _write(items.add(), each)
        else:
            setattr(group, name, before)

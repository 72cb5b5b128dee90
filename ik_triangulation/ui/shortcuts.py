# SPDX-License-Identifier: GPL-3.0-or-later
"""Shortcuts in Pose Mode, which a user finds and changes among those of Blender."""

from typing import Any

import bpy
from bpy.types import KeyMap, KeyMapItem

_KEYMAP = "Pose"
_keys: dict[str, tuple[KeyMap, KeyMapItem]] = {}  # by the name that the operator is called with


def add_shortcut(operator: str, name: str, key: str, active: bool = True, **modifiers: Any) -> None:
    """Add a shortcut that calls an operator with a `name`; one that is not `active` waits to be switched on."""
    keyconfig = bpy.context.window_manager.keyconfigs.addon
    if keyconfig is None:  # in the background
        return
    keymap = keyconfig.keymaps.new(name=_KEYMAP, space_type="EMPTY")
    item = keymap.keymap_items.new(operator, key, "PRESS", **modifiers)
    item.properties.name, item.active = name, active
    _keys[name] = keymap, item


def remove_shortcut(name: str) -> None:
    """Remove a shortcut, and the keymap if it was the last one in it."""
    if name not in _keys:
        return
    keymap, item = _keys.pop(name)
    keymap.keymap_items.remove(item)
    if not keymap.keymap_items:
        bpy.context.window_manager.keyconfigs.addon.keymaps.remove(keymap)


def shortcut_of_user(name: str) -> KeyMapItem | None:
    """Return a shortcut as the user has it, with the changes made to it; None in the background."""
    keyconfig = bpy.context.window_manager.keyconfigs.user
    keymap = keyconfig.keymaps.get(_KEYMAP) if keyconfig else None
    items = keymap.keymap_items if keymap else ()
    return next((item for item in items if item.properties and getattr(item.properties, "name", "") == name), None)

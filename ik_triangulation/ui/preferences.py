# SPDX-License-Identifier: GPL-3.0-or-later
"""The preferences of the extension, what only those who study methods want to see, and its shortcuts in Pose Mode.

Users find and change the shortcuts among those of Blender; that of the pie menu is off until it is switched on.
"""

from typing import Any

import bpy
from bpy.props import BoolProperty
from bpy.types import AddonPreferences, Context, KeyMap, KeyMapItem, PropertyGroup

from ..items import WHOLE_SOLVERS

ADDON = __package__.rsplit(".", 2)[0]  # the extension, around this package


class IKT_preferences(AddonPreferences):
    """Choices of a user, for all files."""

    bl_idname = ADDON

    research_tools: BoolProperty(
        name="Research Tools",
        description="Show the comparison of solvers, maps, and the settings of published methods also for Natural",
        default=False,
    )

    def draw(self, context: Context) -> None:
        self.layout.prop(self, "research_tools")
        pie = shortcut_of_user("VIEW3D_MT_ik_triangulation_pie")
        if pie is not None:
            row = self.layout.row()
            row.prop(pie, "active", text="Pie Menu in Pose Mode")
            row.prop(pie, "type", text="", full_event=True)


def has_research_tools(context: Context) -> bool:
    """Tell whether the comparison of solvers and maps are shown."""
    addon = context.preferences.addons.get(ADDON)
    return addon is not None and addon.preferences is not None and addon.preferences.research_tools


def shows_all(context: Context, limb: PropertyGroup) -> bool:
    """Tell whether the settings are shown that matter to published methods."""
    return limb.solver not in WHOLE_SOLVERS or has_research_tools(context)


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


register, unregister = bpy.utils.register_classes_factory((IKT_preferences,))

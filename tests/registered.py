# SPDX-License-Identifier: GPL-3.0-or-later
"""Everything that an add-on can leave behind in Blender."""

from collections import Counter

import bpy


def snapshot() -> dict[str, object]:
    """Types, properties, operators, handlers and keys, in a form that can be compared."""
    handlers = bpy.app.handlers
    lists = [name for name in dir(handlers) if isinstance(getattr(handlers, name), list)]
    types = {name: cls for name in dir(bpy.types) if hasattr(cls := getattr(bpy.types, name), "bl_rna")}
    return {
        "types": set(types),
        "properties": {f"{name}.{key}" for name, cls in types.items() for key in cls.bl_rna.properties.keys()},
        "operators": {f"{module}.{name}" for module in dir(bpy.ops) for name in dir(getattr(bpy.ops, module))},
        "handlers": {name: Counter(getattr(handlers, name)) for name in lists},
        "keymaps": {
            keymap.name: len(keymap.keymap_items) for keymap in bpy.context.window_manager.keyconfigs.addon.keymaps
        },
    }

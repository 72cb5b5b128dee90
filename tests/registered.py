# SPDX-License-Identifier: GPL-3.0-or-later
"""Everything that an add-on can leave behind in Blender, and the classes and properties that are ours."""

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


def our_types(cls=bpy.types.bpy_struct):
    """Our registered classes. bpy.types lists no property groups, so this goes through Python's own list."""
    for kind in cls.__subclasses__():
        if kind.__module__.startswith("ik_triangulation.") and getattr(kind, "is_registered", False):
            yield kind
        yield from our_types(kind)


def described(cls):
    """What Blender says about a class: an operator's name, description and properties are with bpy.ops."""
    if not issubclass(cls, bpy.types.Operator):
        return cls.bl_rna
    module, name = cls.bl_idname.split(".")
    return getattr(getattr(bpy.ops, module), name).get_rna_type()


def our_properties():
    """Our classes' own properties, without those that Blender gives every class of the kind."""
    for cls in our_types():
        given = {key for base in cls.__mro__[1:] if hasattr(base, "bl_rna") for key in base.bl_rna.properties.keys()}
        for prop in described(cls).properties:
            if prop.identifier not in given:
                yield f"{cls.__name__}.{prop.identifier}", prop

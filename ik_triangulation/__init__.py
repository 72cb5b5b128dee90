# SPDX-License-Identifier: GPL-3.0-or-later
"""IK Triangulation: inverse kinematics that leaves rotation keys on the artist's own bones.

The kinematic core and the solvers need only mathutils and can be imported without Blender's data.
"""

_MODULES = (
    "settings",
    "map_properties",
    "presets",
    "task",
    "live",
    "overlay",
    "duel",
    "operators",
    "panels",
    "manual",
    "cli",
)


def register() -> None:
    from importlib import import_module

    for name in _MODULES:
        import_module(f".{name}", __package__).register()


def unregister() -> None:
    from importlib import import_module

    for name in reversed(_MODULES):
        import_module(f".{name}", __package__).unregister()

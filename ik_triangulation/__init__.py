# SPDX-License-Identifier: GPL-3.0-or-later
"""IK Triangulation: inverse kinematics that leaves rotation keys on the artist's own bones.

The kinematic core and the solvers need only mathutils and numpy and can be imported without Blender's data.
"""

_ROOMS = ("settings", "presets", "maps", "jobs", "ui", "cli")  # those that register something, in this order


def register() -> None:
    from importlib import import_module

    for name in _ROOMS:
        import_module(f".{name}", __package__).register()


def unregister() -> None:
    from importlib import import_module

    for name in reversed(_ROOMS):
        import_module(f".{name}", __package__).unregister()

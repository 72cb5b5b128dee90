# SPDX-License-Identifier: GPL-3.0-or-later
"""Metric maps and reach volumes of a chain, and their pictures. Needs mathutils and numpy, nothing else of Blender."""


def register() -> None:
    from . import properties  # the maps themselves can be made without Blender's data

    properties.register()


def unregister() -> None:
    from . import properties

    properties.unregister()

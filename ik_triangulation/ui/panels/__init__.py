# SPDX-License-Identifier: GPL-3.0-or-later
"""The sidebar's Animation tab: draws settings, computes nothing."""

from bpy.utils import register_submodule_factory

# The main panel, that of the limbs, holds the others, which stand in it in this order.
_PANELS = (
    "lists",
    "presets",
    "limbs",
    "result",
    "goal",
    "joints",
    "solver",
    "bake",
    "reach",
    "analyse",
    "duel",
    "overlay",
)

register, unregister = register_submodule_factory(__name__, _PANELS)

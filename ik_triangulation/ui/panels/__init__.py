# SPDX-License-Identifier: GPL-3.0-or-later
"""Panels in the sidebar's Animation tab: they draw settings and compute nothing."""

from bpy.utils import register_submodule_factory

# The main panel, `limbs`, contains the others, which appear in it in this order.
_MODULES = (
    "lists",
    "presets",
    "limbs",
    "result",
    "goal",
    "posture",
    "joints",
    "solver",
    "bake",
    "reach",
    "analyse",
    "comparison",
    "overlay",
)

register, unregister = register_submodule_factory(__name__, _MODULES)

# SPDX-License-Identifier: GPL-3.0-or-later
"""The sidebar's Animation tab: draws settings, computes nothing."""

from bpy.utils import register_submodule_factory

register, unregister = register_submodule_factory(__name__, ("presets", "sidebar", "analyse"))

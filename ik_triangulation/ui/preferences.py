# SPDX-License-Identifier: GPL-3.0-or-later
"""The preferences of the extension: what only those who study methods want to see, and the pie menu's shortcut."""

import bpy
from bpy.props import BoolProperty
from bpy.types import AddonPreferences, Context, PropertyGroup

from ..items import WHOLE_SOLVERS
from .shortcuts import shortcut_of_user

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


register, unregister = bpy.utils.register_classes_factory((IKT_preferences,))

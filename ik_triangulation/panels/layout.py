# SPDX-License-Identifier: GPL-3.0-or-later
"""What the panels of the extension share: where they are, and how they lay out."""

from textwrap import wrap

from bpy.types import Context, UILayout

from ..blender.context import active_bone

_LETTER = 7.0  # pixels at 1x interface scale that a letter of a label takes, generously
_USUAL = 260.0  # pixels of a sidebar
NARROW = 230.0  # pixels of one in which there is no room for all columns
WIDE = 320.0  # pixels of one in which there is room for more columns


class SidebarPanel:
    """Where all panels of the extension are, and how they lay out."""

    bl_space_type = "VIEW_3D"
    bl_region_type = "UI"
    bl_category = "Animation"

    def column(self) -> UILayout:
        """Labels left, values right, no key buttons."""
        layout = self.layout
        layout.use_property_split = True
        layout.use_property_decorate = False
        return layout.column()


class LimbPanel(SidebarPanel):
    """A part of the main panel, there only with an active bone."""

    bl_parent_id = "VIEW3D_PT_ik_triangulation"

    @classmethod
    def poll(cls, context: Context) -> bool:
        return active_bone(context) is not None


def width(context: Context) -> float:
    """Width of the sidebar [pixels at 1x interface scale]."""
    scale = context.preferences.system.ui_scale or 1.0  # without a window it is 0
    return context.region.width / scale if context.region else _USUAL


def paragraph(column: UILayout, text: str, context: Context, icon: str = "NONE") -> None:
    """A text in as many lines as it takes in this width."""
    lines = column.column(align=True)
    lines.scale_y = 0.8
    for number, line in enumerate(wrap(text, max(20, int(width(context) / _LETTER)))):
        lines.label(text=line, icon="BLANK1" if number and icon != "NONE" else icon)

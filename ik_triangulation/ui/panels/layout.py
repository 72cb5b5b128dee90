# SPDX-License-Identifier: GPL-3.0-or-later
"""What the panels of the extension share: where they are, and how they lay out."""

from textwrap import wrap

from bpy.types import Context, UILayout, bpy_struct

from ..context import active_bone

_LETTER = 5.6  # pixels at 1x interface scale that a letter of a label takes, generously
_TABS = 60.0  # pixels that the tabs and the margins take
_ICON = 20.0
_USUAL = 260.0  # pixels of a sidebar
_NARROW = 230.0  # pixels of one in which there is no room for all columns
_WIDE = 320.0  # pixels of one in which there is room for more columns


class SidebarPanel:
    """Where all panels of the extension are, and how they lay out."""

    bl_space_type = "VIEW_3D"
    bl_region_type = "UI"
    bl_category = "Animation"

    def column(self, context: Context) -> UILayout:
        """Labels left, values right, no key buttons; in a narrow sidebar the labels are inside the fields."""
        layout = self.layout
        layout.use_property_split = not is_narrow(context)
        layout.use_property_decorate = False
        return layout.column()


class LimbPanel(SidebarPanel):
    """A part of the main panel, there only with an active bone."""

    bl_parent_id = "VIEW3D_PT_ik_triangulation"

    @classmethod
    def poll(cls, context: Context) -> bool:
        return active_bone(context) is not None


def is_narrow(context: Context) -> bool:
    """Whether the sidebar has no room for all columns, nor for labels beside their fields."""
    return _width(context) <= _NARROW


def is_wide(context: Context) -> bool:
    """Whether the sidebar has room for more columns than it has as Blender opens it."""
    return _width(context) > _WIDE


def _width(context: Context) -> float:
    """Width of the sidebar [pixels at 1x interface scale]."""
    scale = context.preferences.system.ui_scale or 1.0  # without a window it is 0
    return context.region.width / scale if context.region else _USUAL


def choice(column: UILayout, data: bpy_struct, name: str, context: Context) -> None:
    """A property whose value and label need room: in a narrow sidebar the label stands above."""
    if is_narrow(context):
        column.label(text=f"{data.bl_rna.properties[name].name}:")
        column.prop(data, name, text="")
    else:
        column.prop(data, name)


def paragraph(column: UILayout, text: str, context: Context, icon: str = "NONE") -> None:
    """A text in as many lines as it takes in this width."""
    lines = column.column(align=True)
    lines.scale_y = 0.8
    room = _width(context) - _TABS - (_ICON if icon != "NONE" else 0.0)
    for number, line in enumerate(wrap(text, max(16, int(room / _LETTER)))):
        lines.label(text=line, icon="BLANK1" if number and icon != "NONE" else icon)

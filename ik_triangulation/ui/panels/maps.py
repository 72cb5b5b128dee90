# SPDX-License-Identifier: GPL-3.0-or-later
"""Maps: the space that a limb reaches, maps of the cost of reaching, and the legends of their colours."""

import bpy
from bpy.types import Context, Panel, UILayout

from ...rig.map_objects import PICTURE, VOLUME, legend_of, shown_map
from ..context import active_bone
from ..operators.map import (
    POSE_OT_ik_triangulation_map,
    POSE_OT_ik_triangulation_map_remove,
    POSE_OT_ik_triangulation_map_volume,
    POSE_OT_ik_triangulation_show_reach,
)
from .advanced import AdvancedPanel
from .layout import paragraph

_METRIC, _SHARE = slice(None, -1), slice(-1, None)  # lines of the legend of a volume


class VIEW3D_PT_ik_triangulation_maps(AdvancedPanel, Panel):
    bl_label = "Maps"
    bl_options = {"DEFAULT_CLOSED"}

    def draw(self, context: Context) -> None:
        column = self.column(context)
        settings, bone = context.scene.ik_triangulation_map, active_bone(context)
        row = _removable(column, bone, VOLUME)
        row.operator(POSE_OT_ik_triangulation_show_reach.bl_idname, icon="SHADING_RENDERED")
        _draw_legend(column, bone, VOLUME, context, _SHARE)
        column.separator()
        for name in ("metric", "scale", "tolerance"):
            column.prop(settings, name)
        column.separator()
        for name in ("solver", "finish", "iterations", "size"):
            column.prop(settings, name)
        _removable(column, bone, PICTURE).operator(POSE_OT_ik_triangulation_map.bl_idname, icon="IMAGE_DATA")
        _draw_legend(column, bone, PICTURE, context)
        column.separator()
        column.prop(settings, "resolution")
        _removable(column, bone, VOLUME).operator(POSE_OT_ik_triangulation_map_volume.bl_idname, icon="VOLUME_DATA")
        _draw_legend(column, bone, VOLUME, context, _METRIC)


def _removable(column: UILayout, bone: bpy.types.PoseBone, kind: str) -> UILayout:
    """Return a row for a button, with another one after it that removes what is shown of this kind, if it is."""
    row = column.row(align=True)
    button = row.row(align=True)
    if shown_map(bone.id_data, bone.name, kind):
        remove = row.operator(POSE_OT_ik_triangulation_map_remove.bl_idname, text="", icon="X")
        remove.kind = "REACH" if kind == VOLUME else "MAP"
    return button


def _draw_legend(
    column: UILayout, bone: bpy.types.PoseBone, kind: str, context: Context, lines: slice = slice(None)
) -> None:
    """Draw the legend of the limb's map, or some of its lines, if there is one."""
    ob = shown_map(bone.id_data, bone.name, kind)
    for line in legend_of(ob).splitlines()[lines] if ob else ():
        paragraph(column, line, context, "COLOR")


register, unregister = bpy.utils.register_classes_factory((VIEW3D_PT_ik_triangulation_maps,))

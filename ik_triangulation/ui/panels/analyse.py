# SPDX-License-Identifier: GPL-3.0-or-later
"""Analyze: maps of the cost of reaching, and the legends of their colours."""

import bpy
from bpy.types import Context, Panel, UILayout

from ...rig.map_objects import CLOUD, PICTURE, legend_of, shown_map
from ..context import active_bone
from ..operators.map import POSE_OT_ik_triangulation_map, POSE_OT_ik_triangulation_map_volume
from .layout import LimbPanel, paragraph


class VIEW3D_PT_ik_triangulation_analyse(LimbPanel, Panel):
    bl_label = "Analyze"
    bl_options = {"DEFAULT_CLOSED"}

    def draw(self, context: Context) -> None:
        column = self.column(context)
        settings, bone = context.scene.ik_triangulation_map, active_bone(context)
        for name in ("metric", "scale", "tolerance"):
            column.prop(settings, name)
        column.separator()
        for name in ("solver", "finish", "iterations", "size"):
            column.prop(settings, name)
        column.operator(POSE_OT_ik_triangulation_map.bl_idname, icon="IMAGE_DATA")
        _draw_legend(column, bone, PICTURE, context)
        column.separator()
        column.prop(settings, "resolution")
        column.operator(POSE_OT_ik_triangulation_map_volume.bl_idname, icon="POINTCLOUD_DATA")
        if _draw_legend(column, bone, CLOUD, context):
            column.prop(context.space_data.shading, "color_type", text="Viewport")


def _draw_legend(column: UILayout, bone: bpy.types.PoseBone, kind: str, context: Context) -> bool:
    """Draw the legend of the limb's map; return False if there is no map."""
    ob = shown_map(bone.id_data, bone.name, kind)
    if ob is None:
        return False
    for line in legend_of(ob).splitlines():
        paragraph(column, line, context, "COLOR")
    return True


register, unregister = bpy.utils.register_classes_factory((VIEW3D_PT_ik_triangulation_analyse,))

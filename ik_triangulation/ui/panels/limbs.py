# SPDX-License-Identifier: GPL-3.0-or-later
"""Main panel: the limbs of the armature, and the settings of the active one."""

import bpy
from bpy.types import Context, Object, Panel, PoseBone, UILayout

from ...jobs import live
from .. import manual
from ..context import active_armature, active_bone
from ..operators.limbs import (
    POSE_OT_ik_triangulation_limb_add,
    POSE_OT_ik_triangulation_limb_remove,
    POSE_OT_ik_triangulation_target_add,
    part_label,
)
from ..operators.live import POSE_OT_ik_triangulation_live, POSE_OT_ik_triangulation_live_stop
from ..operators.solve import POSE_OT_ik_triangulation_solve
from .layout import SidebarPanel, is_narrow, paragraph
from .lists import VIEW3D_UL_ik_triangulation_limbs
from .presets import VIEW3D_PT_ik_triangulation_presets


class VIEW3D_PT_ik_triangulation(SidebarPanel, Panel):
    bl_label = "IK Triangulation"

    def draw_header_preset(self, context: Context) -> None:
        if not is_narrow(context):
            row = self.layout.row()
            row.emboss = "NONE"
            _draw_tools(row, context)

    def draw(self, context: Context) -> None:
        column = self.column(context)
        armature, bone = active_armature(context), active_bone(context)
        _draw_live(column, armature)
        if armature is None:
            if not live.under_way():
                column.label(text="Select an armature", icon="INFO")
            return
        _draw_list(column, armature, context)
        if bone is None:
            column.label(text="Make a bone active", icon="INFO")
            return
        _draw_limb(column, bone)
        self.column(context).separator()
        row = self.layout.column(align=True) if is_narrow(context) else self.layout.row(align=True)
        row.operator(POSE_OT_ik_triangulation_solve.bl_idname, icon="CON_KINEMATIC")
        on = live.is_live(armature, bone.name)
        switch = row.row()
        switch.enabled = on or bone.ik_triangulation.target is not None
        switch.operator(POSE_OT_ik_triangulation_live.bl_idname, icon="PAUSE" if on else "PLAY", depress=on)
        problem = live.problem(armature, bone.name)
        if problem:
            paragraph(self.layout.column(), problem, context, "ERROR")


def _draw_live(column: UILayout, armature: Object | None) -> None:
    """Draw the live limbs of other armatures: while a target is dragged, it is the active object."""
    under_way = live.under_way(beside=armature)
    for name in under_way:
        column.label(text=f"Live: {name}", icon="PLAY")
    if under_way:
        column.operator(POSE_OT_ik_triangulation_live_stop.bl_idname, icon="PAUSE")


def _draw_tools(layout: UILayout, context: Context) -> None:
    """Draw presets and manual: in the panel's header, or beside the list if they would cover the title."""
    if active_bone(context) is not None:
        layout.popover(VIEW3D_PT_ik_triangulation_presets.__name__, text="", icon="PRESET")
    layout.operator(manual.WM_OT_ik_triangulation_manual.bl_idname, text="", icon="HELP")


def _draw_list(column: UILayout, armature: Object, context: Context) -> None:
    """Draw the list of limbs, with Add and Remove beside it."""
    row = column.row()
    lists = context.window_manager.ik_triangulation_lists
    name = VIEW3D_UL_ik_triangulation_limbs.__name__
    row.template_list(name, "", armature.pose, "bones", lists, "limb", rows=3, maxrows=8)
    tools = row.column(align=True)
    tools.operator(POSE_OT_ik_triangulation_limb_add.bl_idname, text="", icon="ADD")
    tools.operator(POSE_OT_ik_triangulation_limb_remove.bl_idname, text="", icon="REMOVE")
    if is_narrow(context):
        tools.separator()
        _draw_tools(tools, context)


def _draw_limb(column: UILayout, bone: PoseBone) -> None:
    """Draw target and chain length of the limb that ends in this bone."""
    limb = bone.ik_triangulation
    column.label(text=f"{part_label(limb)} to {bone.name}", icon="BONE_DATA")
    target = column.row(align=True)
    target.prop(limb, "target")
    if limb.target is None:
        target.operator(POSE_OT_ik_triangulation_target_add.bl_idname, text="", icon="ADD")
    elif limb.target.type == "ARMATURE":
        column.prop_search(limb, "subtarget", limb.target.data, "bones")
    length = column.column()
    length.active = not limb.use_selected
    length.prop(limb, "chain_count")
    column.prop(limb, "use_selected")


register, unregister = bpy.utils.register_classes_factory((VIEW3D_PT_ik_triangulation,))

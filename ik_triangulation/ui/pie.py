# SPDX-License-Identifier: GPL-3.0-or-later
"""Pie menu with what is pressed most often while a shot is made; its shortcut is off until the user switches it on."""

import bpy
from bpy.types import Context, Menu

from .operators.bake import POSE_OT_ik_triangulation_bake
from .operators.edit import POSE_OT_ik_triangulation_breakdown, POSE_OT_ik_triangulation_target_to_tip
from .operators.limbs import POSE_OT_ik_triangulation_body_add, POSE_OT_ik_triangulation_limb_add
from .operators.solve import POSE_OT_ik_triangulation_live, POSE_OT_ik_triangulation_solve
from .shortcuts import add_shortcut, remove_shortcut


class VIEW3D_MT_ik_triangulation_pie(Menu):
    bl_label = "IK"

    def draw(self, context: Context) -> None:
        """Draw in the order of Blender: west, east, south, north, then the corners."""
        pie = self.layout.menu_pie()
        pie.operator(POSE_OT_ik_triangulation_live.bl_idname, icon="PLAY")
        pie.operator(POSE_OT_ik_triangulation_bake.bl_idname, icon="KEY_HLT")
        pie.operator(POSE_OT_ik_triangulation_target_to_tip.bl_idname, icon="SNAP_ON")
        pie.operator(POSE_OT_ik_triangulation_limb_add.bl_idname, icon="ADD")
        pie.operator(POSE_OT_ik_triangulation_solve.bl_idname, icon="CON_KINEMATIC")
        pie.operator(POSE_OT_ik_triangulation_body_add.bl_idname, icon="OUTLINER_OB_ARMATURE")
        pie.prop(context.scene.ik_triangulation_trail, "show", text="Trail")
        pie.operator(POSE_OT_ik_triangulation_breakdown.bl_idname, icon="IPO_EASE_IN_OUT")


PIE = VIEW3D_MT_ik_triangulation_pie.__name__


def register() -> None:
    bpy.utils.register_class(VIEW3D_MT_ik_triangulation_pie)
    add_shortcut("wm.call_menu_pie", PIE, "Y", active=False)


def unregister() -> None:
    remove_shortcut(PIE)
    bpy.utils.unregister_class(VIEW3D_MT_ik_triangulation_pie)

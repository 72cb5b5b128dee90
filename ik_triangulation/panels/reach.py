# SPDX-License-Identifier: GPL-3.0-or-later
"""Keys for one movement to the target."""

import bpy
from bpy.types import Context, Panel

from ..blender.context import active_bone
from ..kinematics.timing import TIMINGS
from ..operators.reach import POSE_OT_ik_triangulation_reach
from .layout import LimbPanel


class VIEW3D_PT_ik_triangulation_reach(LimbPanel, Panel):
    bl_label = "Reach"
    bl_options = {"DEFAULT_CLOSED"}

    def draw(self, context: Context) -> None:
        column = self.column()
        limb = active_bone(context).ik_triangulation
        frames = column.column(align=True)
        for name in ("start", "end", "hold", "return"):
            frames.prop(limb, f"reach_{name}")
        column.separator()
        column.prop(limb, "reach_path")
        onset = column.column()
        onset.active = limb.reach_path == "ARC"
        onset.prop(limb, "reach_onset", slider=True)
        column.prop(limb, "reach_timing")
        easing = column.column()
        easing.active = TIMINGS[limb.reach_timing].eased
        easing.prop(limb, "reach_easing")
        column.separator()
        column.operator(POSE_OT_ik_triangulation_reach.bl_idname, icon="KEY_HLT")


register, unregister = bpy.utils.register_classes_factory((VIEW3D_PT_ik_triangulation_reach,))

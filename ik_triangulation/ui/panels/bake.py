# SPDX-License-Identifier: GPL-3.0-or-later
"""Bake over a range of frames, with the subpanel Keys."""

import bpy
from bpy.types import Context, Panel

from ...jobs.write import REDUCED
from ..context import active_bone
from ..operators.bake import (
    POSE_OT_ik_triangulation_bake,
    POSE_OT_ik_triangulation_bake_all,
    POSE_OT_ik_triangulation_rebake,
)
from ..operators.generated import POSE_OT_ik_triangulation_generated_delete
from .layout import LimbPanel, choice, is_narrow, paragraph


class VIEW3D_PT_ik_triangulation_bake(LimbPanel, Panel):
    bl_label = "Bake"

    def draw(self, context: Context) -> None:
        column = self.column(context)
        limb = active_bone(context).ik_triangulation
        column.prop(limb, "use_scene_range")
        ends = column.column(align=True)
        if limb.use_scene_range:
            scene = context.scene
            preview = "preview_" if scene.use_preview_range else ""
            ends.enabled = False
            ends.prop(scene, f"frame_{preview}start", text="Start")
            ends.prop(scene, f"frame_{preview}end", text="End")
        else:
            ends.prop(limb, "frame_start")
            ends.prop(limb, "frame_end")
        step = column.column()
        step.active = not limb.only_target_keys
        step.prop(limb, "step")
        column.separator()
        column.operator(POSE_OT_ik_triangulation_bake.bl_idname, icon="KEY_HLT")
        together = column.row(align=True)
        together.prop(limb, "enabled", text="")
        together.operator(POSE_OT_ik_triangulation_bake_all.bl_idname)
        column.operator(POSE_OT_ik_triangulation_rebake.bl_idname, icon="FILE_REFRESH")
        icon = "NONE" if is_narrow(context) else "KEY_DEHLT"  # its long label needs all the width
        column.operator(POSE_OT_ik_triangulation_generated_delete.bl_idname, icon=icon)


class VIEW3D_PT_ik_triangulation_keys(LimbPanel, Panel):
    bl_label = "Keys"
    bl_parent_id = "VIEW3D_PT_ik_triangulation_bake"
    bl_options = {"DEFAULT_CLOSED"}

    def draw(self, context: Context) -> None:
        column = self.column(context)
        limb = active_bone(context).ik_triangulation
        for name in ("destination", "interpolation"):
            choice(column, limb, name, context)
        for name in ("only_target_keys", "mark_misses", "reduce"):
            column.prop(limb, name)
        within = column.column()
        within.active = limb.reduce
        within.prop(limb, "reduce_tolerance")
        if limb.reduce and not limb.reduce_tolerance:
            paragraph(within, f"Within {REDUCED:.1%} of the reach", context, "INFO")


register, unregister = bpy.utils.register_classes_factory(
    (
        VIEW3D_PT_ik_triangulation_bake,
        VIEW3D_PT_ik_triangulation_keys,
    )
)

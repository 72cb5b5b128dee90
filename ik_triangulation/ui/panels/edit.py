# SPDX-License-Identifier: GPL-3.0-or-later
"""Edit: tools that change what is animated already."""

import bpy
from bpy.types import Context, Panel

from ..context import active_bone
from ..operators.drag import POSE_OT_ik_triangulation_drag
from ..operators.edit import (
    POSE_OT_ik_triangulation_breakdown,
    POSE_OT_ik_triangulation_mirror,
    POSE_OT_ik_triangulation_pull,
    POSE_OT_ik_triangulation_retime,
    POSE_OT_ik_triangulation_target_to_tip,
)
from ..operators.grasp import POSE_OT_ik_triangulation_grasp
from ..operators.limbs import POSE_OT_ik_triangulation_remove_everything, POSE_OT_ik_triangulation_targets_remove
from ..operators.trail import POSE_OT_ik_triangulation_trail_drag
from ..operators.transfer import POSE_OT_ik_triangulation_transfer
from .layout import LimbPanel


class VIEW3D_PT_ik_triangulation_edit(LimbPanel, Panel):
    bl_label = "Edit"
    bl_options = {"DEFAULT_CLOSED"}

    @classmethod
    def poll(cls, context: Context) -> bool:
        # Without a limb it is there for the trail, which the menu switches on.
        return super().poll(context) or (context.scene.ik_triangulation_trail.show and active_bone(context) is not None)

    def draw(self, context: Context) -> None:
        column = self.column(context)
        column.operator(POSE_OT_ik_triangulation_target_to_tip.bl_idname, icon="SNAP_ON")
        drag = column.row()
        drag.operator_context = "INVOKE_REGION_WIN"
        drag.operator(POSE_OT_ik_triangulation_drag.bl_idname, icon="VIEW_PAN")
        trail = context.scene.ik_triangulation_trail
        switch = column.row()
        switch.use_property_split = False
        switch.prop(trail, "show", icon="ANIM", toggle=True)
        if trail.show:
            column.prop(trail, "space")
            if trail.space == "OBJECT":
                column.prop(trail, "object")
        row = column.row(align=True)
        row.operator(POSE_OT_ik_triangulation_pull.bl_idname, icon="PROP_ON")
        row.operator(POSE_OT_ik_triangulation_retime.bl_idname, icon="TIME")
        row = column.row()
        row.operator_context = "INVOKE_REGION_WIN"
        row.operator(POSE_OT_ik_triangulation_trail_drag.bl_idname, icon="RESTRICT_SELECT_OFF")
        column.operator(POSE_OT_ik_triangulation_breakdown.bl_idname, icon="IPO_EASE_IN_OUT")
        column.operator(POSE_OT_ik_triangulation_mirror.bl_idname, icon="MOD_MIRROR")
        column.operator(POSE_OT_ik_triangulation_grasp.bl_idname, icon="CON_CHILDOF")
        row = column.row(align=True)
        row.operator(POSE_OT_ik_triangulation_transfer.bl_idname, text="IK to FK").to = "FK"
        row.operator(POSE_OT_ik_triangulation_transfer.bl_idname, text="FK to IK").to = "IK"
        column.operator(POSE_OT_ik_triangulation_targets_remove.bl_idname, icon="TRASH")
        column.operator(POSE_OT_ik_triangulation_remove_everything.bl_idname, icon="X")


register, unregister = bpy.utils.register_classes_factory((VIEW3D_PT_ik_triangulation_edit,))

# SPDX-License-Identifier: GPL-3.0-or-later
"""Edit: tools that change what is animated already."""

import bpy
from bpy.types import Context, Panel

from ..operators.edit import (
    POSE_OT_ik_triangulation_mirror,
    POSE_OT_ik_triangulation_pull,
    POSE_OT_ik_triangulation_target_to_tip,
)
from ..operators.transfer import POSE_OT_ik_triangulation_transfer
from .layout import LimbPanel


class VIEW3D_PT_ik_triangulation_edit(LimbPanel, Panel):
    bl_label = "Edit"
    bl_options = {"DEFAULT_CLOSED"}

    def draw(self, context: Context) -> None:
        column = self.column(context)
        column.operator(POSE_OT_ik_triangulation_target_to_tip.bl_idname, icon="SNAP_ON")
        column.operator(POSE_OT_ik_triangulation_pull.bl_idname, icon="PROP_ON")
        column.operator(POSE_OT_ik_triangulation_mirror.bl_idname, icon="MOD_MIRROR")
        row = column.row(align=True)
        row.operator(POSE_OT_ik_triangulation_transfer.bl_idname, text="IK to FK").to = "FK"
        row.operator(POSE_OT_ik_triangulation_transfer.bl_idname, text="FK to IK").to = "IK"


register, unregister = bpy.utils.register_classes_factory((VIEW3D_PT_ik_triangulation_edit,))

# SPDX-License-Identifier: GPL-3.0-or-later
"""Body: hips and balance of the limbs that are solved together."""

import bpy
from bpy.types import Context, Panel

from ..context import active_bone
from ..limb_search import is_in_body
from ..operators.body import POSE_OT_ik_triangulation_body_add
from .layout import LimbPanel, choice, paragraph


class VIEW3D_PT_ik_triangulation_body(LimbPanel, Panel):
    bl_label = "Body"
    bl_options = {"DEFAULT_CLOSED"}

    def draw(self, context: Context) -> None:
        column = self.column(context)
        bone = active_bone(context)
        armature = bone.id_data
        if not is_in_body(bone):
            paragraph(column, "Hold the feet in place and let the whole body reach", context, "INFO")
            column.operator(POSE_OT_ik_triangulation_body_add.bl_idname, icon="OUTLINER_OB_ARMATURE")
            return
        body = armature.ik_triangulation
        column.prop_search(body, "hips", armature.data, "bones")
        choice(column, body, "hips_motion", context)
        balance = column.column()
        balance.active = not body.contacts  # a recorded motion has its own
        balance.prop(body, "balance")


register, unregister = bpy.utils.register_classes_factory((VIEW3D_PT_ik_triangulation_body,))

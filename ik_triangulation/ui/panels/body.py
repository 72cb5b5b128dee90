# SPDX-License-Identifier: GPL-3.0-or-later
"""Body: held tips, hips, balance and floor of the limbs that are solved together."""

import bpy
from bpy.types import Context, Panel

from ..context import active_bone
from ..limb_search import is_in_body, is_limb
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
            paragraph(column, "Let both hands reach with the whole body while the feet stay", context, "INFO")
            column.operator(POSE_OT_ik_triangulation_body_add.bl_idname, icon="OUTLINER_OB_ARMATURE")
            return
        held = column.column(heading="Hold in Place", align=True)
        for tip in armature.pose.bones:
            limb = tip.ik_triangulation
            # A foot that is let go of has nothing left that makes it a limb, but is to be held again here.
            if is_limb(tip) or limb.body_part != "NONE":
                row = held.row(align=True)
                row.prop(limb, "hold", text=tip.name)
                if limb.hold:
                    row.prop(limb, "hold_where", text="")
        column.separator()
        body = armature.ik_triangulation
        column.prop_search(body, "hips", armature.data, "bones")
        choice(column, body, "hips_motion", context)
        balance = column.column()
        balance.active = not body.contacts  # a recorded motion has its own
        balance.prop(body, "balance")
        column.prop(body, "floor")


register, unregister = bpy.utils.register_classes_factory((VIEW3D_PT_ik_triangulation_body,))

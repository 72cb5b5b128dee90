# SPDX-License-Identifier: GPL-3.0-or-later
"""Last Result: the outcome of the limb's last solve, bake or reach."""

import bpy
from bpy.types import Context, Panel

from ..context import active_bone
from ..last_result import latest
from ..operators.following import POSE_OT_ik_triangulation_follow_set
from .layout import LimbPanel, paragraph


class VIEW3D_PT_ik_triangulation_result(LimbPanel, Panel):
    bl_label = "Last Result"
    bl_options = {"DEFAULT_CLOSED"}

    def draw(self, context: Context) -> None:
        column = self.layout.column()
        bone = active_bone(context)
        result = latest(bone.id_data, bone.name)
        if result is None:
            column.label(text="Not solved yet")
            return
        for number, line in enumerate(result.lines):
            paragraph(column, line, context, "BLANK1" if number else result.icon)
        if result.switches:
            what = "Set and Key" if result.is_bake else "Set"
            text = f"{what} {', '.join(result.switches)}"
            column.operator(POSE_OT_ik_triangulation_follow_set.bl_idname, text=text, icon="KEYINGSET")
        paragraph(column, result.cost(context.scene), context, "DRIVER_ROTATIONAL_DIFFERENCE")
        for line in result.limits or ["No bone is at a limit"]:
            paragraph(column, line, context, "CON_ROTLIMIT")


register, unregister = bpy.utils.register_classes_factory((VIEW3D_PT_ik_triangulation_result,))

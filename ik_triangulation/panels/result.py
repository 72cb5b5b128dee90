# SPDX-License-Identifier: GPL-3.0-or-later
"""What came of the last solve or bake of the limb."""

import bpy
from bpy.types import Context, Panel

from ..blender.context import active_bone
from ..results import latest
from .layout import LimbPanel


class VIEW3D_PT_ik_triangulation_result(LimbPanel, Panel):
    bl_label = "Last Result"
    bl_options = {"DEFAULT_CLOSED"}

    @classmethod
    def poll(cls, context: Context) -> bool:
        bone = active_bone(context)
        return bone is not None and latest(bone.id_data, bone.name) is not None

    def draw(self, context: Context) -> None:
        column = self.layout.column()
        bone = active_bone(context)
        result = latest(bone.id_data, bone.name)
        for number, line in enumerate(result.lines):
            icon = "CHECKMARK" if result.reached else "ERROR"
            column.label(text=line, icon="BLANK1" if number else icon)
        column.label(text=result.cost(context.scene), icon="DRIVER_ROTATIONAL_DIFFERENCE")
        for line in result.limits or ["No bone stands on a limit"]:
            column.label(text=line, icon="CON_ROTLIMIT")


register, unregister = bpy.utils.register_classes_factory((VIEW3D_PT_ik_triangulation_result,))

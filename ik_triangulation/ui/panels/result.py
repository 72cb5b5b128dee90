# SPDX-License-Identifier: GPL-3.0-or-later
"""Last Result: the outcome of the limb's last solve, bake or reach in one line, and its details in a popover."""

import bpy
from bpy.types import Context, Panel, UILayout

from ..context import active_bone
from ..last_result import BodyResult, LastResult, latest
from ..operators.following import POSE_OT_ik_triangulation_follow_set
from .layout import paragraph

_UNITS = 16  # width of the popover, in buttons of one icon
_ROOM = 280.0  # for its texts [pixels at 1x interface scale]


class VIEW3D_PT_ik_triangulation_result(Panel):
    bl_label = "Last Result"
    bl_description = "Details of the last result: distance, cost of the motion, joints at their limits"
    bl_space_type = "VIEW_3D"
    bl_region_type = "HEADER"  # as popovers have it
    bl_ui_units_x = _UNITS

    @classmethod
    def poll(cls, context: Context) -> bool:
        bone = active_bone(context)
        return bone is not None and latest(bone.id_data, bone.name) is not None

    def draw(self, context: Context) -> None:
        column = self.layout.column()
        bone = active_bone(context)
        result = latest(bone.id_data, bone.name)
        for number, line in enumerate(result.lines):
            paragraph(column, line, context, "BLANK1" if number else result.icon, _ROOM)
        if isinstance(result, BodyResult):
            return
        paragraph(column, result.cost(context.scene), context, "DRIVER_ROTATIONAL_DIFFERENCE", _ROOM)
        for line in result.limits or ["No bone is at a limit"]:
            paragraph(column, line, context, "CON_ROTLIMIT", _ROOM)


def draw_result(column: UILayout, result: LastResult | BodyResult) -> None:
    """Draw the result in one line that opens the details, and the remedy for bones that do not follow the limb."""
    row = column.row()
    row.alert = not result.reached
    row.popover(VIEW3D_PT_ik_triangulation_result.__name__, text=result.line, icon=result.icon)
    if result.switches:
        what = "Set and Key" if result.is_bake else "Set"
        text = f"{what} {', '.join(result.switches)}"
        column.operator(POSE_OT_ik_triangulation_follow_set.bl_idname, text=text, icon="KEYINGSET")


register, unregister = bpy.utils.register_classes_factory((VIEW3D_PT_ik_triangulation_result,))

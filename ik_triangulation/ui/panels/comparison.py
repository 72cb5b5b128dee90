# SPDX-License-Identifier: GPL-3.0-or-later
"""Compare Solvers: the results of all solvers for the active limb."""

from math import degrees

import bpy
from bpy.types import Context, Panel, PropertyGroup, Scene, UILayout, UIList

from ...rig.units import distance_text
from ...solvers import SOLVERS
from ..comparison import solver_label
from ..context import active_bone
from ..operators.comparison import (
    POSE_OT_ik_triangulation_duel,
    POSE_OT_ik_triangulation_duel_apply,
    POSE_OT_ik_triangulation_duel_forget,
)
from .advanced import AdvancedPanel
from .layout import choice, is_narrow, is_wide, paragraph

_MEASURED = ("reached", "naturalness", "error", "turns", "total_angle", "travel", "seconds")


class VIEW3D_UL_ik_triangulation_duel(UIList):
    """List of solvers, best first: an icon if all frames were reached, and the measure they are sorted by.

    A wide sidebar has room for the frames reached and the time as well, which their units tell from it.
    """

    use_filter_show = False

    def draw_item(
        self,
        context: Context,
        layout: UILayout,
        data: PropertyGroup,
        row: PropertyGroup,
        icon: int,
        active_data: PropertyGroup,
        active_property: str,
        index: int = 0,
        flt_flag: int = 0,
    ) -> None:
        line = layout.row(align=True)
        line.active = not row.refusal
        all_reached = row.reached == row.tasks
        line.label(text=solver_label(row), icon="CANCEL" if row.refusal else "CHECKMARK" if all_reached else "ERROR")
        if row.refusal:
            return
        columns = ("reached", data.by, "seconds") if is_wide(context) else () if is_narrow(context) else (data.by,)
        for name in dict.fromkeys(columns):
            value = line.row()
            value.alignment = "RIGHT"
            value.label(text=_value(row, name, context.scene))

    def filter_items(self, context: Context, data: object, name: str) -> tuple[list[int], list[int]]:
        return [self.bitflag_filter_item] * len(getattr(data, name)), []


class VIEW3D_PT_ik_triangulation_duel(AdvancedPanel, Panel):
    bl_label = "Compare Solvers"
    bl_options = {"DEFAULT_CLOSED"}

    def draw(self, context: Context) -> None:
        column = self.column(context)
        settings, bone = context.window_manager.ik_triangulation_duel, active_bone(context)
        choice(column, settings, "by", context)
        column.prop(settings, "use_range")
        column.operator(POSE_OT_ik_triangulation_duel.bl_idname, icon="SORTBYEXT")
        if not settings.rows or (settings.armature, settings.tip) != (bone.id_data.name, bone.name):
            return
        name = VIEW3D_UL_ik_triangulation_duel.__name__
        column.template_list(name, "", settings, "rows", settings, "chosen", rows=5, maxrows=len(SOLVERS))
        row = settings.rows[min(max(settings.chosen, 0), len(settings.rows) - 1)]
        if row.refusal:
            paragraph(column, row.refusal, context)
        else:
            _draw_row(column, row, context)
        tools = column.row(align=True)
        tools.operator(POSE_OT_ik_triangulation_duel_apply.bl_idname, icon="CHECKMARK")
        tools.operator(POSE_OT_ik_triangulation_duel_forget.bl_idname, text="", icon="X")


def _draw_row(column: UILayout, row: PropertyGroup, context: Context) -> None:
    """Draw all measures of a solver, one per line."""
    lines = column.column(align=True)
    lines.scale_y = 0.8
    for name in _MEASURED:
        line = lines.split(factor=0.5)
        line.label(text=row.bl_rna.properties[name].name)
        line.label(text=_value(row, name, context.scene))


def _value(row: PropertyGroup, name: str, scene: Scene) -> str:
    """Return a measure of a solver with its unit."""
    value = getattr(row, name)
    if name == "reached":
        return f"{value} of {row.tasks}"
    if name in {"error", "travel"}:
        return distance_text(value, scene)
    if name == "naturalness":
        return f"{value:.1f}°"
    if name == "total_angle":
        return f"{degrees(value):.0f}°"
    return f"{1e3 * value:.3g} ms" if name == "seconds" else str(value)


register, unregister = bpy.utils.register_classes_factory(
    (VIEW3D_UL_ik_triangulation_duel, VIEW3D_PT_ik_triangulation_duel)
)

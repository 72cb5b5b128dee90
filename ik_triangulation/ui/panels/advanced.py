# SPDX-License-Identifier: GPL-3.0-or-later
"""Advanced: method, tolerances and steps of the solver; overlay, comparison and maps are panels inside it."""

from math import degrees

import bpy
from bpy.types import Context, Panel, PropertyGroup, Scene, UILayout, UIList

from ...items import SOLVER_ROWS, WHOLE_SOLVERS
from ...rig.scene_objects import PICTURE, VOLUME, legend_of
from ...rig.units import distance_text, length_text
from .. import preferences
from ..context import active_bone, is_in_body, map_of
from ..last_result import solver_label
from ..operators.map import (
    POSE_OT_ik_triangulation_duel,
    POSE_OT_ik_triangulation_duel_apply,
    POSE_OT_ik_triangulation_duel_forget,
    POSE_OT_ik_triangulation_map,
    POSE_OT_ik_triangulation_map_remove,
    POSE_OT_ik_triangulation_map_volume,
    POSE_OT_ik_triangulation_show_reach,
)
from ..translation import translated
from .layout import LimbPanel, RowList, choice, is_narrow, is_wide, paragraph

_MEASURED = ("reached", "naturalness", "error", "turns", "total_angle", "travel", "seconds")

_METRIC, _SHARE = slice(None, -1), slice(-1, None)  # lines of the legend of a volume


class VIEW3D_PT_ik_triangulation_advanced(LimbPanel, Panel):
    bl_label = "Advanced"
    bl_options = {"DEFAULT_CLOSED"}

    def draw(self, context: Context) -> None:
        column = self.column(context)
        limb = active_bone(context).ik_triangulation
        in_body = is_in_body(active_bone(context))
        if not in_body or preferences.shows_all(context, limb):  # a body has no choice of methods
            choice(column, limb, "solver", context)
        in_body = in_body and limb.solver not in WHOLE_SOLVERS
        if in_body:
            paragraph(column, "Part of a body, which Natural solves: this method is for single limbs", context, "INFO")
        else:
            paragraph(column, SOLVER_ROWS[limb.solver].description, context)
        row = _removable(column, active_bone(context), VOLUME, context)
        row.operator(POSE_OT_ik_triangulation_show_reach.bl_idname, icon="SHADING_RENDERED")
        _draw_legend(column, active_bone(context), VOLUME, context, _SHARE)
        if not preferences.shows_all(context, limb):
            return
        for name in ("tolerance", "angle_tolerance"):
            column.prop(limb, name)
        own = column
        if in_body:
            own = column.column()
            own.active = False
        own.prop(limb, "iterations")
        if limb.solver not in WHOLE_SOLVERS:
            own.prop(limb, "finish")
        if limb.finish or limb.solver in WHOLE_SOLVERS:
            column.prop(limb, "seed")


class AdvancedPanel(LimbPanel):
    """Base of the panels inside Advanced."""

    bl_parent_id = VIEW3D_PT_ik_triangulation_advanced.__name__


class ResearchPanel(AdvancedPanel):
    """Base of the panels that are shown with Research Tools in the preferences."""

    bl_options = {"DEFAULT_CLOSED"}

    @classmethod
    def poll(cls, context: Context) -> bool:
        return preferences.has_research_tools(context) and super().poll(context)


class VIEW3D_PT_ik_triangulation_overlay(Panel):
    """In the popover of the viewport's overlays, beside Blender's own."""

    bl_label = "IK Triangulation"
    bl_space_type = "VIEW_3D"
    bl_region_type = "HEADER"
    bl_parent_id = "VIEW3D_PT_overlay"

    @classmethod
    def poll(cls, context: Context) -> bool:
        return context.mode in {"OBJECT", "POSE"}

    def draw_header(self, context: Context) -> None:
        self.layout.prop(context.scene.ik_triangulation_overlay, "show", text="")

    def draw(self, context: Context) -> None:
        column = self.layout.column()
        settings = context.scene.ik_triangulation_overlay
        parts = column.column(heading="Show")
        parts.active = settings.show
        for name in ("reach", "joints", "target", "error", "body"):
            parts.prop(settings, f"show_{name}")
        # Ghosts are independent of the rest of the overlay.
        column.prop(settings, "show_ghosts")
        draw_ghosts(column, context)


def draw_ghosts(column: UILayout, context: Context) -> None:
    """Draw the switch of the ghosts of the shot, and their settings while they are shown."""
    ghosts = context.scene.ik_triangulation_ghosts
    column.prop(ghosts, "show")
    if ghosts.show:
        column.prop(ghosts, "kind")
        if ghosts.kind != "BEFORE":
            column.prop(ghosts, "count")
        if ghosts.kind == "FRAMES":
            column.prop(ghosts, "step")


class VIEW3D_UL_ik_triangulation_duel(RowList, UIList):
    """List of solvers, best first: an icon if all frames were reached, and the measure they are sorted by.

    A wide sidebar has room for the frames reached and the time as well, which their units tell from it.
    """

    use_filter_show = False

    @staticmethod
    def draw_row(context: Context, layout: UILayout, row: PropertyGroup, data: PropertyGroup) -> None:
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


class VIEW3D_PT_ik_triangulation_duel(ResearchPanel, Panel):
    bl_label = "Compare Solvers"

    def draw(self, context: Context) -> None:
        column = self.column(context)
        settings, bone = context.window_manager.ik_triangulation_duel, active_bone(context)
        choice(column, settings, "by", context)
        column.prop(settings, "use_range")
        column.operator(POSE_OT_ik_triangulation_duel.bl_idname, icon="SORTBYEXT")
        if not settings.rows or (settings.armature, settings.tip) != (bone.id_data.name, bone.name):
            return
        name = VIEW3D_UL_ik_triangulation_duel.__name__
        column.template_list(name, "", settings, "rows", settings, "chosen", rows=5, maxrows=len(SOLVER_ROWS))
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
        return translated(f"{value} of {row.tasks}")
    if name in {"error", "travel"}:
        return distance_text(value, scene)
    if name == "naturalness":
        return f"{value:.1f}°"
    if name == "total_angle":
        return f"{degrees(value):.0f}°"
    return f"{length_text(1e3 * value)} ms" if name == "seconds" else str(value)


class VIEW3D_PT_ik_triangulation_maps(ResearchPanel, Panel):
    bl_label = "Maps"

    def draw(self, context: Context) -> None:
        column = self.column(context)
        settings, bone = context.scene.ik_triangulation_map, active_bone(context)
        for name in ("metric", "scale", "tolerance"):
            column.prop(settings, name)
        column.separator()
        for name in ("solver", "finish", "iterations", "contours", "size"):
            column.prop(settings, name)
        _removable(column, bone, PICTURE, context).operator(POSE_OT_ik_triangulation_map.bl_idname, icon="IMAGE_DATA")
        _draw_legend(column, bone, PICTURE, context)
        column.separator()
        column.prop(settings, "resolution")
        _removable(column, bone, VOLUME, context).operator(
            POSE_OT_ik_triangulation_map_volume.bl_idname, icon="VOLUME_DATA"
        )
        _draw_legend(column, bone, VOLUME, context, _METRIC)


def _removable(column: UILayout, bone: bpy.types.PoseBone, kind: str, context: Context) -> UILayout:
    """Return a row for a button, with another one after it that removes what is shown of this kind, if it is."""
    row = column.row(align=True)
    button = row.row(align=True)
    if map_of(context, bone, kind):
        remove = row.operator(POSE_OT_ik_triangulation_map_remove.bl_idname, text="", icon="X")
        remove.kind = "REACH" if kind == VOLUME else "MAP"
    return button


def _draw_legend(
    column: UILayout, bone: bpy.types.PoseBone, kind: str, context: Context, lines: slice = slice(None)
) -> None:
    """Draw the legend of the limb's map, or some of its lines, if there is one."""
    ob = map_of(context, bone, kind)
    for line in legend_of(ob).splitlines()[lines] if ob else ():
        paragraph(column, line, context, "COLOR")


register, unregister = bpy.utils.register_classes_factory(
    (
        VIEW3D_PT_ik_triangulation_advanced,
        VIEW3D_PT_ik_triangulation_overlay,
        VIEW3D_UL_ik_triangulation_duel,
        VIEW3D_PT_ik_triangulation_duel,
        VIEW3D_PT_ik_triangulation_maps,
    )
)

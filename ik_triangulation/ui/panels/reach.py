# SPDX-License-Identifier: GPL-3.0-or-later
"""Reach: key a single movement to the target, or through several stops."""

import bpy
from bpy.types import Context, Panel, PropertyGroup, UILayout, UIList

from ...motion.timing import TIMINGS
from .. import preferences
from ..context import active_bone
from ..operators.reach import (
    POSE_OT_ik_triangulation_reach,
    POSE_OT_ik_triangulation_stop_add,
    POSE_OT_ik_triangulation_stop_remove,
)
from .layout import LimbPanel, RowList, choice, in_order, is_narrow


class VIEW3D_UL_ik_triangulation_stops(RowList, UIList):
    """List of the stops of a reach: target, frame, frames held."""

    @staticmethod
    def draw_row(context: Context, layout: UILayout, stop: PropertyGroup, _data: object) -> None:
        row = layout.row(align=True)
        row.use_property_split = False
        narrow = is_narrow(context)
        row.label(text=stop.target.name if stop.target else "No Target", icon="NONE" if narrow else "OBJECT_DATA")
        for name in ("frame",) if narrow else ("frame", "hold"):
            row.prop(stop, name, text="", emboss=False)

    def filter_items(self, context: Context, data: object, name: str) -> tuple[list[int], list[int]]:
        return [], in_order([stop.frame for stop in getattr(data, name)])


class VIEW3D_PT_ik_triangulation_reach(LimbPanel, Panel):
    bl_label = "Reach"
    bl_options = {"DEFAULT_CLOSED"}

    def draw(self, context: Context) -> None:
        column = self.column(context)
        limb = active_bone(context).ik_triangulation
        frames = column.column(align=True)
        frames.prop(limb, "reach_start")
        if not limb.reach_stops:  # each of which has its own
            frames.prop(limb, "reach_end")
        frames.prop(limb, "reach_return")
        if not limb.reach_stops and limb.reach_return:
            frames.prop(limb, "reach_hold")  # before it goes back
        column.separator()
        _draw_stops(column, limb, context)
        column.separator()
        column.prop(limb, "reach_path")
        if limb.reach_path == "ARC" and (limb.reach_onset or preferences.shows_all(context, limb)):
            column.prop(limb, "reach_onset", slider=True)
        column.prop(limb, "reach_timing")
        if TIMINGS[limb.reach_timing].eased:
            choice(column, limb, "reach_easing", context)
        if any(stop.take != "NONE" for stop in limb.reach_stops):
            column.prop(limb, "reach_prop_by")
        column.separator()
        column.operator(POSE_OT_ik_triangulation_reach.bl_idname, icon="KEY_HLT")


def _draw_stops(column: UILayout, limb: PropertyGroup, context: Context) -> None:
    """Draw the list of stops, Add and Remove, and the chosen stop."""
    head = column.row(align=True)
    for title in ("Stops", "Frame", "") if is_narrow(context) else ("Stops", "Frame", "Hold", ""):
        head.label(text=title)
    row = column.row()
    name = VIEW3D_UL_ik_triangulation_stops.__name__
    row.template_list(name, "", limb, "reach_stops", limb, "reach_stop", rows=2, maxrows=6)
    tools = row.column(align=True)
    tools.operator(POSE_OT_ik_triangulation_stop_add.bl_idname, text="", icon="ADD")
    tools.operator(POSE_OT_ik_triangulation_stop_remove.bl_idname, text="", icon="REMOVE")
    if 0 <= limb.reach_stop < len(limb.reach_stops):
        stop = limb.reach_stops[limb.reach_stop]
        column.prop(stop, "target")
        if stop.target is not None and stop.target.type == "ARMATURE":
            column.prop_search(stop, "subtarget", stop.target.data, "bones")
        column.prop(stop, "frame")
        column.prop(stop, "hold")
        column.prop(stop, "take")
        prop = column.column()
        prop.active = stop.take != "NONE"
        prop.prop(stop, "prop")
        column.separator()


register, unregister = bpy.utils.register_classes_factory(
    (VIEW3D_UL_ik_triangulation_stops, VIEW3D_PT_ik_triangulation_reach)
)

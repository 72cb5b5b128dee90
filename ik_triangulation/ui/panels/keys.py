# SPDX-License-Identifier: GPL-3.0-or-later
"""Keys, Edit and Reach: the keys that a bake or a reach writes, and the tools that change what is animated."""

import bpy
from bpy.types import Constraint, Context, Panel, PoseBone, PropertyGroup, UILayout, UIList

from ...items import HELD, OWN, REDUCED
from ...motion.timing import TIMINGS
from ...rig import timeline
from ...rig.targets import made
from .. import preferences
from ..context import active_bone, control_names
from ..operators.bake import (
    POSE_OT_ik_triangulation_generated_delete,
    POSE_OT_ik_triangulation_reach,
    POSE_OT_ik_triangulation_stop_add,
    POSE_OT_ik_triangulation_stop_remove,
)
from ..operators.contacts import POSE_OT_ik_triangulation_grasp
from ..operators.edit import (
    POSE_OT_ik_triangulation_breakdown,
    POSE_OT_ik_triangulation_mirror,
    POSE_OT_ik_triangulation_pull,
    POSE_OT_ik_triangulation_retime,
    POSE_OT_ik_triangulation_target_to_tip,
    POSE_OT_ik_triangulation_trail_drag,
    POSE_OT_ik_triangulation_transfer,
)
from ..operators.limbs import POSE_OT_ik_triangulation_remove_everything, POSE_OT_ik_triangulation_targets_remove
from ..operators.target import (
    POSE_OT_ik_triangulation_space_add,
    POSE_OT_ik_triangulation_space_end,
    POSE_OT_ik_triangulation_space_go,
    POSE_OT_ik_triangulation_space_remove,
    target_owner,
)
from ..operators.target_drag import POSE_OT_ik_triangulation_drag
from ..translation import translated
from .layout import LimbPanel, RowList, choice, in_order, is_narrow, paragraph

_NAME = 0.6  # width of the name of a space


class VIEW3D_PT_ik_triangulation_keys(LimbPanel, Panel):
    bl_label = "Keys"
    bl_translation_context = OWN
    bl_options = {"DEFAULT_CLOSED"}

    def draw(self, context: Context) -> None:
        column = self.column(context)
        limb = active_bone(context).ik_triangulation
        _draw_range(column, limb, context)
        _draw_details(column, limb, context)
        column.separator()
        choice(column, limb, "destination", context)
        _draw_controls(column, active_bone(context), context)
        if preferences.shows_all(context, limb):
            column.prop(limb, "mark_misses")
        column.separator()
        icon = "NONE" if is_narrow(context) else "KEY_DEHLT"  # its long label needs all the width
        column.operator(POSE_OT_ik_triangulation_generated_delete.bl_idname, icon=icon)


def _draw_controls(column: UILayout, bone: PoseBone, context: Context) -> None:
    """Draw which controls get the keys, by the names that the rig gives them; nothing on a rig without IK controls."""
    limb, names = bone.ik_triangulation, control_names(bone)
    if names is None:
        if limb.keys_on != "FK":
            choice(column, limb, "keys_on", context)
        return
    column.label(text=f"{translated(limb.bl_rna.properties['keys_on'].name)}:")
    buttons = column.column(align=True)  # their names need all the width
    buttons.use_property_split = False
    for choice_of, text in (("FK", names.tip), ("FK_SWITCH", names.with_switch), ("IK", names.ik)):
        if choice_of != "FK_SWITCH" or names.switches:
            buttons.prop_enum(limb, "keys_on", choice_of, text=translated(text))


def _draw_range(column: UILayout, limb: PropertyGroup, context: Context) -> None:
    """Draw the frames that are baked."""
    column.prop(limb, "use_scene_range")
    if limb.use_scene_range:
        first, last = timeline.scene_range(context.scene)
        column.label(text=translated(f"Frames {first} to {last}"))
    else:
        ends = column.column(align=True)
        ends.prop(limb, "frame_start")
        ends.prop(limb, "frame_end")


def _draw_details(column: UILayout, limb: PropertyGroup, context: Context) -> None:
    """Draw what belongs to the choice of keys."""
    if limb.reduce:
        column.prop(limb, "reduce_tolerance")
        if not limb.reduce_tolerance:
            share = HELD if limb.hold else REDUCED
            paragraph(column, f"{share:.1%} of the limb's reach", context, "INFO")
    elif limb.only_target_keys:
        choice(column, limb, "interpolation", context)
    elif limb.step > 1:
        column.prop(limb, "step")
        choice(column, limb, "interpolation", context)
    elif preferences.shows_all(context, limb) or limb.interpolation != limb.bl_rna.properties["interpolation"].default:
        choice(column, limb, "interpolation", context)


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


class VIEW3D_UL_ik_triangulation_spaces(RowList, UIList):
    """List of the spaces of a target: object or bone, first and last frame."""

    @staticmethod
    def draw_row(context: Context, layout: UILayout, space: Constraint, _data: object) -> None:
        row, span = layout.split(factor=_NAME, align=True), made.span_of(space, context.scene)
        row.alert = span is None or space.target is None
        name = space.subtarget or (space.target.name if space.target else space.name)
        row.label(text=name, icon="ERROR" if row.alert else "BONE_DATA" if space.subtarget else "OBJECT_DATA")
        row.label(text=f"{span[0]} - {span[1]}" if span else "")

    def filter_items(self, context: Context, data: object, name: str) -> tuple[list[int], list[int]]:
        spans = [made.span_of(each, context.scene) if made.is_space(each) else None for each in getattr(data, name)]
        shown = [self.bitflag_filter_item * made.is_space(each) for each in getattr(data, name)]
        return shown, in_order([span or (0, 0) for span in spans])


class VIEW3D_PT_ik_triangulation_spaces(LimbPanel, Panel):
    bl_label = "Spaces"
    bl_parent_id = "VIEW3D_PT_ik_triangulation_edit"
    bl_options = {"DEFAULT_CLOSED"}

    @classmethod
    def poll(cls, context: Context) -> bool:
        return super().poll(context) and target_owner(context) is not None

    def draw(self, context: Context) -> None:
        column, owner = self.column(context), target_owner(context)
        some = any(map(made.is_space, owner.constraints))
        if not some:
            paragraph(column, "Have the target move with a table, the hips or a prop", context, "INFO")
        row = column.row()
        lists, name = context.window_manager.ik_triangulation_lists, VIEW3D_UL_ik_triangulation_spaces.__name__
        row.template_list(name, "", owner, "constraints", lists, "space", rows=4 if some else 2, maxrows=8)
        tools = row.column(align=True)
        tools.operator_context = "INVOKE_DEFAULT"
        tools.operator(POSE_OT_ik_triangulation_space_add.bl_idname, text="", icon="ADD")
        tools.operator(POSE_OT_ik_triangulation_space_remove.bl_idname, text="", icon="REMOVE")
        tools.separator()
        tools.operator(POSE_OT_ik_triangulation_space_go.bl_idname, text="", icon="TIME")
        column.operator(POSE_OT_ik_triangulation_space_end.bl_idname, icon="UNLINKED")


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
    (
        VIEW3D_PT_ik_triangulation_keys,
        VIEW3D_PT_ik_triangulation_edit,
        VIEW3D_UL_ik_triangulation_spaces,
        VIEW3D_PT_ik_triangulation_spaces,
        VIEW3D_UL_ik_triangulation_stops,
        VIEW3D_PT_ik_triangulation_reach,
    )
)

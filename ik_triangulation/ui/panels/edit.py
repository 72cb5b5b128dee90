# SPDX-License-Identifier: GPL-3.0-or-later
"""Edit: tools that change what is animated already."""

import bpy
from bpy.types import Constraint, Context, Panel, UILayout, UIList

from ...rig.targets import made
from ..context import active_bone
from ..operators.contacts import POSE_OT_ik_triangulation_grasp
from ..operators.edit import (
    POSE_OT_ik_triangulation_breakdown,
    POSE_OT_ik_triangulation_mirror,
    POSE_OT_ik_triangulation_pull,
    POSE_OT_ik_triangulation_retime,
    POSE_OT_ik_triangulation_target_to_tip,
    POSE_OT_ik_triangulation_trail_drag,
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
from ..operators.transfer import POSE_OT_ik_triangulation_transfer
from .layout import LimbPanel, RowList, in_order, paragraph

_NAME = 0.6  # width of the name of a space


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


register, unregister = bpy.utils.register_classes_factory(
    (VIEW3D_PT_ik_triangulation_edit, VIEW3D_UL_ik_triangulation_spaces, VIEW3D_PT_ik_triangulation_spaces)
)

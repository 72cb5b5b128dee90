# SPDX-License-Identifier: GPL-3.0-or-later
"""Joints: the joint limits of the limb's bones."""

import bpy
from bpy.types import Context, Panel, UILayout

from ...errors import ChainError
from ...rig import freedom
from .. import preferences
from ..context import active_bone
from ..operators.joints import (
    POSE_OT_ik_triangulation_joint_copy,
    POSE_OT_ik_triangulation_joint_learn,
    POSE_OT_ik_triangulation_joint_mirror,
    POSE_OT_ik_triangulation_joint_own,
)
from .layout import LimbPanel, note_folded, note_unfolded, paragraph
from .lists import VIEW3D_UL_ik_triangulation_joints, chosen_joint


class VIEW3D_PT_ik_triangulation_joint(LimbPanel, Panel):
    bl_label = "Joints"
    bl_options = {"DEFAULT_CLOSED"}

    @classmethod
    def poll(cls, context: Context) -> bool:
        note_folded(context)
        return super().poll(context)

    def draw(self, context: Context) -> None:
        note_unfolded(context)
        column = self.column(context)
        limb, bone = active_bone(context).ik_triangulation, chosen_joint(context)
        length = column.column()
        length.active = not limb.use_selected
        length.prop(limb, "chain_count")
        if limb.use_selected or preferences.shows_all(context, limb):
            column.prop(limb, "use_selected")
        lists = context.window_manager.ik_triangulation_lists
        name = VIEW3D_UL_ik_triangulation_joints.__name__
        column.template_list(name, "", bone.id_data.pose, "bones", lists, "joint", rows=3, maxrows=8)
        joint = bone.ik_triangulation_joint
        column.label(text=bone.name, icon="BONE_DATA")
        column.prop(joint, "source")
        if joint.source in {"AUTO", "BLENDER"}:
            _draw_blender_limits(column, bone)
            for limit in bone.constraints if joint.source == "AUTO" else ():
                if limit.type == "LIMIT_ROTATION":
                    _draw_limit(column, limit)
        elif joint.source == "CONSTRAINT":
            _draw_constraint(column, bone, context)
        else:
            _draw_own_limits(column, joint, preferences.shows_all(context, limb))
        if limb.effort_weight or joint.mass != 1.0 or preferences.shows_all(context, limb):
            column.prop(joint, "mass")
        for note in freedom.limit_notes([bone] if bone else []):
            paragraph(column, note, context, "ERROR")
        column.separator()
        column.label(text="Limits of Selected Bones:")
        tools = column.column(align=True)
        tools.operator(POSE_OT_ik_triangulation_joint_own.bl_idname, icon="IMPORT")
        tools.operator(POSE_OT_ik_triangulation_joint_copy.bl_idname, icon="COPYDOWN")
        tools.operator(POSE_OT_ik_triangulation_joint_mirror.bl_idname, icon="MOD_MIRROR")
        tools.operator(POSE_OT_ik_triangulation_joint_learn.bl_idname, icon="KEYFRAME")


def _draw_blender_limits(column: UILayout, bone: bpy.types.PoseBone) -> None:
    """Draw the limits of Blender's own Inverse Kinematics panel."""
    for axis in "xyz":
        row = column.row(align=True)
        row.use_property_split = False
        row.label(text=axis.upper())
        row.prop(bone, f"lock_ik_{axis}", text="")
        limits = row.row(align=True)
        limits.active = not getattr(bone, f"lock_ik_{axis}")
        limits.prop(bone, f"use_ik_limit_{axis}", text="Limit", toggle=True)
        if getattr(bone, f"use_ik_limit_{axis}"):
            limits.prop(bone, f"ik_min_{axis}", text="")
            limits.prop(bone, f"ik_max_{axis}", text="")


def _draw_constraint(column: UILayout, bone: bpy.types.PoseBone, context: Context) -> None:
    """Draw the limits of the Limit Rotation constraint, or the reason why it cannot be used."""
    try:
        limit = freedom.limit_rotation(bone)
    except ChainError as error:
        paragraph(column, str(error), context, "ERROR")
        return
    _draw_limit(column, limit)


def _draw_limit(column: UILayout, limit: bpy.types.Constraint) -> None:
    """Draw a Limit Rotation constraint."""
    column.label(text=limit.name, icon="CON_ROTLIMIT")
    column.prop(limit, "euler_order", text="Order")
    for axis in "xyz":
        column.prop(limit, f"use_limit_{axis}")
        if getattr(limit, f"use_limit_{axis}"):
            ends = column.column(align=True)
            ends.prop(limit, f"min_{axis}", text="Minimum")
            ends.prop(limit, f"max_{axis}", text="Maximum")


def _draw_own_limits(column: UILayout, joint: bpy.types.PropertyGroup, all_of_it: bool) -> None:
    """Draw the values used by this kind of joint."""
    column.prop(joint, "kind")
    if joint.kind == "HINGE":
        column.prop(joint, "axis")
    elif joint.kind == "CONE":
        column.prop(joint, "swing")
    elif joint.kind == "EULER":
        if joint.order != joint.bl_rna.properties["order"].default or all_of_it:
            column.prop(joint, "order")
        column.prop(joint, "minimum")
        column.prop(joint, "maximum")
    if joint.kind in {"HINGE", "CONE"}:
        column.prop(joint, "use_limits", text="Limit Twist" if joint.kind == "CONE" else "Limit")
        ends = column.column(align=True)
        ends.active = joint.use_limits
        for end in ("lower", "upper"):
            ends.prop(joint, f"twist_{end}" if joint.kind == "CONE" else end)
    if joint.kind != "LOCKED" and (joint.stiffness or all_of_it):
        column.prop(joint, "stiffness", slider=True)


register, unregister = bpy.utils.register_classes_factory((VIEW3D_PT_ik_triangulation_joint,))

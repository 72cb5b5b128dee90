# SPDX-License-Identifier: GPL-3.0-or-later
"""The limb that ends in the active bone, in the sidebar's Animation tab."""

from textwrap import wrap

import bpy
from bpy.types import Context, Panel, UILayout

from ..blender.context import active_armature, active_bone
from ..blender.freedom import limit_rotation
from ..errors import ChainError
from ..kinematics.timing import TIMINGS
from ..operators.bake import (
    POSE_OT_ik_triangulation_bake,
    POSE_OT_ik_triangulation_bake_all,
    POSE_OT_ik_triangulation_rebake,
)
from ..operators.generated import POSE_OT_ik_triangulation_generated_delete
from ..operators.joints import (
    POSE_OT_ik_triangulation_joint_copy,
    POSE_OT_ik_triangulation_joint_learn,
    POSE_OT_ik_triangulation_joint_mirror,
    POSE_OT_ik_triangulation_joint_own,
)
from ..operators.offset import POSE_OT_ik_triangulation_offset_set
from ..operators.reach import POSE_OT_ik_triangulation_reach
from ..operators.solve import POSE_OT_ik_triangulation_solve
from ..results import latest
from .presets import VIEW3D_PT_ik_triangulation_presets

_LETTER = 8.0  # pixels at 1x interface scale that a letter of a label takes, generously
_NARROW = 200.0  # pixels of a narrow sidebar


class SidebarPanel:
    """Where all panels of the extension are, and how they lay out."""

    bl_space_type = "VIEW_3D"
    bl_region_type = "UI"
    bl_category = "Animation"

    def column(self) -> UILayout:
        """Labels left, values right, no key buttons."""
        layout = self.layout
        layout.use_property_split = True
        layout.use_property_decorate = False
        return layout.column()


class LimbPanel(SidebarPanel):
    """A part of the main panel, there only with an active bone."""

    bl_parent_id = "VIEW3D_PT_ik_triangulation"

    @classmethod
    def poll(cls, context: Context) -> bool:
        return active_bone(context) is not None


class VIEW3D_PT_ik_triangulation(SidebarPanel, Panel):
    bl_label = "IK Triangulation"

    def draw_header_preset(self, context: Context) -> None:
        if active_bone(context) is not None:
            VIEW3D_PT_ik_triangulation_presets.draw_panel_header(self.layout)

    def draw(self, context: Context) -> None:
        column = self.column()
        bone = active_bone(context)
        if bone is None:
            armature = active_armature(context)
            column.label(text="Make a bone active" if armature else "Select an armature", icon="INFO")
            return
        limb = bone.ik_triangulation
        column.label(text=f"Limb to {bone.name}", icon="BONE_DATA")
        column.prop(limb, "target")
        if limb.target is not None and limb.target.type == "ARMATURE":
            column.prop_search(limb, "subtarget", limb.target.data, "bones")
        length = column.column()
        length.active = not limb.use_selected
        length.prop(limb, "chain_count")
        column.prop(limb, "use_selected")
        column.separator()
        column.operator(POSE_OT_ik_triangulation_solve.bl_idname, icon="CON_KINEMATIC")


class VIEW3D_PT_ik_triangulation_goal(LimbPanel, Panel):
    bl_label = "Goal"
    bl_options = {"DEFAULT_CLOSED"}

    def draw(self, context: Context) -> None:
        column = self.column()
        limb = active_bone(context).ik_triangulation
        column.prop(limb, "influence", slider=True)
        column.prop(limb, "shape")
        offset = column.row(align=True, heading="Offset")
        offset.prop(limb, "use_offset", text="")
        offset.operator(POSE_OT_ik_triangulation_offset_set.bl_idname)
        column.separator()
        column.prop(limb, "orientation")
        weight = column.column()
        weight.active = limb.orientation != "NONE"
        weight.prop(limb, "orient_weight", slider=True)
        column.separator()
        column.prop(limb, "pole_target")
        if limb.pole_target is not None:
            if limb.pole_target.type == "ARMATURE":
                column.prop_search(limb, "pole_subtarget", limb.pole_target.data, "bones")
            column.prop(limb, "pole_angle")
            column.prop(limb, "pole_weight", slider=True)


class VIEW3D_PT_ik_triangulation_comfort(LimbPanel, Panel):
    bl_label = "Comfort"
    bl_options = {"DEFAULT_CLOSED"}

    def draw(self, context: Context) -> None:
        column = self.column()
        limb = active_bone(context).ik_triangulation
        column.prop(limb, "effort_weight", slider=True)
        column.prop(limb, "rest_weight", slider=True)
        near = column.column()
        near.active = limb.rest_weight > 0.0
        near.prop(limb, "rest_pose")
        column.separator()
        column.prop(limb, "obstacles")
        if limb.obstacles is not None:
            column.prop(limb, "obstacle_margin")
            column.prop(limb, "obstacle_weight", slider=True)


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


class VIEW3D_PT_ik_triangulation_solver(LimbPanel, Panel):
    bl_label = "Solver"

    def draw(self, context: Context) -> None:
        column = self.column()
        limb = active_bone(context).ik_triangulation
        column.prop(limb, "solver")
        column.prop(limb, "tolerance")
        column.prop(limb, "iterations")
        column.prop(limb, "finish")
        seed = column.column()
        seed.active = limb.finish
        seed.prop(limb, "seed")


class VIEW3D_PT_ik_triangulation_joint(LimbPanel, Panel):
    bl_label = "Joint"
    bl_options = {"DEFAULT_CLOSED"}

    def draw(self, context: Context) -> None:
        column = self.column()
        bone = active_bone(context)
        joint = bone.ik_triangulation_joint
        column.label(text=bone.name, icon="BONE_DATA")
        column.prop(joint, "source")
        if joint.source == "BLENDER":
            _draw_blender_limits(column, bone)
        elif joint.source == "CONSTRAINT":
            _draw_constraint(column, bone, context)
        else:
            _draw_own_limits(column, joint)
        column.separator()
        tools = column.column(align=True)
        if joint.source != "OWN":
            tools.operator(POSE_OT_ik_triangulation_joint_own.bl_idname, icon="IMPORT")
        tools.operator(POSE_OT_ik_triangulation_joint_copy.bl_idname, icon="COPYDOWN")
        tools.operator(POSE_OT_ik_triangulation_joint_mirror.bl_idname, icon="MOD_MIRROR")
        tools.operator(POSE_OT_ik_triangulation_joint_learn.bl_idname, icon="KEYFRAME")


class VIEW3D_PT_ik_triangulation_bake(LimbPanel, Panel):
    bl_label = "Bake"

    def draw(self, context: Context) -> None:
        column = self.column()
        limb = active_bone(context).ik_triangulation
        column.prop(limb, "use_scene_range")
        ends = column.column(align=True)
        ends.active = not limb.use_scene_range
        ends.prop(limb, "frame_start")
        ends.prop(limb, "frame_end")
        step = column.column()
        step.active = not limb.only_target_keys
        step.prop(limb, "step")
        column.separator()
        column.operator(POSE_OT_ik_triangulation_bake.bl_idname, icon="KEY_HLT")
        together = column.row(align=True)
        together.prop(limb, "enabled", text="")
        together.operator(POSE_OT_ik_triangulation_bake_all.bl_idname)
        column.operator(POSE_OT_ik_triangulation_rebake.bl_idname, icon="FILE_REFRESH")
        column.operator(POSE_OT_ik_triangulation_generated_delete.bl_idname, icon="KEY_DEHLT")


class BakePanel(LimbPanel):
    """A part of the Bake panel."""

    bl_parent_id = "VIEW3D_PT_ik_triangulation_bake"
    bl_options = {"DEFAULT_CLOSED"}


class VIEW3D_PT_ik_triangulation_keys(BakePanel, Panel):
    bl_label = "Keys"

    def draw(self, context: Context) -> None:
        column = self.column()
        limb = active_bone(context).ik_triangulation
        for name in ("destination", "interpolation", "only_target_keys", "mark_misses", "reduce"):
            column.prop(limb, name)
        within = column.column()
        within.active = limb.reduce
        within.prop(limb, "reduce_tolerance")


class VIEW3D_PT_ik_triangulation_smoothness(BakePanel, Panel):
    bl_label = "Smoothness"

    def draw(self, context: Context) -> None:
        column = self.column()
        limb = active_bone(context).ik_triangulation
        column.prop(limb, "start_from")
        smooth = column.column()
        smooth.active = limb.finish
        smooth.prop(limb, "smooth")
        smooth.prop(limb, "smoothing", slider=True)


class VIEW3D_PT_ik_triangulation_reach(LimbPanel, Panel):
    bl_label = "Reach"
    bl_options = {"DEFAULT_CLOSED"}

    def draw(self, context: Context) -> None:
        column = self.column()
        limb = active_bone(context).ik_triangulation
        frames = column.column(align=True)
        for name in ("start", "end", "hold", "return"):
            frames.prop(limb, f"reach_{name}")
        column.separator()
        column.prop(limb, "reach_path")
        onset = column.column()
        onset.active = limb.reach_path == "ARC"
        onset.prop(limb, "reach_onset", slider=True)
        column.prop(limb, "reach_timing")
        easing = column.column()
        easing.active = TIMINGS[limb.reach_timing].eased
        easing.prop(limb, "reach_easing")
        column.separator()
        column.operator(POSE_OT_ik_triangulation_reach.bl_idname, icon="KEY_HLT")


def _draw_blender_limits(column: UILayout, bone: bpy.types.PoseBone) -> None:
    """The part of Blender's own Inverse Kinematics panel that counts here."""
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
    """The part of the Limit Rotation constraint that counts here, or why it cannot be used."""
    try:
        limit = limit_rotation(bone)
    except ChainError as error:
        width = context.region.width / context.preferences.system.ui_scale if context.region else _NARROW
        for number, line in enumerate(wrap(str(error), max(20, int(width / _LETTER)))):
            column.label(text=line, icon="BLANK1" if number else "ERROR")
        return
    column.label(text=limit.name, icon="CON_ROTLIMIT")
    column.prop(limit, "euler_order", text="Order")
    for axis in "xyz":
        column.prop(limit, f"use_limit_{axis}")
        if getattr(limit, f"use_limit_{axis}"):
            ends = column.column(align=True)
            ends.prop(limit, f"min_{axis}", text="Minimum")
            ends.prop(limit, f"max_{axis}", text="Maximum")


def _draw_own_limits(column: UILayout, joint: bpy.types.PropertyGroup) -> None:
    """The values that count for the kind of joint."""
    column.prop(joint, "kind")
    if joint.kind == "HINGE":
        column.prop(joint, "axis")
    elif joint.kind == "CONE":
        column.prop(joint, "swing")
    elif joint.kind == "EULER":
        column.prop(joint, "order")
        column.prop(joint, "minimum")
        column.prop(joint, "maximum")
    if joint.kind in {"HINGE", "CONE"}:
        column.prop(joint, "use_limits", text="Limit Twist" if joint.kind == "CONE" else "Limit")
        ends = column.column(align=True)
        ends.active = joint.use_limits
        for end in ("lower", "upper"):
            ends.prop(joint, f"twist_{end}" if joint.kind == "CONE" else end)
    if joint.kind != "LOCKED":
        column.prop(joint, "stiffness", slider=True)


register, unregister = bpy.utils.register_classes_factory(
    (
        VIEW3D_PT_ik_triangulation,
        VIEW3D_PT_ik_triangulation_result,
        VIEW3D_PT_ik_triangulation_goal,
        VIEW3D_PT_ik_triangulation_comfort,
        VIEW3D_PT_ik_triangulation_solver,
        VIEW3D_PT_ik_triangulation_joint,
        VIEW3D_PT_ik_triangulation_bake,
        VIEW3D_PT_ik_triangulation_keys,
        VIEW3D_PT_ik_triangulation_smoothness,
        VIEW3D_PT_ik_triangulation_reach,
    )
)

# SPDX-License-Identifier: GPL-3.0-or-later
"""Tools for the joint settings of the selected bones, or of the active one if none is selected."""

from math import pi

import bpy
from bpy.props import FloatProperty
from bpy.types import Context

from ...jobs import joint_tools as joints
from ...motion.learning import OFF_AXIS, SHARE
from ...rig.selection import selected_bones
from ..context import active_armature, active_bone, why_not_set
from .base import IKOperator


class JointOperator(IKOperator):
    """Changes joint settings and says what it did."""

    @classmethod
    def why_not(cls, context: Context) -> str | None:
        return why_not_set(context) or cls.missing(context)

    @classmethod
    def missing(cls, context: Context) -> str | None:
        """Which bones are missing; None if none are."""
        return None if chosen_bones(context) else "Select bones"

    def act(self, context: Context) -> set[str]:
        for line in self.run(context):
            self.report({"INFO"}, line)
        return {"FINISHED"}

    def run(self, context: Context) -> list[str]:
        """Do it and say what was done; raises an IKError that says what is in the way."""
        raise NotImplementedError


class POSE_OT_ik_triangulation_joint_own(JointOperator):
    bl_idname = "pose.ik_triangulation_joint_own"
    bl_label = "Copy to Own Limits"
    bl_description = (
        "Make what the selected bones may do by Blender's IK settings or a Limit Rotation constraint "
        "their own values, and use those from now on"
    )

    def run(self, context: Context) -> list[str]:
        return [f"Own limits: {_names(joints.copy_to_own(active_armature(context), chosen_bones(context)))}"]


class POSE_OT_ik_triangulation_joint_copy(JointOperator):
    bl_idname = "pose.ik_triangulation_joint_copy"
    bl_label = "Copy to Selected"
    bl_description = (
        "Give the other selected bones what the active bone may do, with its stiffness, as their own values, "
        "wherever the active bone has it from"
    )

    @classmethod
    def missing(cls, context: Context) -> str | None:
        bone = active_bone(context)
        if bone is None:
            return "Make the bone to copy from active"
        others = set(selected_bones(active_armature(context))) - {bone.name}
        return None if others else "Select the bones to copy to, and last the one to copy from"

    def run(self, context: Context) -> list[str]:
        armature, source = active_armature(context), active_bone(context).name
        return [f"Joint of {source} to: {_names(joints.copy_to_others(armature, source, selected_bones(armature)))}"]


class POSE_OT_ik_triangulation_joint_mirror(JointOperator):
    bl_idname = "pose.ik_triangulation_joint_mirror"
    bl_label = "Mirror"
    bl_description = (
        "Give the bones on the other side, those of the mirrored names, what the selected bones may do as in a mirror"
    )

    def run(self, context: Context) -> list[str]:
        return [f"Mirrored to: {_names(joints.mirror(active_armature(context), chosen_bones(context)))}"]


class POSE_OT_ik_triangulation_joint_learn(JointOperator):
    bl_idname = "pose.ik_triangulation_joint_learn"
    bl_label = "Learn from Keys"
    bl_description = (
        "Find the hinge, or the range about each axis, that the rotation keys of each selected bone make use of, "
        "and make it the bone's own values"
    )

    off_axis: FloatProperty(
        name="Off Axis",
        description="A bone of which 95 % of the frames stray less than this from one axis is a hinge",
        subtype="ANGLE",
        default=OFF_AXIS,
        min=0.0,
        max=pi,
    )
    share: FloatProperty(
        name="Share",
        description="Share of the motion that the ranges keep, angle by angle; the rest, at both ends, is left out",
        subtype="PERCENTAGE",
        default=SHARE,
        min=1.0,
        max=100.0,
    )
    margin: FloatProperty(
        name="Margin",
        description="Margin by which each end of the ranges is widened",
        subtype="ANGLE",
        min=0.0,
        max=pi,
    )

    def run(self, context: Context) -> list[str]:
        bones = chosen_bones(context)
        found = joints.learn(active_armature(context), bones, self.off_axis, self.share, self.margin)
        return [f"{name}: {learned}" for name, learned in found.items()]


def chosen_bones(context: Context) -> list[str]:
    """Names of the selected bones of the active armature, or of the active one if none is selected."""
    bone = active_bone(context)
    return selected_bones(active_armature(context)) or ([bone.name] if bone else [])


def _names(bones: list[str]) -> str:
    return ", ".join(bones) if bones else "nothing to do"


register, unregister = bpy.utils.register_classes_factory(
    (
        POSE_OT_ik_triangulation_joint_own,
        POSE_OT_ik_triangulation_joint_copy,
        POSE_OT_ik_triangulation_joint_mirror,
        POSE_OT_ik_triangulation_joint_learn,
    )
)

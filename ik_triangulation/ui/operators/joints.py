# SPDX-License-Identifier: GPL-3.0-or-later
"""Tools for the joint settings of the selected bones, or of the active one if none is selected."""

from math import pi

import bpy
from bpy.props import FloatProperty
from bpy.types import Context

from ...items import OFF_AXIS, SHARE
from ...jobs import joint_tools as joints
from ...rig import limb as rig_limb
from ..context import cannot_edit, own_armature, picked_bone
from .base import IKOperator


class JointOperator(IKOperator):
    """Base of the operators that change joint settings: each reports its changes."""

    @classmethod
    def poll_problem(cls, context: Context) -> str | None:
        return cannot_edit(context) or cls.missing_bones(context)

    @classmethod
    def missing_bones(cls, context: Context) -> str | None:
        """Return why there are no bones to change; None if there are."""
        return None if chosen_bones(context) else "Select bones"

    def act(self, context: Context) -> set[str]:
        for line in self.change(context):
            self.tell({"INFO"}, line)
        return {"FINISHED"}

    def change(self, context: Context) -> list[str]:
        """Change the settings and return a line for each change. Raises IKError if that cannot be done."""
        raise NotImplementedError


class POSE_OT_ik_triangulation_joint_own(JointOperator):
    bl_idname = "pose.ik_triangulation_joint_own"
    bl_label = "Copy to Custom Limits"
    bl_description = (
        "Copy the joint limits of the selected bones, from Blender's IK settings or a Limit Rotation constraint, "
        "to their custom limits, and use those from now on"
    )

    def change(self, context: Context) -> list[str]:
        return [f"Custom limits: {_names(joints.copy_to_own(own_armature(context), chosen_bones(context)))}"]


class POSE_OT_ik_triangulation_joint_copy(JointOperator):
    bl_idname = "pose.ik_triangulation_joint_copy"
    bl_label = "Copy to Selected"
    bl_description = (
        "Copy the joint limits and stiffness of the active bone to the other selected bones, as custom limits"
    )

    @classmethod
    def missing_bones(cls, context: Context) -> str | None:
        bone = picked_bone(context)
        if bone is None:
            return "Make the bone to copy from the active bone"
        others = set(rig_limb.selected_bones(own_armature(context))) - {bone.name}
        return None if others else "Select the bones to copy to, then the bone to copy from"

    def change(self, context: Context) -> list[str]:
        armature, source = own_armature(context), picked_bone(context).name
        others = joints.copy_to_others(armature, source, rig_limb.selected_bones(armature))
        return [f"Joint of {source} to: {_names(others)}"]


class POSE_OT_ik_triangulation_joint_mirror(JointOperator):
    bl_idname = "pose.ik_triangulation_joint_mirror"
    bl_label = "Mirror"
    bl_description = (
        "Copy the joint limits of the selected bones, mirrored, to the bones of the other side, found by name"
    )

    def change(self, context: Context) -> list[str]:
        return [f"Mirrored to: {_names(joints.mirror(own_armature(context), chosen_bones(context)))}"]


class POSE_OT_ik_triangulation_joint_learn(JointOperator):
    bl_idname = "pose.ik_triangulation_joint_learn"
    bl_label = "Learn from Keys"
    bl_description = (
        "Find the hinge axis, or the range about each axis, that the rotation keys of each selected bone use, "
        "and store it as custom limits"
    )

    off_axis: FloatProperty(
        name="Hinge Within",
        description="A bone is a hinge if its rotation stays this close to one axis in 95 % of the frames",
        subtype="ANGLE",
        default=OFF_AXIS,
        min=0.0,
        max=pi,
    )
    share: FloatProperty(
        name="Frames Covered",
        description="Share of the frames that each range covers; the most extreme angles are left out",
        subtype="PERCENTAGE",
        default=SHARE,
        min=1.0,
        max=100.0,
    )
    margin: FloatProperty(
        name="Margin",
        description="Angle added at both ends of each range",
        subtype="ANGLE",
        min=0.0,
        max=pi,
    )

    def change(self, context: Context) -> list[str]:
        bones = chosen_bones(context)
        found = joints.learn(own_armature(context), bones, self.off_axis, self.share, self.margin)
        return [f"{name}: {learned}" for name, learned in found.items()]


def chosen_bones(context: Context) -> list[str]:
    """Return the names of the selected bones of the active armature, or of the active bone if none is selected."""
    bone = picked_bone(context)
    return rig_limb.selected_bones(own_armature(context)) or ([bone.name] if bone else [])


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

# SPDX-License-Identifier: GPL-3.0-or-later
"""Delete Generated Keys: what bakes have made goes, what was keyed by hand stays."""

from math import inf

import bpy
from bpy.props import BoolProperty
from bpy.types import Context, Operator

from ..bake import delete_generated
from ..blender.context import active_armature, active_bone, active_chain, why_not_set
from ..blender.limb import saved_range
from ..errors import IKError


class POSE_OT_ik_triangulation_generated_delete(Operator):
    bl_idname = "pose.ik_triangulation_generated_delete"
    bl_label = "Delete Generated Keys"
    bl_description = "Delete the rotation keys of the limb that were baked, and keep those made by hand"
    bl_options = {"REGISTER", "UNDO"}

    use_range: BoolProperty(name="Only in Range", description="Delete them only in the range of the limb")

    @classmethod
    def poll(cls, context: Context) -> bool:
        reason = why_not_set(context)
        if reason is None and active_bone(context) is None:
            reason = "Make the bone at the end of the limb active"
        if reason:
            cls.poll_message_set(reason)
        return reason is None

    def execute(self, context: Context) -> set[str]:
        first, last, scene = -inf, inf, context.scene
        if self.use_range:
            first, last, _ = saved_range(active_bone(context).ik_triangulation, scene, scene.use_preview_range)
        try:
            chain = active_chain(context)
            count = delete_generated(active_armature(context), chain, first, last, context.view_layer)
        except IKError as error:
            self.report({"ERROR"}, f"IK Triangulation: {error}")
            return {"CANCELLED"}
        self.report({"INFO"}, f"Deleted {count} keys")
        return {"FINISHED"} if count else {"CANCELLED"}


register, unregister = bpy.utils.register_classes_factory((POSE_OT_ik_triangulation_generated_delete,))

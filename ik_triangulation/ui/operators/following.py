# SPDX-License-Identifier: GPL-3.0-or-later
"""Set and key the property, such as IK_FK, that makes the deform bones follow the baked limb."""

import bpy
from bpy.types import Context

from ...jobs.switching import let_follow
from ..context import active_armature, active_bone, active_limb, cannot_solve
from ..last_result import latest, remember_result
from .base import IKOperator


class POSE_OT_ik_triangulation_follow_set(IKOperator):
    bl_idname = "pose.ik_triangulation_follow_set"
    bl_label = "Let Bones Follow"
    bl_description = (
        "Set the property that makes the deform bones follow the limb, and key it over the frames of the last result; "
        "for a single frame it is keyed only if it has keys already or Auto Keying is on"
    )

    @classmethod
    def poll_problem(cls, context: Context) -> str | None:
        reason = cannot_solve(context)
        if reason:
            return reason
        bone = active_bone(context)
        result = latest(bone.id_data, bone.name)
        return None if result and result.switches else "All bones that can follow the limb do so"

    def act(self, context: Context) -> set[str]:
        armature, limb, scene = active_armature(context), active_limb(context), context.scene
        result = latest(armature, limb.tip)
        frames = [each.frame for each in result.report.frames]
        key = result.is_bake or scene.tool_settings.use_keyframe_insert_auto
        remedies = let_follow(limb, frames[0], frames[-1], key, scene, context.view_layer)
        remember_result(result.report.following(), armature, scene)
        texts = [f"'{each.name}' of '{each.holder}' is now {each.value:g}" for each in remedies]
        said = ", ".join(texts) or "All bones follow the limb already"
        reached = latest(armature, limb.tip)
        self.tell({"INFO"}, f"{said}. {reached.lines[0]}")
        return {"FINISHED"}


register, unregister = bpy.utils.register_classes_factory((POSE_OT_ik_triangulation_follow_set,))

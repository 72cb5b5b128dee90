# SPDX-License-Identifier: GPL-3.0-or-later
"""Set and key the property, such as IK_FK, that makes the deform bones follow the baked limb."""

import bpy
from bpy.types import Context

from ...jobs.body_following import let_body_follow, measured_again
from ...jobs.switching import let_follow
from ..context import active_armature, active_body, active_bone, active_limb, cannot_solve
from ..last_result import BodyResult, latest, remember_result
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
        armature, bone, where = active_armature(context), active_bone(context), (context.scene, context.view_layer)
        result = latest(armature, bone.name)
        key = result.is_bake or context.scene.tool_settings.use_keyframe_insert_auto
        if isinstance(result, BodyResult):
            body, frames = active_body(context), result.body.frames
            remedies = let_body_follow(body, frames[0], frames[-1], key, *where)
            remember_result(measured_again(body, result.body, *where), armature, context.scene)
        else:
            frames = [each.frame for each in result.report.frames]
            remedies = let_follow(active_limb(context), frames[0], frames[-1], key, *where)
            remember_result(result.report.following(), armature, context.scene)
        texts = [f"'{each.name}' of '{each.holder}' is now {each.value:g}" for each in remedies]
        said = ", ".join(texts) or "All bones follow the limb already"
        reached = latest(armature, bone.name)
        self.tell({"INFO"}, f"{said}. {reached.lines[0]}")
        return {"FINISHED"}


register, unregister = bpy.utils.register_classes_factory((POSE_OT_ik_triangulation_follow_set,))

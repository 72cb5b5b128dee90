# SPDX-License-Identifier: GPL-3.0-or-later
"""Set and key the property, such as IK_FK, that keeps deform bones from following the limb that was baked."""

import bpy
from bpy.types import Context

from ...jobs.switching import let_follow
from ..context import active_armature, active_bone, active_limb, why_not
from ..last_result import latest, remember
from .base import IKOperator


class POSE_OT_ik_triangulation_follow_set(IKOperator):
    bl_idname = "pose.ik_triangulation_follow_set"
    bl_label = "Let Bones Follow"
    bl_description = (
        "Set the property with which the deform bones follow the limb, and key it over the frames of the last result; "
        "of a single frame it is only keyed if it has keys or Auto Keying is on"
    )

    @classmethod
    def why_not(cls, context: Context) -> str | None:
        reason = why_not(context)
        if reason:
            return reason
        bone = active_bone(context)
        result = latest(bone.id_data, bone.name)
        return None if result and result.switches else "No bone is known that could follow the limb and does not"

    def act(self, context: Context) -> set[str]:
        armature, limb, scene = active_armature(context), active_limb(context), context.scene
        result = latest(armature, limb.tip)
        frames = [each.frame for each in result.report.frames]
        key = result.is_bake or scene.tool_settings.use_keyframe_insert_auto
        remedies = let_follow(limb, frames[0], frames[-1], key, scene, context.view_layer)
        remember(result.report.following(), armature, scene)
        texts = [f"'{each.name}' of '{each.holder}' is {each.value:g} now" for each in remedies]
        said = ", ".join(texts) or "All bones follow already"
        reached = latest(armature, limb.tip)
        self.report({"INFO"}, f"{said}. {reached.lines[0]}")
        return {"FINISHED"}


register, unregister = bpy.utils.register_classes_factory((POSE_OT_ik_triangulation_follow_set,))

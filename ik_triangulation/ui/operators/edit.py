# SPDX-License-Identifier: GPL-3.0-or-later
"""Edit what is animated: targets to their tips."""

import bpy
from bpy.props import BoolProperty
from bpy.types import Context, PoseBone

from ...errors import ChainError
from ...jobs.targets import target_to_tip
from ...rig.limb import selected_bones, selected_limb
from ..context import active_armature, active_bone, cannot_solve, is_limb
from .base import IKOperator


def chosen_tips(context: Context) -> list[PoseBone]:
    """Return the tips of the limbs that are selected, by their tips or their targets; else that of the active limb."""
    armature, active = active_armature(context), active_bone(context)
    names = selected_bones(armature) if context.mode == "POSE" else ()
    targets = [ob for ob in context.selected_objects if ob != armature]
    tips = [
        bone
        for bone in armature.pose.bones
        if is_limb(bone) and (bone.name in names or bone.ik_triangulation.target in targets)
    ]
    return tips or ([active] if active is not None else [])


class POSE_OT_ik_triangulation_target_to_tip(IKOperator):
    bl_idname = "pose.ik_triangulation_target_to_tip"
    bl_label = "Target to Tip"
    bl_description = (
        "Move the targets of the selected limbs to where their hands or feet are at this frame, as after posing by FK. "
        "A target whose rotation is requested turns as well. With Auto Keying it is keyed"
    )

    key: BoolProperty(name="Key", description="Key the targets at this frame", options={"SKIP_SAVE"})

    poll_problem = staticmethod(cannot_solve)

    def act(self, context: Context) -> set[str]:
        tips = [bone for bone in chosen_tips(context) if bone.ik_triangulation.target is not None]
        if not tips:
            raise ChainError("The selected limbs are held and have no target. Select one that reaches.")
        key = self.key or context.scene.tool_settings.use_keyframe_insert_auto
        names = target_to_tip([selected_limb(bone) for bone in tips], key, context.scene, context.view_layer)
        count = len(names)
        if key:
            self.tell({"INFO"}, f"{count} targets moved to their tips and keyed")
        else:
            self.tell({"INFO"}, f"{count} targets moved to their tips")
        return {"FINISHED"}


register, unregister = bpy.utils.register_classes_factory((POSE_OT_ik_triangulation_target_to_tip,))

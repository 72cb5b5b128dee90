# SPDX-License-Identifier: GPL-3.0-or-later
"""Select the target of the limb, and choose one of the limbs that share a target."""

import bpy
from bpy.props import StringProperty
from bpy.types import Context, Object, PoseBone

from ...errors import ChainError, TargetError
from ...rig.limb import bone_of
from ..context import active_bone, cannot_solve, choose_limb, limbs_at_target
from .base import IKOperator


class POSE_OT_ik_triangulation_target_select(IKOperator):
    bl_idname = "pose.ik_triangulation_target_select"
    bl_label = "Select Target"
    bl_description = "Select the target of the limb and make it active, ready to be moved"

    @classmethod
    def poll_problem(cls, context: Context) -> str | None:
        bone = active_bone(context)
        there = bone is not None and bone.ik_triangulation.target is not None
        return None if there else cannot_solve(context) or "Choose a limb with a target"

    def act(self, context: Context) -> set[str]:
        limb = active_bone(context).ik_triangulation
        target, name = limb.target, bone_of(limb.target, limb.subtarget)
        _check_visible(context, target)
        bone = target.pose.bones.get(name) if name else None
        if name and bone is None:
            raise TargetError(f"'{target.name}' has no bone '{name}'. Choose another bone as the target.")
        if bone is not None:
            _select_bone(context, bone)
        else:
            if context.mode != "OBJECT" and context.scene.tool_settings.lock_object_mode:
                bpy.ops.object.mode_set(mode="OBJECT")  # otherwise a click on the rig would not take it back
            _activate(context, target)
        return {"FINISHED"}


class POSE_OT_ik_triangulation_limb_choose(IKOperator):
    bl_idname = "pose.ik_triangulation_limb_choose"
    bl_label = "Choose Limb"
    bl_description = "Show and use this limb of those that share the active target"
    bl_options = {"REGISTER", "UNDO", "INTERNAL"}

    armature: StringProperty(name="Armature", description="Armature of the limb", options={"SKIP_SAVE"})
    tip: StringProperty(name="Tip", description="Bone at the end of the limb", options={"SKIP_SAVE"})

    @classmethod
    def poll_problem(cls, context: Context) -> str | None:
        return None if limbs_at_target(context) else "Select the target of a limb"

    def act(self, context: Context) -> set[str]:
        for bone in limbs_at_target(context):
            if (bone.id_data.name, bone.name) == (self.armature, self.tip):
                choose_limb(bone.id_data, bone.name)
                return {"FINISHED"}
        raise ChainError(f"No limb of '{self.armature}' to '{self.tip}' has this target. Choose another.")


def _check_visible(context: Context, target: Object) -> None:
    """Raise TargetError for a target that cannot be selected."""
    if target.name not in context.view_layer.objects:
        raise TargetError(f"'{target.name}' is not in the view layer '{context.view_layer.name}'. Add it to the scene.")
    if not target.visible_get(view_layer=context.view_layer):
        raise TargetError(f"'{target.name}' is hidden. Show it in the Outliner first.")
    if target.hide_select:
        raise TargetError(f"'{target.name}' cannot be selected. Make it selectable in the Outliner first.")


def _select_bone(context: Context, bone: PoseBone) -> None:
    """Make a bone active and the only one selected, in Pose Mode."""
    owner, name = bone.id_data, bone.name
    if context.active_object != owner or owner.mode != "POSE":
        if context.active_object is not None and context.active_object.mode != "OBJECT":
            bpy.ops.object.mode_set(mode="OBJECT")
        _activate(context, owner)
        bpy.ops.object.mode_set(mode="POSE")
    bpy.ops.pose.select_all(action="DESELECT")
    bone = owner.pose.bones[name]
    (bone if hasattr(bone, "select") else bone.bone).select = True  # both flags moved to the pose bone in Blender 5.0
    owner.data.bones.active = bone.bone


def _activate(context: Context, ob: Object) -> None:
    """Make an object active and the only one selected."""
    for other in context.selected_objects:
        other.select_set(False)
    ob.select_set(True)
    context.view_layer.objects.active = ob


register, unregister = bpy.utils.register_classes_factory(
    (POSE_OT_ik_triangulation_target_select, POSE_OT_ik_triangulation_limb_choose)
)

# SPDX-License-Identifier: GPL-3.0-or-later
"""The list of limbs: add those that are selected, remove one, give one a target."""

import bpy
from bpy.types import Context, Object

from ...jobs import live
from ...jobs.limb_tools import add_limbs, new_target, remove_limb
from ..context import active_armature, active_bone, why_not_set
from ..last_result import forget
from .base import IKOperator
from .joints import chosen_bones


class POSE_OT_ik_triangulation_limb_add(IKOperator):
    bl_idname = "pose.ik_triangulation_limb_add"
    bl_label = "Add Limb"
    bl_description = (
        "Make the selected bones a limb, or a single one with those above it; it reaches for the other object that is "
        "selected, or for a new empty at its tip"
    )

    @classmethod
    def why_not(cls, context: Context) -> str | None:
        return why_not_set(context) or (None if chosen_bones(context) else "Select the bones of the limb")

    def act(self, context: Context) -> set[str]:
        armature = active_armature(context)
        chosen = chosen_bones(context)
        tips = add_limbs(armature, chosen, other_object(context))
        armature.data.bones.active = armature.data.bones[tips[-1]]
        taken = [f"'{tip}'" for tip in tips if tip not in chosen]
        instead = f". FK control {', '.join(taken)} taken in place of the bone that was selected" if taken else ""
        self.report({"INFO"}, f"Limbs: {', '.join(tips)}{instead}")
        for tip in tips:
            if armature.pose.bones[tip].ik_triangulation.chain_count == 1:
                self.report({"WARNING"}, f"'{tip}' has no bone above it that turns: it is a limb of its own")
        return {"FINISHED"}


class POSE_OT_ik_triangulation_limb_remove(IKOperator):
    bl_idname = "pose.ik_triangulation_limb_remove"
    bl_label = "Remove Limb"
    bl_description = "Take the limb out of the list; its bones, keys and target object stay"

    @classmethod
    def why_not(cls, context: Context) -> str | None:
        bone = active_bone(context)
        there = bone is not None and bone.ik_triangulation.target is not None
        return why_not_set(context) or (None if there else "Choose a limb of the list")

    def act(self, context: Context) -> set[str]:
        armature, tip = active_armature(context), active_bone(context).name
        live.stop(armature, tip)
        remove_limb(armature, tip)
        forget(armature, tip)
        return {"FINISHED"}


class POSE_OT_ik_triangulation_target_add(IKOperator):
    bl_idname = "pose.ik_triangulation_target_add"
    bl_label = "New Target"
    bl_description = "Make an empty at the tip of the limb its target"

    def act(self, context: Context) -> set[str]:
        bone = active_bone(context)
        bone.ik_triangulation.target = new_target(active_armature(context), bone.name)
        bone.ik_triangulation.subtarget = ""
        return {"FINISHED"}


def other_object(context: Context) -> Object | None:
    """The one object that is selected beside the armature and what it moves; None if there is none, or more."""
    armature = active_armature(context)
    others = [ob for ob in context.selected_objects if ob != armature and not _moves_with(ob, armature)]
    return others[0] if len(others) == 1 else None


def _moves_with(ob: Object, armature: Object) -> bool:
    """Whether an object is deformed by the armature, or a child of one of its bones."""
    deformed = any(modifier.type == "ARMATURE" and modifier.object == armature for modifier in ob.modifiers)
    return deformed or (ob.parent == armature and ob.parent_type in {"ARMATURE", "BONE"})


register, unregister = bpy.utils.register_classes_factory(
    (
        POSE_OT_ik_triangulation_limb_add,
        POSE_OT_ik_triangulation_limb_remove,
        POSE_OT_ik_triangulation_target_add,
    )
)

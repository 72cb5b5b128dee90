# SPDX-License-Identifier: GPL-3.0-or-later
"""Add limbs from the selection, remove a limb, create a target for one."""

from collections.abc import Sequence

import bpy
from bpy.types import Context, Object, PropertyGroup

from ...errors import ChainError
from ...jobs import live
from ...jobs.body_setup import MOST_TIPS, NewBody, is_whole_rig, lowest_of, set_up_body
from ...jobs.limb_tools import add_limbs, give_new_target, remove_limb
from ...rig.selection import select_only
from ..context import active_armature, active_bone, cannot_edit, own_armature
from ..last_result import forget_result
from ..limb_search import is_limb
from .base import IKOperator
from .body import show_body
from .joints import chosen_bones


class POSE_OT_ik_triangulation_limb_add(IKOperator):
    bl_idname = "pose.ik_triangulation_limb_add"
    bl_label = "Add Limb"
    bl_description = (
        "Make a limb of the selected bones; of a single one the arm, leg, spine, neck, finger or tail that it "
        "belongs to, or itself and its parents. If another object is selected, it becomes the target; otherwise a new "
        "empty at the tip does. Of most bones of a rig, or more than six tips, it sets up the body. In Pose Mode, drag "
        "the gizmo at the target to pose the limb"
    )

    @classmethod
    def poll_problem(cls, context: Context) -> str | None:
        return cannot_edit(context) or (None if chosen_bones(context) else "Select the bones of the limb")

    def act(self, context: Context) -> set[str]:
        armature = own_armature(context)
        chosen, target = chosen_bones(context), other_object(context)
        if context.mode == "POSE" and is_whole_rig(armature, chosen) and self._add_body(armature, chosen, target):
            return {"FINISHED"}
        tips = add_limbs(armature, chosen, target)
        return self.conclude(lambda: self._tell_about(armature, chosen, tips))

    def _tell_about(self, armature: Object, chosen: Sequence[str], tips: Sequence[str]) -> None:
        """Select the tips of the limbs that were made of the chosen bones, and tell of them."""
        select_only(armature, tips)
        taken = [f"'{tip}'" for tip in tips if tip not in chosen]
        others = ", ".join(f"'{name}'" for name in chosen if name not in tips)
        instead = f". {', '.join(taken)} used instead of {others}, which belongs to the limb" if taken else ""
        limbs = [armature.pose.bones[tip].ik_triangulation for tip in tips]
        self.tell({"INFO"}, f"Limbs: {', '.join(map(limb_label, limbs, tips))}{instead}")
        for tip, limb in zip(tips, limbs, strict=True):
            if limb.chain_count == 1 and limb.body_part == "NONE" and limb.orientation != "LOOK":
                self.tell({"WARNING"}, f"'{tip}' has no parent bone that can rotate, so the limb is this bone alone")

    def _add_body(self, armature: Object, chosen: list[str], target: Object | None) -> bool:
        """Set up a body instead of a limb for each of many tips; tell whether that was done.

        Raises ChainError where neither can be meant; then nothing has changed.
        """
        count = len(chosen)
        if target is not None:
            raise ChainError(
                f"{count} bones are selected. Click the bone at the end of the limb that is to reach '{target.name}', "
                "such as a hand, and select the object again."
            )
        try:
            made = set_up_body(armature)
        except ChainError as error:
            if len(lowest_of(armature, chosen)) <= MOST_TIPS:
                return False
            raise ChainError(
                f"{count} bones are selected, and they are no body that is recognized. Click the bone at the end of a "
                "limb, such as a hand, and add it alone."
            ) from error
        self.conclude(lambda: self._tell_about_body(armature, count, made))
        return True

    def _tell_about_body(self, armature: Object, count: int, made: NewBody) -> None:
        """Select a tip of the body that was made instead of limbs of so many bones, and tell of all."""
        text, doubts = show_body(armature, made)
        self.tell({"INFO"}, f"{count} bones are selected, so their body was set up: {text}")
        if doubts:
            self.tell({"WARNING"}, f"Check the limbs: {doubts}")


class POSE_OT_ik_triangulation_limb_remove(IKOperator):
    bl_idname = "pose.ik_triangulation_limb_remove"
    bl_label = "Remove Limb"
    bl_description = "Remove the limb from the list; its bones, keys and target object are kept"

    @classmethod
    def poll_problem(cls, context: Context) -> str | None:
        bone = active_bone(context)
        there = bone is not None and is_limb(bone)
        return cannot_edit(context) or (None if there else "Choose a limb in the list")

    def act(self, context: Context) -> set[str]:
        armature, tip = active_armature(context), active_bone(context).name
        live.stop(armature, tip)
        remove_limb(armature, tip)
        forget_result(armature, tip)
        return {"FINISHED"}


class POSE_OT_ik_triangulation_target_add(IKOperator):
    bl_idname = "pose.ik_triangulation_target_add"
    bl_label = "New Target"
    bl_description = "Create an empty at the tip of the limb as its target"

    def act(self, context: Context) -> set[str]:
        give_new_target(active_armature(context), active_bone(context).name)
        return {"FINISHED"}


def limb_label(limb: PropertyGroup, tip: str) -> str:
    """Return the text for a limb: its tip, and the part of the body that it was recognised as."""
    return tip if limb.body_part == "NONE" else f"{tip} ({part_label(limb)})"


def part_label(limb: PropertyGroup) -> str:
    """Return the name of the part of the body that a limb was recognised as, "Limb" for none."""
    return str(limb.bl_rna.properties["body_part"].enum_items[limb.body_part].name)


def other_object(context: Context) -> Object | None:
    """Return the only object selected besides the armature and what it moves; None if there are none or several."""
    armature = own_armature(context)
    others = [ob for ob in context.selected_objects if ob != armature and not _moves_with(ob, armature)]
    return others[0] if len(others) == 1 else None


def _moves_with(ob: Object, armature: Object) -> bool:
    """Return True for an object that the armature deforms, or that is a child of the armature or of a bone."""
    deformed = any(modifier.type == "ARMATURE" and modifier.object == armature for modifier in ob.modifiers)
    return deformed or (ob.parent == armature and ob.parent_type in {"ARMATURE", "BONE"})


register, unregister = bpy.utils.register_classes_factory(
    (
        POSE_OT_ik_triangulation_limb_add,
        POSE_OT_ik_triangulation_limb_remove,
        POSE_OT_ik_triangulation_target_add,
    )
)

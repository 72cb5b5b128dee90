# SPDX-License-Identifier: GPL-3.0-or-later
"""Spaces of a target: have it move with an object or bone from a frame on, end that, and remove it again."""

from typing import Any

import bpy
from bpy.props import IntProperty, StringProperty
from bpy.types import Constraint, Context, Event, Object

from ...errors import IKError, TargetError
from ...jobs import spaces
from ...rig import armature as rig_armature
from ...rig import limb as rig_limb
from ...rig.targets import made as target_spaces
from ..context import active_armature, active_bone
from .adjust import changed
from .base import IKOperator


def target_owner(context: Context) -> Any:
    """Return the object or bone that is the target of the active limb; None without one."""
    bone = active_bone(context)
    target = bone.ik_triangulation.target if bone is not None and not bone.ik_triangulation.hold else None
    return rig_armature.object_or_bone(target, bone.ik_triangulation.subtarget) if target is not None else None


def chosen_space(context: Context) -> Constraint | None:
    """Return the constraint of the space that is chosen in the list."""
    owner, number = target_owner(context), context.window_manager.ik_triangulation_lists.space
    held = owner.constraints if owner is not None else ()
    return held[number] if 0 <= number < len(held) and target_spaces.is_space(held[number]) else None


class _OfTarget(IKOperator):
    """Base of the operators for spaces of the active limb's target."""

    @classmethod
    def poll_problem(cls, context: Context) -> str | None:
        reason = super().poll_problem(context)
        return reason or (None if target_owner(context) is not None else "The limb has no target")


class POSE_OT_ik_triangulation_space_add(_OfTarget):
    bl_idname = "pose.ik_triangulation_space_add"
    bl_label = "Add Space"
    bl_description = (
        "Have the target move with another object or bone from this frame on: the selected object, such as a table, or "
        "the other selected bone, such as the hips. It does not jump, neither here nor where the space ends"
    )

    space: StringProperty(name="Object", description="Object that the target moves with; empty for the selected one")
    bone: StringProperty(name="Bone", description="Bone of an armature that the target moves with")
    frame_start: IntProperty(name="Start", description="First frame in the space; by default the present one")
    frame_end: IntProperty(
        name="End", description="Last frame in the space; by default the one before the next space, or the scene's last"
    )

    def invoke(self, context: Context, event: Event) -> set[str]:
        try:
            self._chosen(context)
        except IKError:
            return context.window_manager.invoke_props_dialog(self)
        return self.execute(context)

    def act(self, context: Context) -> set[str]:
        armature, tip = active_armature(context), active_bone(context).name
        where, start = (context.scene, context.view_layer), context.scene.frame_current
        start = changed(self, {"frame_start": start}).get("frame_start", start)
        end = spaces.last_frame_from(armature, tip, start, context.scene)
        end = changed(self, {"frame_end": end}).get("frame_end", end)
        made = spaces.set_space(armature, tip, *self._chosen(context), start, end, *where)
        newest = target_spaces.space_constraints(target_owner(context))[-1]
        context.window_manager.ik_triangulation_lists.space = target_owner(context).constraints.find(newest.name)
        self.tell({"INFO"}, f"The target moves with '{made.name}' from frame {made.frame_start} to {made.frame_end}")
        return {"FINISHED"}

    def _chosen(self, context: Context) -> tuple[Object, str]:
        """Return the object and the bone to move with. Raises TargetError where none is chosen."""
        armature, tip = active_armature(context), active_bone(context)
        if self.space:
            found = context.scene.objects.get(self.space)
            if found is None:
                raise TargetError(f"'{self.space}' is no object of this scene. Choose one of it.")
            return found, self.bone
        others = [ob for ob in context.selected_objects if ob not in (armature, tip.ik_triangulation.target)]
        if len(others) == 1:
            active = others[0].data.bones.active if others[0].type == "ARMATURE" else None
            return others[0], active.name if active else ""
        bones = [name for name in rig_limb.selected_bones(armature) if name != tip.name]
        if not others and len(bones) == 1 and context.mode == "POSE":
            return armature, bones[0]
        raise TargetError("Select the object or bone that the target is to move with, besides the limb, and only that.")

    def draw(self, context: Context) -> None:
        column = self.column()
        column.prop_search(self, "space", context.scene, "objects")
        chosen = context.scene.objects.get(self.space)
        if chosen is not None and chosen.type == "ARMATURE":
            column.prop_search(self, "bone", chosen.data, "bones")
        column.prop(self, "frame_start")
        column.prop(self, "frame_end")


class POSE_OT_ik_triangulation_space_end(_OfTarget):
    bl_idname = "pose.ik_triangulation_space_end"
    bl_label = "End Space"
    bl_description = "Let go of the target: from this frame on it moves by its keys alone. It does not jump here"

    def act(self, context: Context) -> set[str]:
        armature, tip = active_armature(context), active_bone(context).name
        frame = context.scene.frame_current
        spaces.end_space(armature, tip, frame, context.scene, context.view_layer)
        self.tell({"INFO"}, f"From frame {frame} on the target is in no space")
        return {"FINISHED"}


class _OfChosen(_OfTarget):
    """Base of the operators for the space that is chosen in the list."""

    @classmethod
    def poll_problem(cls, context: Context) -> str | None:
        reason = super().poll_problem(context)
        return reason or (None if chosen_space(context) is not None else "No space is listed")


class POSE_OT_ik_triangulation_space_remove(_OfChosen):
    bl_idname = "pose.ik_triangulation_space_remove"
    bl_label = "Remove Space"
    bl_description = "Remove the chosen space. Keys of the target stay where they are in the world"

    def act(self, context: Context) -> set[str]:
        armature, tip = active_armature(context), active_bone(context).name
        span = target_spaces.span_of(chosen_space(context), context.scene)
        if span is None:
            target_owner(context).constraints.remove(chosen_space(context))
        else:
            spaces.remove_space(armature, tip, span[0], context.scene, context.view_layer)
        return {"FINISHED"}


class POSE_OT_ik_triangulation_space_go(_OfChosen):
    bl_idname = "pose.ik_triangulation_space_go"
    bl_label = "Go to Space"
    bl_description = "Go to the first frame of the chosen space; from there to its last one"

    def act(self, context: Context) -> set[str]:
        span, scene = target_spaces.span_of(chosen_space(context), context.scene), context.scene
        if span is not None:
            scene.frame_set(span[scene.frame_current == span[0]])
        return {"FINISHED"}


register, unregister = bpy.utils.register_classes_factory(
    (
        POSE_OT_ik_triangulation_space_add,
        POSE_OT_ik_triangulation_space_end,
        POSE_OT_ik_triangulation_space_remove,
        POSE_OT_ik_triangulation_space_go,
    )
)

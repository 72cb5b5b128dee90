# SPDX-License-Identifier: GPL-3.0-or-later
"""The target of a limb: select it, keep an offset, key it along the animated limb, choose among limbs that share it.

In a space a target moves with an object or a bone from a frame on, until that ends.
"""

from typing import Any

import bpy
from bpy.props import BoolProperty, IntProperty, StringProperty
from bpy.types import Constraint, Context, Event, Object, PoseBone

from ...cooperative import Job
from ...errors import ChainError, IKError, TargetError
from ...jobs import targets as target_jobs
from ...jobs.edits import spaces
from ...rig import armature as rig_armature
from ...rig import checks
from ...rig import limb as rig_limb
from ...rig.frames import samples
from ...rig.targets import made as target_spaces
from ...rig.targets import motion as target_motion
from ...settings import FrameSettings, settings_of
from ..context import (
    active_armature,
    active_body,
    active_bone,
    active_limb,
    cannot_solve,
    cannot_solve_alone,
    choose_limb,
    limbs_at_target,
)
from .adjust import changed
from .base import IKOperator, JobOperator, named_object

_RANGE = ("frame_start", "frame_end")


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
        target, name = limb.target, rig_limb.bone_of(limb.target, limb.subtarget)
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


class POSE_OT_ik_triangulation_target_key(IKOperator):
    bl_idname = "pose.ik_triangulation_target_key"
    bl_label = "Key Target"
    bl_description = (
        "Key place and rotation of the limb's target at this frame. A bake follows the target's keys; those of bones, "
        "which Blender inserts in Pose Mode, are what it replaces"
    )

    @classmethod
    def poll_problem(cls, context: Context) -> str | None:
        return POSE_OT_ik_triangulation_target_select.poll_problem(context)

    def act(self, context: Context) -> set[str]:
        limb = active_limb(context)
        handle = target_motion.TargetHandle(limb.target, limb.subtarget, context.evaluated_depsgraph_get())
        handle.key_all(context.scene)
        self.tell({"INFO"}, f"Target '{limb.target_name}' is keyed at frame {context.scene.frame_current_final:g}")
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


class POSE_OT_ik_triangulation_offset_set(IKOperator):
    bl_idname = "pose.ik_triangulation_offset_set"
    bl_label = "Set Offset"
    bl_description = "Keep the tip's current location and rotation relative to the target"

    poll_problem = staticmethod(cannot_solve_alone)

    def act(self, context: Context) -> set[str]:
        limb, depsgraph = active_limb(context), context.evaluated_depsgraph_get()
        checks.check_limb(limb, context.scene, context.view_layer)
        location, rotation = samples.offset_of(limb, depsgraph)
        stored = active_bone(context).ik_triangulation
        stored.offset_location, stored.offset_rotation, stored.use_offset = location, rotation, True
        return {"FINISHED"}


class POSE_OT_ik_triangulation_target_from_animation(JobOperator):
    bl_idname = "pose.ik_triangulation_target_from_animation"
    bl_label = "Target from Animation"
    bl_description = (
        "Key the target so that it follows the limb as it is animated, place and rotation. Edit its path, then Bake: "
        "where nothing is edited the animation stays as it is. Of a body all targets are keyed"
    )

    __annotations__ = {
        **{
            name: row.as_property(options={"SKIP_PRESET"})
            for name, row in settings_of(FrameSettings).items()
            if name in _RANGE
        },
        "only_keys": BoolProperty(
            name="Only at Keys",
            description="Key the target only where a bone of the limb has a key, not on every frame",
        ),
        "all_limbs": BoolProperty(
            name="All Limbs", description="Key the targets of all limbs that are ticked in the list of limbs"
        ),
    }

    doing = "Keying the target"

    poll_problem = staticmethod(cannot_solve)

    def job(self, context: Context, seconds: float) -> "Job[list[target_jobs.KeyedTarget]]":
        scene = context.scene
        saved = rig_limb.saved_range(active_bone(context).ik_triangulation, scene, scene.use_preview_range)[:2]
        given = changed(self, dict(zip(_RANGE, saved, strict=True)))
        first, last = (given.get(name, own) for name, own in zip(_RANGE, saved, strict=True))
        return target_jobs.target_from_animation.steps(
            self._limbs(context), first, last, only_keys=self.only_keys, scene=scene, view_layer=context.view_layer
        )

    def report_result(self, context: Context, result: "list[target_jobs.KeyedTarget]") -> set[str]:
        names = ", ".join(f"'{keyed.target}'" for keyed in result)
        count = result[0].frames if len({keyed.frames for keyed in result}) == 1 else sum(each[2] for each in result)
        if self.only_keys:
            self.tell({"INFO"}, f"{names} keyed at {count} frames. Edit the path, then Bake with Only at Target's Keys")
        else:
            self.tell({"INFO"}, f"{names} keyed at {count} frames. Edit the path, then Bake")
        return {"FINISHED"}

    def draw(self, context: Context) -> None:
        column = self.column()
        frames = column.column(align=True)
        for name in _RANGE:
            frames.prop(self, name)
        column.prop(self, "only_keys")
        column.prop(self, "all_limbs")

    def _limbs(self, context: Context) -> "list[rig_limb.Limb]":
        armature = active_armature(context)
        if self.all_limbs:
            return list(rig_limb.enabled_limbs(armature, rig_limb.selected_bones(armature)))
        body = active_body(context)
        return list(body.limbs) if body is not None else [active_limb(context)]


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
            return named_object(context, self.space), self.bone
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
        POSE_OT_ik_triangulation_target_select,
        POSE_OT_ik_triangulation_target_key,
        POSE_OT_ik_triangulation_limb_choose,
        POSE_OT_ik_triangulation_offset_set,
        POSE_OT_ik_triangulation_target_from_animation,
        POSE_OT_ik_triangulation_space_add,
        POSE_OT_ik_triangulation_space_end,
        POSE_OT_ik_triangulation_space_remove,
        POSE_OT_ik_triangulation_space_go,
    )
)

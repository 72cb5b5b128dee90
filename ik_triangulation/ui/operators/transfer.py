# SPDX-License-Identifier: GPL-3.0-or-later
"""Copy a motion: onto the IK or FK controls of the character, and from another rig at the proportions of this one."""

from typing import Any

import bpy
from bpy.props import EnumProperty, IntProperty, StringProperty
from bpy.types import Context, Object

from ...cooperative import Job
from ...errors import TargetError
from ...jobs import follow_rig as following
from ...jobs import transfer as transfers
from ...jobs.live import following as live
from ...rig import limb as rig_limb
from ...rig import timeline
from ..context import active_armature, active_bone, cannot_pose, is_limb
from .adjust import changed
from .base import JobOperator, named_object

_SIDES = [
    ("IK", "IK Controls", "Key the IK controls, and have the character follow them", 0),
    ("FK", "FK Controls", "Key the FK controls, and have the character follow them", 1),
]
_KEYS = [
    ("SOURCE", "As the Source", "Key only where the controls have keys that the character follows now", 0),
    ("ALL", "Every Frame", "Key every frame, so that the motion is the same between the keys as well", 1),
]


class POSE_OT_ik_triangulation_transfer(JobOperator):
    bl_idname = "pose.ik_triangulation_transfer"
    bl_label = "Transfer to IK or FK"
    bl_description = (
        "Copy the motion that the character shows onto the IK or FK controls of the selected limbs, or of all limbs if "
        "no control of one is selected, and switch to them"
    )

    to: EnumProperty(name="To", description="Controls that get the motion", items=_SIDES, default="IK")
    frame_start: IntProperty(name="Start Frame", description="First frame", default=1)
    frame_end: IntProperty(name="End Frame", description="Last frame", default=250)
    keys: EnumProperty(name="Keys", description="Frames that get keys", items=_KEYS, default="SOURCE")

    doing = "Copying the motion"
    parts = "parts"

    poll_problem = staticmethod(cannot_pose)

    def job(self, context: Context, seconds: float) -> "Job[transfers.Transfer]":
        scene, armature = context.scene, active_armature(context)
        first, last = timeline.scene_range(scene)
        given: dict[str, Any] = changed(self, {"frame_start": first, "frame_end": last})
        ends = given.get("frame_start", first), given.get("frame_end", last)
        bones = rig_limb.selected_bones(armature) if context.mode == "POSE" else ()
        return transfers.transfer.steps(armature, self.to, *ends, self.keys, bones, True, scene, context.view_layer)

    def report_result(self, context: Context, result: "transfers.Transfer") -> set[str]:
        for warning in result.warnings:
            self.tell({"WARNING"}, warning)
        names = ", ".join(f"'{each.tip}'" for each in result.limbs)
        if result.to == "IK":
            self.tell({"INFO"}, f"The IK controls of {names} have the motion: {result.keys} keys")
        else:
            self.tell({"INFO"}, f"The FK controls of {names} have the motion: {result.keys} keys")
        return {"FINISHED"}

    def draw(self, context: Context) -> None:
        column = self.column()
        for name in ("to", "frame_start", "frame_end", "keys"):
            column.prop(self, name)


class POSE_OT_ik_triangulation_follow_rig(JobOperator):
    bl_idname = "pose.ik_triangulation_follow_rig"
    bl_label = "Follow Another Rig"
    bl_description = (
        "Set up the body so that it moves as the other selected armature does: hips, chest, hands, feet and head get "
        "targets with keys over the scene's range, scaled by limbs. Bake then keys the bones"
    )

    source: StringProperty(name="Source", description="Armature to follow; empty for the other selected one")
    keys_on: EnumProperty(
        name="Keys On",
        description="Controls of a generated rig that a bake keys, so that the character follows them",
        items=[
            ("FK", "FK Controls", "Key the rotations of the bones"),
            ("IK", "IK Controls", "Key the IK controls of arms and legs as well"),
        ],
    )

    doing = "Reading the other rig"

    poll_problem = staticmethod(cannot_pose)

    def job(self, context: Context, seconds: float) -> "Job[following.Following]":
        armature, scene = active_armature(context), context.scene
        source, ends = self._source(context, armature), timeline.scene_range(scene)
        return following.follow_rig.steps(armature, source, *ends, scene, context.view_layer, self.keys_on)

    def _source(self, context: Context, armature: Object) -> Object:
        if self.source:
            return named_object(context, self.source)
        others = [ob for ob in context.view_layer.objects.selected if ob.type == "ARMATURE" and ob != armature]
        if len(others) != 1:
            raise TargetError(
                "Which rig is followed is not clear. Select one other armature besides the active one, or choose a "
                "source."
            )
        return others[0]

    def report_result(self, context: Context, result: "following.Following") -> set[str]:
        armature = active_armature(context)
        for tip in result.tips:
            live.stop(armature, tip)
        if not is_limb(active_bone(context) or armature.pose.bones[0]):
            rig_limb.select_only(armature, result.tips[:1])
        for doubt in result.doubts:
            self.tell({"WARNING"}, f"Look at what was recognized: {doubt}")
        count = len(result.contacts)
        self.tell(
            {"INFO"},
            f"'{armature.name}' follows '{result.source}' over {result.frames} frames, with {count} contacts of feet. "
            "Press Bake",
        )
        return {"FINISHED"}

    def draw(self, context: Context) -> None:
        column = self.column()
        column.prop_search(self, "source", context.scene, "objects")
        column.prop(self, "keys_on")


register, unregister = bpy.utils.register_classes_factory(
    (
        POSE_OT_ik_triangulation_transfer,
        POSE_OT_ik_triangulation_follow_rig,
    )
)

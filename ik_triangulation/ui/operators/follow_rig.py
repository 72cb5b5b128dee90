# SPDX-License-Identifier: GPL-3.0-or-later
"""Follow another rig: the body gets targets with the motion of the other selected character, at its own proportions."""

import bpy
from bpy.props import EnumProperty, StringProperty
from bpy.types import Context, Object

from ...cooperative import Job
from ...errors import TargetError
from ...jobs import follow_rig as following
from ...jobs import live
from ...rig import limb as rig_limb
from ..context import active_armature, active_bone, cannot_pose, is_limb
from .base import JobOperator


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
        preview = scene.use_preview_range
        ends = (scene.frame_preview_start, scene.frame_preview_end) if preview else (scene.frame_start, scene.frame_end)
        source = self._source(context, armature)
        return following.follow_rig.steps(armature, source, *ends, scene, context.view_layer, self.keys_on)

    def _source(self, context: Context, armature: Object) -> Object:
        if self.source:
            found = context.scene.objects.get(self.source)
            if found is None:
                raise TargetError(f"'{self.source}' is no object of this scene. Choose one of it.")
            return found
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


register, unregister = bpy.utils.register_classes_factory((POSE_OT_ik_triangulation_follow_rig,))

# SPDX-License-Identifier: GPL-3.0-or-later
"""Bake: key the rotations of one limb, or of all limbs, that follow their targets over a range of frames."""

import bpy
from bpy.types import Context, Operator, PoseBone

from ...cooperative import Job
from ...jobs.bake import Span, bake_spans, rebake, repeats_bake
from ...jobs.report import Report
from ...rig.limb import enabled_limbs, saved_range
from ...rig.selection import selected_bones
from ...settings import FrameSettings, given
from ..context import active_armature, active_bone, active_limb, cannot_pose, cannot_solve
from .job import JobOperator
from .outcome import report_outcome

_RANGE = ("frame_start", "frame_end", "step")


class FrameRange:
    """Properties of the operators that bake a range of frames; by default the range saved on the tip bone."""

    __annotations__ = given(FrameSettings, *_RANGE)


def _span(operator: Operator, context: Context, bone: PoseBone) -> Span:
    """Return first frame, last frame and step for the limb that ends in this bone."""
    scene, given = context.scene, operator.properties.is_property_set
    saved = saved_range(bone.ik_triangulation, scene, scene.use_preview_range)
    start, end, step = (getattr(operator, n) if given(n) else there for n, there in zip(_RANGE, saved, strict=True))
    return start, end, step


class POSE_OT_ik_triangulation_bake(FrameRange, JobOperator):
    bl_idname = "pose.ik_triangulation_bake"
    bl_label = "Bake"
    bl_description = (
        "Key the rotations of the limb so that its tip follows the target over the frame range. Where it is baked "
        "already, the baked keys are replaced, and keys that you have set since are kept"
    )

    doing = "Baking"

    poll_problem = staticmethod(cannot_solve)

    def job(self, context: Context, seconds: float) -> Job[list[Report]]:
        limb, span = active_limb(context), _span(self, context, active_bone(context))
        self.frame_start, self.frame_end, self.step = span  # shown in Adjust Last Operation
        keep = repeats_bake(limb, span)
        return bake_spans.steps([limb], [span], context.scene, context.view_layer, seconds=seconds, keep=keep)

    def report_result(self, context: Context, result: list[Report]) -> set[str]:
        return report_outcome(self, context, result)


class POSE_OT_ik_triangulation_bake_all(FrameRange, JobOperator):
    bl_idname = "pose.ik_triangulation_bake_all"
    bl_label = "Bake All"
    bl_description = "Bake all enabled limbs of the armature that have a target, in the order of their dependencies"

    doing = "Baking"

    poll_problem = staticmethod(cannot_pose)

    def job(self, context: Context, seconds: float) -> Job[list[Report]]:
        armature = active_armature(context)
        limbs = enabled_limbs(armature, selected_bones(armature))
        spans = [_span(self, context, armature.pose.bones[limb.tip]) for limb in limbs]
        return bake_spans.steps(limbs, spans, context.scene, context.view_layer, seconds=seconds)

    def report_result(self, context: Context, result: list[Report]) -> set[str]:
        return report_outcome(self, context, result)


class POSE_OT_ik_triangulation_rebake(JobOperator):
    bl_idname = "pose.ik_triangulation_rebake"
    bl_label = "Re-Bake"
    bl_description = (
        "Bake the limb again with the settings that the active action was baked with. Keys of type Generated are "
        "replaced; keys that you have set are kept"
    )

    doing = "Baking"

    @classmethod
    def poll_problem(cls, context: Context) -> str | None:
        reason = cannot_pose(context)
        if reason is None and active_bone(context) is None:
            return "Make the bone at the end of the limb active"
        return reason

    def job(self, context: Context, seconds: float) -> Job[Report]:
        bone = active_bone(context)
        return rebake.steps(bone.id_data, bone.name, context.scene, context.view_layer, seconds=seconds)

    def report_result(self, context: Context, result: Report) -> set[str]:
        return report_outcome(self, context, [result])


register, unregister = bpy.utils.register_classes_factory(
    (POSE_OT_ik_triangulation_bake, POSE_OT_ik_triangulation_bake_all, POSE_OT_ik_triangulation_rebake)
)

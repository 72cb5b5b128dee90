# SPDX-License-Identifier: GPL-3.0-or-later
"""Bake: a limb, or all of them, follow their targets over a range of frames, as plain rotation keys."""

import bpy
from bpy.types import Context, Operator, PoseBone

from ...cooperative import Job
from ...jobs.bake import Span, bake_spans, rebake
from ...jobs.report import Report
from ...rig.limb import enabled_limbs, saved_range
from ...rig.selection import selected_bones
from ...settings import FrameSettings, given
from ..context import active_armature, active_bone, active_limb, why_not, why_not_posed
from .job import JobOperator
from .outcome import report_outcome

BAKING = "Baking", "frames", "Bake cancelled, nothing was changed"  # doing, parts, stopped of a JobOperator

_RANGE = ("frame_start", "frame_end", "step")


class FrameRange:
    """Properties of the operators that bake a range of frames; those not given are as saved on the tip bone."""

    __annotations__ = given(FrameSettings, *_RANGE)


def _span(operator: Operator, context: Context, bone: PoseBone) -> Span:
    """First frame, last frame and step for the limb that ends in this bone."""
    scene, given = context.scene, operator.properties.is_property_set
    saved = saved_range(bone.ik_triangulation, scene, scene.use_preview_range)
    start, end, step = (getattr(operator, n) if given(n) else there for n, there in zip(_RANGE, saved, strict=True))
    return start, end, step


class POSE_OT_ik_triangulation_bake(FrameRange, JobOperator):
    bl_idname = "pose.ik_triangulation_bake"
    bl_label = "Bake"
    bl_description = (
        "Key the rotations of the limb so that its tip follows the target over its frame range, or over the one given"
    )

    doing, parts, stopped = BAKING

    why_not = staticmethod(why_not)

    def job(self, context: Context, seconds: float) -> Job[list[Report]]:
        span = _span(self, context, active_bone(context))
        self.frame_start, self.frame_end, self.step = span  # they then show where the operator can be adjusted
        return bake_spans.steps([active_limb(context)], [span], context.scene, context.view_layer, seconds=seconds)

    tell = report_outcome


class POSE_OT_ik_triangulation_bake_all(FrameRange, JobOperator):
    bl_idname = "pose.ik_triangulation_bake_all"
    bl_label = "Bake All Limbs"
    bl_description = "Bake all limbs of the armature that are enabled and have a target, in the order they need"

    doing, parts, stopped = BAKING

    why_not = staticmethod(why_not_posed)

    def job(self, context: Context, seconds: float) -> Job[list[Report]]:
        armature = active_armature(context)
        limbs = enabled_limbs(armature, selected_bones(armature))
        spans = [_span(self, context, armature.pose.bones[limb.tip]) for limb in limbs]
        return bake_spans.steps(limbs, spans, context.scene, context.view_layer, seconds=seconds)

    tell = report_outcome


class POSE_OT_ik_triangulation_rebake(JobOperator):
    bl_idname = "pose.ik_triangulation_rebake"
    bl_label = "Re-Bake"
    bl_description = (
        "Bake the limb once more as the active action was baked. Keys of type Generated are replaced, those of other "
        "types, as you make them, are kept"
    )

    doing, parts, stopped = BAKING

    @classmethod
    def why_not(cls, context: Context) -> str | None:
        reason = why_not_posed(context)
        if reason is None and active_bone(context) is None:
            return "Make the bone at the end of the limb active"
        return reason

    def job(self, context: Context, seconds: float) -> Job[Report]:
        bone = active_bone(context)
        return rebake.steps(bone.id_data, bone.name, context.scene, context.view_layer, seconds=seconds)

    def tell(self, context: Context, result: Report) -> set[str]:
        return report_outcome(self, context, [result])


register, unregister = bpy.utils.register_classes_factory(
    (POSE_OT_ik_triangulation_bake, POSE_OT_ik_triangulation_bake_all, POSE_OT_ik_triangulation_rebake)
)

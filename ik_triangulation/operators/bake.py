# SPDX-License-Identifier: GPL-3.0-or-later
"""Bake: a limb, or all of them, follow their targets over a range of frames, as plain rotation keys."""

import bpy
from bpy.types import Context, PoseBone

from ..bake import Span, baking, rebaking
from ..blender.context import active_armature, active_bone, active_limb, selected_bones, why_not_posed
from ..blender.limb import enabled_limbs, saved_range
from ..report import Report
from ..settings import FrameSettings, given
from ..work import Job
from .baking import BakeOperator

_RANGE = ("frame_start", "frame_end", "step")


class RangeOperator(BakeOperator):
    """Bakes from one frame to another; what the caller does not say is as it is saved."""

    __annotations__ = given(FrameSettings, *_RANGE)

    def span(self, context: Context, bone: PoseBone) -> Span:
        """Range and step for the limb that ends in this bone."""
        scene, given = context.scene, self.properties.is_property_set
        saved = saved_range(bone.ik_triangulation, scene, scene.use_preview_range)
        start, end, step = (getattr(self, n) if given(n) else there for n, there in zip(_RANGE, saved, strict=True))
        return start, end, step


class POSE_OT_ik_triangulation_bake(RangeOperator):
    bl_idname = "pose.ik_triangulation_bake"
    bl_label = "Bake"
    bl_description = (
        "Key the rotations of the limb so that its tip follows the target over its frame range, or over the one given"
    )

    def job(self, context: Context, seconds: float) -> Job[list[Report]]:
        span = self.span(context, active_bone(context))
        self.frame_start, self.frame_end, self.step = span  # they then show where the operator can be adjusted
        return baking([active_limb(context)], [span], context.scene, context.view_layer, seconds)


class POSE_OT_ik_triangulation_bake_all(RangeOperator):
    bl_idname = "pose.ik_triangulation_bake_all"
    bl_label = "Bake All Limbs"
    bl_description = "Bake all limbs of the armature that are enabled and have a target, in the order they need"

    why_not = staticmethod(why_not_posed)

    def job(self, context: Context, seconds: float) -> Job[list[Report]]:
        armature = active_armature(context)
        limbs = enabled_limbs(armature, selected_bones(armature))
        spans = [self.span(context, armature.pose.bones[limb.tip]) for limb in limbs]
        return baking(limbs, spans, context.scene, context.view_layer, seconds)


class POSE_OT_ik_triangulation_rebake(BakeOperator):
    bl_idname = "pose.ik_triangulation_rebake"
    bl_label = "Re-Bake"
    bl_description = (
        "Bake the limb once more as the active action was baked. Keys of type Generated are replaced, those of other "
        "types, as you make them, are kept"
    )

    @classmethod
    def why_not(cls, context: Context) -> str | None:
        reason = why_not_posed(context)
        if reason is None and active_bone(context) is None:
            return "Make the bone at the end of the limb active"
        return reason

    def job(self, context: Context, seconds: float) -> Job[list[Report]]:
        bone = active_bone(context)
        return rebaking(bone.id_data, bone.name, context.scene, context.view_layer, seconds)


register, unregister = bpy.utils.register_classes_factory(
    (POSE_OT_ik_triangulation_bake, POSE_OT_ik_triangulation_bake_all, POSE_OT_ik_triangulation_rebake)
)

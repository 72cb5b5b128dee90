# SPDX-License-Identifier: GPL-3.0-or-later
"""Bake: the limb follows its target over a range of frames, as plain rotation keys."""

import bpy
from bpy.props import IntProperty
from bpy.types import Context

from ..bake import Job, baking
from ..blender.context import active_bone, active_limb
from ..blender.limb import saved_range
from .baking import BakeOperator


class POSE_OT_ik_triangulation_bake(BakeOperator):
    bl_idname = "pose.ik_triangulation_bake"
    bl_label = "Bake"
    bl_description = "Key the rotations of the limb so that its tip follows the target over the frame range"

    frame_start: IntProperty(name="Start", description="First frame; if not given, that of the limb", default=1)
    frame_end: IntProperty(name="End", description="Last frame; if not given, that of the limb", default=250)
    step: IntProperty(
        name="Step", description="Key every so many frames; if not given, that of the limb", default=1, min=1
    )

    def job(self, context: Context, seconds: float) -> Job:
        self._take_from_limb(context)
        span = self.frame_start, self.frame_end, self.step
        return baking([active_limb(context)], *span, context.scene, context.view_layer, seconds)

    def _take_from_limb(self, context: Context) -> None:
        """Range and step that the caller has not given; they then show where the operator can be adjusted."""
        scene = context.scene
        saved = saved_range(active_bone(context).ik_triangulation, scene, scene.use_preview_range)
        for name, value in zip(("frame_start", "frame_end", "step"), saved, strict=True):
            if not self.properties.is_property_set(name):
                setattr(self, name, value)


register, unregister = bpy.utils.register_classes_factory((POSE_OT_ik_triangulation_bake,))

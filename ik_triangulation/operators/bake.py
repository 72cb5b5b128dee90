# SPDX-License-Identifier: GPL-3.0-or-later
"""Bake: the limb follows its target over a range of frames, as plain rotation keys."""

import bpy
from bpy.props import IntProperty
from bpy.types import Context

from ..bake import bake
from ..blender.context import active_bone, active_limb
from ..blender.limb import saved_range
from ..report import Report
from .limb import LimbOperator


class POSE_OT_ik_triangulation_bake(LimbOperator):
    bl_idname = "pose.ik_triangulation_bake"
    bl_label = "Bake"
    bl_description = "Key the rotations of the limb so that its tip follows the target over the frame range"

    frame_start: IntProperty(name="Start", description="First frame; if not given, that of the limb", default=1)
    frame_end: IntProperty(name="End", description="Last frame; if not given, that of the limb", default=250)
    step: IntProperty(
        name="Step", description="Key every so many frames; if not given, that of the limb", default=1, min=1
    )

    def run(self, context: Context) -> Report:
        self._take_from_limb(context)
        wm = context.window_manager
        wm.progress_begin(0, 100)
        try:
            return bake(
                active_limb(context),
                self.frame_start,
                self.frame_end,
                self.step,
                context.scene,
                context.view_layer,
                lambda done, of: wm.progress_update(100 * done // of),
            )
        finally:
            wm.progress_end()

    def _take_from_limb(self, context: Context) -> None:
        """Range and step that the caller has not given; they then show where the operator can be adjusted."""
        scene = context.scene
        saved = saved_range(active_bone(context).ik_triangulation, scene, scene.use_preview_range)
        for name, value in zip(("frame_start", "frame_end", "step"), saved, strict=True):
            if not self.properties.is_property_set(name):
                setattr(self, name, value)


register, unregister = bpy.utils.register_classes_factory((POSE_OT_ik_triangulation_bake,))

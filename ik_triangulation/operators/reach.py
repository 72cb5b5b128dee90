# SPDX-License-Identifier: GPL-3.0-or-later
"""Reach: the limb goes from its pose at one frame to the target at another, as plain rotation keys."""

import bpy
from bpy.props import EnumProperty, FloatProperty, IntProperty
from bpy.types import Context

from ..blender.context import active_bone, active_limb
from ..blender.limb import saved_reach
from ..properties import EASING_ITEMS, PATH_ITEMS, TIMING_ITEMS
from ..reach import reach
from ..report import Report
from .limb import LimbOperator


class POSE_OT_ik_triangulation_reach(LimbOperator):
    bl_idname = "pose.ik_triangulation_reach"
    bl_label = "Reach"
    bl_description = (
        "Key how the limb goes from its pose at one frame to the target at another; what is not given is that of the "
        "limb"
    )

    frame_start: IntProperty(name="Start", description="Frame of the pose to reach from", default=1)
    frame_end: IntProperty(name="End", description="Frame at which the target is reached", default=25)
    hold: IntProperty(name="Hold", description="For how many frames more to stay with the target", min=0)
    return_frames: IntProperty(
        name="Return", description="In how many frames to come back to the pose of the start; 0 for not at all", min=0
    )
    timing: EnumProperty(name="Timing", description="How fast the tip goes when", items=TIMING_ITEMS)
    easing: EnumProperty(
        name="Easing", description="Where the timing is slow", items=EASING_ITEMS, default="EASE_IN_OUT"
    )
    path: EnumProperty(name="Path", description="How the tip goes there", items=PATH_ITEMS)
    onset: FloatProperty(
        name="Root First",
        description="How much earlier the joints near the root begin and end on an arc",
        min=0.0,
        max=1.0,
        subtype="FACTOR",
    )

    def run(self, context: Context) -> Report:
        saved = saved_reach(active_bone(context).ik_triangulation)
        for name, value in saved.items():  # they then show where the operator can be adjusted
            if not self.properties.is_property_set(name):
                setattr(self, name, value)
        given = {name: getattr(self, name) for name in saved}
        return reach(active_limb(context), **given, scene=context.scene, view_layer=context.view_layer)


register, unregister = bpy.utils.register_classes_factory((POSE_OT_ik_triangulation_reach,))

# SPDX-License-Identifier: GPL-3.0-or-later
"""Solve Pose: the limb reaches its target at the present frame."""

import bpy
from bpy.types import Context

from ..bake import solve_pose
from ..blender.context import active_limb
from ..report import Report
from .limb import LimbOperator


class POSE_OT_ik_triangulation_solve(LimbOperator):
    bl_idname = "pose.ik_triangulation_solve"
    bl_label = "Solve Pose"
    bl_description = "Turn the bones of the limb so that its tip reaches the target; keyed if Auto Keying is on"

    def run(self, context: Context) -> Report:
        key = context.scene.tool_settings.use_keyframe_insert_auto
        return solve_pose(active_limb(context), context.scene, context.view_layer, key=key)


register, unregister = bpy.utils.register_classes_factory((POSE_OT_ik_triangulation_solve,))

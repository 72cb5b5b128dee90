# SPDX-License-Identifier: GPL-3.0-or-later
"""Solve Pose: the limb reaches its target at the present frame."""

import bpy
from bpy.types import Context

from ...jobs.bake import solve_pose
from ..context import active_limb, why_not
from .base import IKOperator
from .outcome import report_outcome


class POSE_OT_ik_triangulation_solve(IKOperator):
    bl_idname = "pose.ik_triangulation_solve"
    bl_label = "Solve Pose"
    bl_description = "Turn the bones of the limb so that its tip reaches the target; keyed if Auto Keying is on"

    why_not = staticmethod(why_not)

    def act(self, context: Context) -> set[str]:
        key = context.scene.tool_settings.use_keyframe_insert_auto
        report = solve_pose(active_limb(context), context.scene, context.view_layer, key=key)
        return report_outcome(self, context, [report])


register, unregister = bpy.utils.register_classes_factory((POSE_OT_ik_triangulation_solve,))

# SPDX-License-Identifier: GPL-3.0-or-later
"""Solve Pose: pose the limb so that its tip reaches the target at the current frame."""

import bpy
from bpy.types import Context

from ...jobs.bake import solve_pose
from ..context import active_limb, cannot_solve
from .base import IKOperator
from .outcome import report_outcome


class POSE_OT_ik_triangulation_solve(IKOperator):
    bl_idname = "pose.ik_triangulation_solve"
    bl_label = "Solve Pose"
    bl_description = "Rotate the limb's bones so that the tip reaches the target; inserts keys if Auto Keying is on"

    poll_problem = staticmethod(cannot_solve)

    def act(self, context: Context) -> set[str]:
        key = context.scene.tool_settings.use_keyframe_insert_auto
        report = solve_pose(active_limb(context), context.scene, context.view_layer, key=key)
        return report_outcome(self, context, [report])


register, unregister = bpy.utils.register_classes_factory((POSE_OT_ik_triangulation_solve,))

# SPDX-License-Identifier: GPL-3.0-or-later
"""Solve Pose: pose the limb so that its tip reaches the target at the current frame."""

from contextlib import ExitStack

import bpy
from bpy.types import Context

from ...jobs.bake import solve_pose
from ...jobs.body_following import with_followers
from ...jobs.body_pose import solve_body_pose
from ..context import active_body, active_limb, cannot_solve
from .adjust import COMFORT, ComfortAdjustments, PresetChoice, adjusted, draw_comfort, draw_preset, load_preset
from .base import IKOperator
from .outcome import report_outcome


class POSE_OT_ik_triangulation_solve(PresetChoice, ComfortAdjustments, IKOperator):
    bl_idname = "pose.ik_triangulation_solve"
    bl_label = "Solve Pose"
    bl_description = "Rotate the limb's bones so that the tip reaches the target; inserts keys if Auto Keying is on"

    poll_problem = staticmethod(cannot_solve)

    def act(self, context: Context) -> set[str]:
        key = context.scene.tool_settings.use_keyframe_insert_auto
        body = active_body(context)
        if body is not None:
            where = context.scene, context.view_layer
            posed = solve_body_pose(body, *where, key=key)
            return self.conclude(lambda: report_outcome(self, context, [with_followers(posed, body, *where)]))
        with ExitStack() as undo:
            load_preset(self, context, undo)
            (limb,) = adjusted(self, [active_limb(context)], *COMFORT)
            report = solve_pose(limb, context.scene, context.view_layer, key=key)
            undo.pop_all()
        return self.conclude(lambda: report_outcome(self, context, [report]))

    def draw(self, context: Context) -> None:
        column = self.column()
        draw_preset(column, self)
        draw_comfort(column, self)


register, unregister = bpy.utils.register_classes_factory((POSE_OT_ik_triangulation_solve,))

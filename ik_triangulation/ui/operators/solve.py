# SPDX-License-Identifier: GPL-3.0-or-later
"""Solve Pose at the current frame, and Live: the limb follows its targets whenever they move."""

from contextlib import ExitStack

import bpy
from bpy.props import StringProperty
from bpy.types import Context

from ...errors import ChainError
from ...jobs import live, tips
from ...jobs import pose as poses
from ..context import active_armature, active_body, active_bone, active_limb, cannot_pose, cannot_solve
from .adjust import COMFORT, ComfortAdjustments, PresetChoice, adjusted, draw_comfort, draw_preset, load_preset
from .base import IKOperator, report_outcome


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
            posed = poses.solve_body_pose(body, *where, key=key)
            return self.conclude(lambda: report_outcome(self, context, [tips.with_followers(posed, body, *where)]))
        with ExitStack() as undo:
            load_preset(self, context, undo)
            (limb,) = adjusted(self, [active_limb(context)], *COMFORT)
            report = poses.solve_pose(limb, context.scene, context.view_layer, key=key)
            undo.pop_all()
        return self.conclude(lambda: report_outcome(self, context, [report]))

    def draw(self, context: Context) -> None:
        column = self.column()
        draw_preset(column, self)
        draw_comfort(column, self)


class POSE_OT_ik_triangulation_live(IKOperator):
    bl_idname = "pose.ik_triangulation_live"
    bl_label = "Live"
    bl_description = (
        "Solve the limb, or its whole body, whenever a target moves, until switched off. Keys are inserted only if "
        "Auto Keying is on; frames that have keys are shown unchanged"
    )

    tip: StringProperty(
        name="Tip", description="Bone at the end of the limb; the active bone if empty", options={"SKIP_SAVE"}
    )

    @classmethod
    def poll_problem(cls, context: Context) -> str | None:
        # poll() does not know the tip that is passed: it is enough that some limb could be started or stopped.
        reason = cannot_pose(context)
        if reason is None:
            can = live.under_way() or any(b.ik_triangulation.target for b in active_armature(context).pose.bones)
            reason = None if can else cannot_solve(context)
        return reason

    def act(self, context: Context) -> set[str]:
        armature, active = active_armature(context), active_bone(context)
        tip = self.tip or (active.name if active else "")
        if tip not in armature.pose.bones:
            raise ChainError(f"'{armature.name}' has no bone '{tip}'. Make the bone at the end of the limb active.")
        (live.stop if live.is_live(armature, tip) else live.start)(armature, tip)
        return {"FINISHED"}


class POSE_OT_ik_triangulation_live_stop(IKOperator):
    bl_idname = "pose.ik_triangulation_live_stop"
    bl_label = "Stop Live"
    bl_description = "Stop all live limbs; they keep their current pose"

    @classmethod
    def poll_problem(cls, context: Context) -> str | None:
        return None if live.under_way() else "No limb is live"

    def act(self, context: Context) -> set[str]:
        live.stop_all()
        return {"FINISHED"}


register, unregister = bpy.utils.register_classes_factory(
    (
        POSE_OT_ik_triangulation_solve,
        POSE_OT_ik_triangulation_live,
        POSE_OT_ik_triangulation_live_stop,
    )
)

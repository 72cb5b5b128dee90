# SPDX-License-Identifier: GPL-3.0-or-later
"""Solver Duel: what each solver makes of the limb, and the one that is chosen put to use."""

from collections.abc import Sequence

import bpy
from bpy.types import Context

from ...cooperative import Job
from ...jobs.bake import frames_from, solve_pose
from ...jobs.compare import compare
from ...rig.limb import saved_range
from ...solvers.compare import SolverResult
from .. import comparison as duel
from ..context import active_armature, active_bone, active_limb, why_not
from ..overlay import clear_ghosts
from .base import IKOperator
from .job import JobOperator
from .outcome import report_outcome


class POSE_OT_ik_triangulation_duel(JobOperator):
    bl_idname = "pose.ik_triangulation_duel"
    bl_label = "Solver Duel"
    bl_description = "Let every solver solve the limb, list what each takes, and show the pose of the best as a ghost"
    bl_options = {"REGISTER"}  # nothing is changed that could be undone

    doing = "Comparing solvers"
    parts = "solves"

    why_not = staticmethod(why_not)

    def job(self, context: Context, seconds: float) -> Job[Sequence[SolverResult]]:
        settings, scene, frames = context.window_manager.ik_triangulation_duel, context.scene, None
        if settings.use_range:
            stored = active_bone(context).ik_triangulation
            frames = frames_from(*saved_range(stored, scene, scene.use_preview_range))
        where = {"scene": scene, "view_layer": context.view_layer}
        return compare.steps(active_limb(context), frames, by=settings.by, seconds=seconds, **where)

    def tell(self, context: Context, result: Sequence[SolverResult]) -> set[str]:
        duel.show(result, active_armature(context), active_bone(context).name, context)
        best = context.window_manager.ik_triangulation_duel.rows[0]
        if best.reached and not any(row.turns for row in result):
            self.report({"WARNING"}, "The limb is at its target already. Move one of them, or compare a range")
            return {"FINISHED"}
        self.report({"INFO"}, f"Best: {duel.label(best)}, reached {best.reached} of {best.tasks}")
        return {"FINISHED"}


class POSE_OT_ik_triangulation_duel_apply(IKOperator):
    bl_idname = "pose.ik_triangulation_duel_apply"
    bl_label = "Use Solver"
    bl_description = (
        "Make the solver chosen in the list that of the limb, and solve the pose; keyed if Auto Keying is on"
    )

    @classmethod
    def why_not(cls, context: Context) -> str | None:
        rows, bone = context.window_manager.ik_triangulation_duel, active_bone(context)
        fought = bone is not None and rows.rows and (rows.armature, rows.tip) == (bone.id_data.name, bone.name)
        return why_not(context) or (None if fought else "Fight a duel of this limb first")

    def act(self, context: Context) -> set[str]:
        rows, stored = context.window_manager.ik_triangulation_duel, active_bone(context).ik_triangulation
        before, stored.solver = stored.solver, rows.rows[rows.chosen].name
        key = context.scene.tool_settings.use_keyframe_insert_auto
        try:
            report = solve_pose(active_limb(context), context.scene, context.view_layer, key=key)
        except BaseException:
            stored.solver = before
            raise
        clear_ghosts(active_armature(context))
        return report_outcome(self, context, [report])


class POSE_OT_ik_triangulation_duel_forget(IKOperator):
    bl_idname = "pose.ik_triangulation_duel_forget"
    bl_label = "Clear Duel"
    bl_description = "Empty the list of solvers and show no ghost any more"
    bl_options = {"REGISTER"}

    @classmethod
    def why_not(cls, context: Context) -> str | None:
        return None if context.window_manager.ik_triangulation_duel.rows else "There was no duel"

    def act(self, context: Context) -> set[str]:
        duel.forget(context)
        return {"FINISHED"}


register, unregister = bpy.utils.register_classes_factory(
    (
        POSE_OT_ik_triangulation_duel,
        POSE_OT_ik_triangulation_duel_apply,
        POSE_OT_ik_triangulation_duel_forget,
    )
)

# SPDX-License-Identifier: GPL-3.0-or-later
"""Compare the solvers on the active limb, and use the one that is chosen."""

from collections.abc import Sequence

import bpy
from bpy.types import Context

from ...cooperative import Job
from ...jobs.bake import frames_from, solve_pose
from ...jobs.bodies import check_alone
from ...jobs.compare import compare
from ...rig.limb import saved_range
from ...solvers import SOLVERS
from ...solvers.compare import SolverResult
from ..comparison import clear_comparison, show_comparison, solver_label
from ..context import active_armature, active_bone, active_limb, cannot_solve_alone
from ..overlay import clear_ghosts
from .base import IKOperator
from .job import JobOperator
from .outcome import report_outcome


class POSE_OT_ik_triangulation_duel(JobOperator):
    bl_idname = "pose.ik_triangulation_duel"
    bl_label = "Compare Solvers"
    bl_description = (
        "Solve the limb with every solver, list their results, and show the pose of the best one as a ghost"
    )
    bl_options = {"REGISTER"}  # no undo step: nothing in the file is changed

    doing = "Comparing solvers"
    parts = "solves"

    poll_problem = staticmethod(cannot_solve_alone)

    def job(self, context: Context, seconds: float) -> Job[Sequence[SolverResult]]:
        settings, scene, frames = context.window_manager.ik_triangulation_duel, context.scene, None
        if settings.use_range:
            stored = active_bone(context).ik_triangulation
            frames = frames_from(*saved_range(stored, scene, scene.use_preview_range))
        where = {"scene": scene, "view_layer": context.view_layer}
        return compare.steps(active_limb(context), frames, by=settings.by, seconds=seconds, **where)

    def report_result(self, context: Context, result: Sequence[SolverResult]) -> set[str]:
        show_comparison(result, active_armature(context), active_bone(context).name, context)
        best = context.window_manager.ik_triangulation_duel.rows[0]
        if best.reached and not any(row.turns for row in result if not SOLVERS[row.solver].whole):
            self.tell({"WARNING"}, "The limb is already at its target. Move the target or the limb, or compare a range")
            return {"FINISHED"}
        self.tell({"INFO"}, f"Best: {solver_label(best)}, reached {best.reached} of {best.tasks}")
        return {"FINISHED"}


class POSE_OT_ik_triangulation_duel_apply(IKOperator):
    bl_idname = "pose.ik_triangulation_duel_apply"
    bl_label = "Use Solver"
    bl_description = (
        "Use the solver chosen in the list for this limb, and solve the pose; inserts keys if Auto Keying is on"
    )

    @classmethod
    def poll_problem(cls, context: Context) -> str | None:
        rows, bone = context.window_manager.ik_triangulation_duel, active_bone(context)
        compared = bone is not None and rows.rows and (rows.armature, rows.tip) == (bone.id_data.name, bone.name)
        return cannot_solve_alone(context) or (None if compared else "Use Compare Solvers on this limb first")

    def act(self, context: Context) -> set[str]:
        rows, stored = context.window_manager.ik_triangulation_duel, active_bone(context).ik_triangulation
        check_alone(active_armature(context), active_bone(context).name, "Use Solver")
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
    bl_label = "Clear List"
    bl_description = "Clear the list of solvers and hide the ghost"
    bl_options = {"REGISTER"}

    @classmethod
    def poll_problem(cls, context: Context) -> str | None:
        return None if context.window_manager.ik_triangulation_duel.rows else "The list of solvers is empty"

    def act(self, context: Context) -> set[str]:
        clear_comparison(context)
        return {"FINISHED"}


register, unregister = bpy.utils.register_classes_factory(
    (
        POSE_OT_ik_triangulation_duel,
        POSE_OT_ik_triangulation_duel_apply,
        POSE_OT_ik_triangulation_duel_forget,
    )
)

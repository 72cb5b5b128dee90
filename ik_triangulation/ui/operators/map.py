# SPDX-License-Identifier: GPL-3.0-or-later
"""Show Reach, Map and Compare Solvers: what a limb reaches, and the cost of reaching each point around it."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import bpy
from bpy.props import EnumProperty
from bpy.types import Context, Operator

from ...cooperative import Job
from ...items import WHOLE_SOLVERS
from ...jobs import compare
from ...jobs import pose as poses
from ...jobs.shots import problem as problems
from ...maps import in_scene
from ...maps.properties import IN_PLANE, IN_SPACE, PlaneMapSettings, SpaceMapSettings
from ...rig import limb as rig_limb
from ...rig import timeline
from ...rig.scene_objects import PICTURE, VOLUME, remove_map
from ...settings import given
from ..context import active_armature, active_bone, active_chain, active_limb, cannot_solve_alone, map_of
from ..last_result import clear_comparison, show_comparison, solver_label
from ..overlay.ghost import clear_ghosts
from .base import IKOperator, JobOperator, report_outcome

if TYPE_CHECKING:
    from ...solvers.compare import SolverResult

_KINDS = {"ALL": (VOLUME, PICTURE), "REACH": (VOLUME,), "MAP": (PICTURE,)}  # of maps, by what is to be removed
_RESOLUTION = 20  # of Show Reach: points across the reach; about a second for an arm


def _settings(operator: Operator, context: Context, names: Sequence[str]) -> dict[str, Any]:
    """Return the values of these operator properties; those not given are taken from the scene's settings."""
    saved = context.scene.ik_triangulation_map
    for name in names:  # shown in Adjust Last Operation
        if not operator.properties.is_property_set(name):
            setattr(operator, name, getattr(saved, name))
    return {name: getattr(operator, name) for name in names}


class POSE_OT_ik_triangulation_map(JobOperator):
    bl_idname = "pose.ik_triangulation_map"
    bl_label = "Map"
    bl_description = (
        "Show the cost of reaching each point around the limb, as an image in the plane in which the limb is bent"
    )

    __annotations__ = given(PlaneMapSettings)

    doing = "Mapping"
    parts = "rows"

    def job(self, context: Context, seconds: float) -> "Job[in_scene.Mapped]":
        where = {"scene": context.scene, "view_layer": context.view_layer}
        given = _settings(self, context, IN_PLANE)
        return in_scene.map_in_scene.steps(active_armature(context), active_chain(context), **given, **where)

    def report_result(self, context: Context, result: "in_scene.Mapped") -> set[str]:
        image = result.shown.data
        self.tell({"INFO"}, f"Image '{image.name}': {result.made.coverage:.1f} % of the disc is reached")
        return {"FINISHED"}


class _VolumeOperator(JobOperator):
    """Base of the operators that show the space that a limb reaches."""

    doing = "Mapping"
    parts = "points"

    def report_result(self, context: Context, result: "in_scene.Mapped") -> set[str]:
        made = result.made
        points = f"{len(made.places)} of {made.targets} points"
        self.tell({"INFO"}, f"'{result.shown.name}': {points} are reached ({made.coverage:.1f} %)")
        return {"FINISHED"}


class POSE_OT_ik_triangulation_show_reach(_VolumeOperator):
    bl_idname = "pose.ik_triangulation_show_reach"
    bl_label = "Show Reach"
    bl_description = "Show the space that the limb reaches within its joint limits, as a translucent shell"

    def job(self, context: Context, seconds: float) -> "Job[in_scene.Mapped]":
        how = {"seed": active_bone(context).ik_triangulation.seed, "resolution": _RESOLUTION, "metric": "reached"}
        where = {"scene": context.scene, "view_layer": context.view_layer}
        return in_scene.volume_in_scene.steps(active_armature(context), active_chain(context), **how, **where)


class POSE_OT_ik_triangulation_map_volume(_VolumeOperator):
    bl_idname = "pose.ik_triangulation_map_volume"
    bl_label = "Map Volume"
    bl_description = (
        "Show the space that the limb reaches within its joint limits, colored by the cost of reaching its surface"
    )

    __annotations__ = given(SpaceMapSettings)

    def job(self, context: Context, seconds: float) -> "Job[in_scene.Mapped]":
        stored = active_bone(context).ik_triangulation
        limb = {name: getattr(stored, name) for name in ("solver", "iterations", "seed")}
        where = {"scene": context.scene, "view_layer": context.view_layer}
        given = _settings(self, context, IN_SPACE)
        return in_scene.volume_in_scene.steps(active_armature(context), active_chain(context), **limb, **given, **where)


class POSE_OT_ik_triangulation_map_remove(IKOperator):
    bl_idname = "pose.ik_triangulation_map_remove"
    bl_label = "Remove Map"
    bl_description = "Remove the shell or the map of the limb from the scene"

    kind: EnumProperty(
        name="Remove",
        description="Maps to remove",
        items=[
            ("ALL", "All", "Everything that is shown of the limb", 0),
            ("REACH", "Shell", "The shell of Show Reach or Map Volume", 1),
            ("MAP", "Map", "The image of Map", 2),
        ],
    )

    @classmethod
    def poll_problem(cls, context: Context) -> str | None:
        problem = super().poll_problem(context)
        if problem:
            return problem
        bone = active_bone(context)
        shown = any(map_of(context, bone, kind) for kind in _KINDS["ALL"])
        return None if shown else f"There is no map of '{bone.name}'"

    def act(self, context: Context) -> set[str]:
        bone = active_bone(context)
        maps = [ob for kind in _KINDS[self.kind] if (ob := map_of(context, bone, kind))]
        if not maps:
            self.tell({"WARNING"}, f"There is no such map of '{bone.name}'")
            return {"CANCELLED"}
        names = ", ".join(f"'{ob.name}'" for ob in maps)
        for ob in maps:
            remove_map(ob)
        self.tell({"INFO"}, f"Removed {names}")
        return {"FINISHED"}


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

    def job(self, context: Context, seconds: float) -> "Job[Sequence[SolverResult]]":
        settings, scene, frames = context.window_manager.ik_triangulation_duel, context.scene, None
        if settings.use_range:
            stored = active_bone(context).ik_triangulation
            frames = timeline.frames_from(*rig_limb.saved_range(stored, scene, scene.use_preview_range))
        where = {"scene": scene, "view_layer": context.view_layer}
        return compare.compare.steps(active_limb(context), frames, by=settings.by, seconds=seconds, **where)

    def report_result(self, context: Context, result: "Sequence[SolverResult]") -> set[str]:
        show_comparison(result, active_armature(context), active_bone(context).name, context)
        best = context.window_manager.ik_triangulation_duel.rows[0]
        if best.reached and not any(row.turns for row in result if row.solver not in WHOLE_SOLVERS):
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
        problems.check_alone(active_armature(context), active_bone(context).name, "Use Solver")
        before, stored.solver = stored.solver, rows.rows[rows.chosen].name
        key = context.scene.tool_settings.use_keyframe_insert_auto
        try:
            report = poses.solve_pose(active_limb(context), context.scene, context.view_layer, key=key)
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
        POSE_OT_ik_triangulation_show_reach,
        POSE_OT_ik_triangulation_map,
        POSE_OT_ik_triangulation_map_volume,
        POSE_OT_ik_triangulation_map_remove,
        POSE_OT_ik_triangulation_duel,
        POSE_OT_ik_triangulation_duel_apply,
        POSE_OT_ik_triangulation_duel_forget,
    )
)

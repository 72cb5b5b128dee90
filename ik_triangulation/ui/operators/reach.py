# SPDX-License-Identifier: GPL-3.0-or-later
"""Reach: key a movement from the pose at one frame to the target at another, or through several stops."""

from contextlib import ExitStack

import bpy
from bpy.types import Context

from ...cooperative import Job
from ...jobs.bodies import check_alone
from ...jobs.reach import own_stop, reach_through, saved_stops
from ...jobs.report import Report
from ...motion.timing import TIMINGS
from ...rig.limb import saved_reach
from ...settings import ReachSettings, settings_of
from ..context import active_armature, active_bone, active_limb, cannot_pose, cannot_solve_alone
from .adjust import (
    COMFORT,
    REDUCTION,
    ComfortAdjustments,
    KeyAdjustments,
    PresetChoice,
    adjusted,
    changed,
    draw_comfort,
    draw_preset,
    draw_reduction,
    load_preset,
)
from .base import IKOperator
from .job import JobOperator
from .limbs import other_object
from .outcome import report_outcome

_OF_A_STOP = {"frame_end", "hold"}  # each stop has its own
_BETWEEN = 24  # frames from the last stop to a new one


class POSE_OT_ik_triangulation_reach(PresetChoice, ComfortAdjustments, KeyAdjustments, JobOperator):
    bl_idname = "pose.ik_triangulation_reach"
    bl_label = "Reach"
    bl_description = (
        "Key the movement of the limb from its pose at one frame to the target at another, or through the listed stops"
    )

    __annotations__ = {
        name: row.as_property(options={"SKIP_PRESET"} if name in {"frame_start", "frame_end"} else set())
        for name, row in settings_of(ReachSettings).items()
    }
    bl_options = {"REGISTER", "UNDO", "PRESET"}

    doing = "Reaching"

    @classmethod
    def poll_problem(cls, context: Context) -> str | None:
        bone = active_bone(context)
        return cannot_pose(context) if bone and bone.ik_triangulation.reach_stops else cannot_solve_alone(context)

    def job(self, context: Context, seconds: float) -> Job[Report]:
        check_alone(active_armature(context), active_bone(context).name, "Reach")
        with ExitStack() as undo:
            load_preset(self, context, undo)
            stored = active_bone(context).ik_triangulation
            stops, own = saved_stops(stored), saved_reach(stored)
            different = changed(self, own)
            if different.keys() & _OF_A_STOP:
                stops = []
            (limb,) = adjusted(self, [active_limb(context, stops[0].target if stops else None)], *COMFORT, *REDUCTION)
            asked = {**own, **different}
            last, hold, first = (asked.pop(name) for name in ("frame_end", "hold", "frame_start"))
            stops = stops or [own_stop(limb, last, hold)]
            where = {"scene": context.scene, "view_layer": context.view_layer}
            report = yield from reach_through.steps(limb, stops, first, **asked, **where, seconds=seconds)
            undo.pop_all()
        return report

    def draw(self, context: Context) -> None:
        column = self.column()
        draw_preset(column, self)
        frames = column.column(align=True)
        for name in ("frame_start", "frame_end", "hold", "return_frames"):
            frames.prop(self, name)
        column.separator()
        column.prop(self, "path")
        onset = column.column()
        onset.active = self.path == "ARC"
        onset.prop(self, "onset", slider=True)
        column.prop(self, "timing")
        easing = column.column()
        easing.active = TIMINGS[self.timing].eased
        easing.prop(self, "easing")
        column.prop(self, "prop_by")
        column.separator()
        draw_comfort(column, self)
        column.separator()
        draw_reduction(column, self)

    def report_result(self, context: Context, result: Report) -> set[str]:
        return report_outcome(self, context, [result])


class POSE_OT_ik_triangulation_stop_add(IKOperator):
    bl_idname = "pose.ik_triangulation_stop_add"
    bl_label = "Add Stop"
    bl_description = "Add a target for the reach to pass through: the other selected object, or the limb's own target"

    def act(self, context: Context) -> set[str]:
        stored = active_bone(context).ik_triangulation
        frames = [stop.frame + stop.hold for stop in stored.reach_stops]
        stop = stored.reach_stops.add()
        stop.target = other_object(context) or stored.target
        stop.frame = max(frames) + _BETWEEN if frames else stored.reach_end
        stored.reach_stop = len(stored.reach_stops) - 1
        return {"FINISHED"}


class POSE_OT_ik_triangulation_stop_remove(IKOperator):
    bl_idname = "pose.ik_triangulation_stop_remove"
    bl_label = "Remove Stop"
    bl_description = "Remove the chosen stop from the reach"

    @classmethod
    def poll_problem(cls, context: Context) -> str | None:
        reason = super().poll_problem(context)
        return reason or (None if active_bone(context).ik_triangulation.reach_stops else "The list of stops is empty")

    def act(self, context: Context) -> set[str]:
        stored = active_bone(context).ik_triangulation
        stored.reach_stops.remove(stored.reach_stop)
        stored.reach_stop = max(min(stored.reach_stop, len(stored.reach_stops) - 1), 0)
        return {"FINISHED"}


register, unregister = bpy.utils.register_classes_factory(
    (POSE_OT_ik_triangulation_reach, POSE_OT_ik_triangulation_stop_add, POSE_OT_ik_triangulation_stop_remove)
)

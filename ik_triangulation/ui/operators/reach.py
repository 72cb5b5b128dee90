# SPDX-License-Identifier: GPL-3.0-or-later
"""Reach: key a movement from the pose at one frame to the target at another, or through several stops."""

from contextlib import ExitStack
from dataclasses import replace
from typing import Any

import bpy
from bpy.types import Context, PoseBone

from ...cooperative import Job
from ...jobs import reach as reaches
from ...jobs.shots import keys
from ...jobs.shots import report as reporting
from ...motion.timing import TIMINGS
from ...rig import body as rig_body
from ...rig import limb as rig_limb
from ...settings import ReachSettings, settings_of
from ..context import active_body, active_bone, active_limb, cannot_pose, cannot_solve
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
from .base import IKOperator, JobOperator, report_outcome
from .limbs import other_object

_OF_A_STOP = {"frame_end", "hold"}  # each stop has its own
_BETWEEN = 24  # frames from the last stop to a new one


class POSE_OT_ik_triangulation_reach(PresetChoice, ComfortAdjustments, KeyAdjustments, JobOperator):
    bl_idname = "pose.ik_triangulation_reach"
    bl_label = "Reach"
    bl_description = (
        "Key the movement of the limb, or of its whole body, from its pose at one frame to the targets at another, or "
        "through the listed stops"
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
        return cannot_pose(context) if bone and bone.ik_triangulation.reach_stops else cannot_solve(context)

    def job(self, context: Context, seconds: float) -> "Job[reporting.Report]":
        body, bone = active_body(context), active_bone(context)
        if body is not None and bone is not None:
            return (yield from self._body_job(context, body, bone))
        with ExitStack() as undo:
            load_preset(self, context, undo)
            stops, chosen = self._stops_and_settings(active_bone(context))
            (limb,) = adjusted(self, [active_limb(context, stops[0].target if stops else None)], *COMFORT, *REDUCTION)
            last, hold = chosen.pop("frame_end"), chosen.pop("hold")
            where = {"scene": context.scene, "view_layer": context.view_layer, "seconds": seconds}
            report = yield from reaches.reach_through.steps(
                limb, stops or [reaches.own_stop(limb, last, hold)], **chosen, **where
            )
            undo.pop_all()
        return report

    def _stops_and_settings(self, bone: PoseBone) -> "tuple[list[reaches.Stop], dict[str, Any]]":
        """Return the stops saved on a tip bone, unless others are given, and the settings of the reach."""
        stops, own = reaches.saved_stops(bone.ik_triangulation), rig_limb.saved_reach(bone.ik_triangulation)
        different = changed(self, own)
        return [] if different.keys() & _OF_A_STOP else stops, {**own, **different}

    def _body_job(self, context: Context, body: "rig_body.RigBody", bone: PoseBone) -> "Job[reporting.Report]":
        """Reach with a body by the settings that are saved on this bone, or changed in the operator."""
        stops, chosen = self._stops_and_settings(bone)
        settings = keys.body_settings(body, bone.name)
        given = changed(self, {name: getattr(settings, name) for name in REDUCTION})
        if "reduce_tolerance" in given:
            given["within"] = dict.fromkeys(body.tips, given["reduce_tolerance"])
        return (
            yield from reaches.reach_with_body.steps(
                body,
                stops or [reaches.body_stop(body, bone.name, chosen["frame_end"], chosen["hold"])],
                **{name: value for name, value in chosen.items() if name not in {*_OF_A_STOP, "prop_by"}},
                tip="" if bone.name in body.held else bone.name,
                settings=replace(settings, **given),
                scene=context.scene,
                view_layer=context.view_layer,
            )
        )

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

    def report_result(self, context: Context, result: "reporting.Report") -> set[str]:
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

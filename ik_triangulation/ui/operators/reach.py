# SPDX-License-Identifier: GPL-3.0-or-later
"""Reach: the limb goes from its pose at one frame to the target at another, as plain rotation keys."""

import bpy
from bpy.types import Context

from ...cooperative import Job
from ...jobs.reach import own_stop, reach_through, saved_stops
from ...jobs.report import Report
from ...rig.limb import saved_reach
from ...settings import ReachSettings, given
from ..context import active_bone, active_limb, why_not, why_not_posed
from .base import IKOperator
from .job import JobOperator
from .limbs import other_object
from .outcome import report_outcome

_OF_A_STOP = {"frame_end", "hold"}  # each has its own
_BETWEEN = 24  # frames from one stop to the next at first


class POSE_OT_ik_triangulation_reach(JobOperator):
    bl_idname = "pose.ik_triangulation_reach"
    bl_label = "Reach"
    bl_description = (
        "Key how the limb goes from its pose at one frame to the target at another, or through the stops that are "
        "listed; what is not given is that of the limb"
    )

    __annotations__ = given(ReachSettings)

    doing = "Reaching"
    parts = "frames"
    stopped = "Reach cancelled, nothing was changed"

    @classmethod
    def why_not(cls, context: Context) -> str | None:
        bone = active_bone(context)
        return why_not_posed(context) if bone and bone.ik_triangulation.reach_stops else why_not(context)

    def job(self, context: Context, seconds: float) -> Job[Report]:
        stored, given = active_bone(context).ik_triangulation, self.properties.is_property_set
        stops = saved_stops(stored) if not (given("frame_end") or given("hold")) else []
        for name, value in saved_reach(stored).items():  # they then show where the operator can be adjusted
            if not given(name) and not (stops and name in _OF_A_STOP):
                setattr(self, name, value)
        limb = active_limb(context, stops[0].target if stops else None)
        if not stops:
            stops = [own_stop(limb, self.frame_end, self.hold)]
        style = {name: getattr(self, name) for name in ("timing", "easing", "path", "onset")}
        where = {"scene": context.scene, "view_layer": context.view_layer}
        return reach_through.steps(limb, stops, self.frame_start, self.return_frames, **style, **where, seconds=seconds)

    def tell(self, context: Context, result: Report) -> set[str]:
        return report_outcome(self, context, [result])


class POSE_OT_ik_triangulation_stop_add(IKOperator):
    bl_idname = "pose.ik_triangulation_stop_add"
    bl_label = "Add Stop"
    bl_description = "Add a target for the reach to go through: the other selected object, or the limb's own target"

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
    bl_description = "Take the chosen stop out of the reach"

    @classmethod
    def why_not(cls, context: Context) -> str | None:
        reason = super().why_not(context)
        return reason or (None if active_bone(context).ik_triangulation.reach_stops else "There is no stop")

    def act(self, context: Context) -> set[str]:
        stored = active_bone(context).ik_triangulation
        stored.reach_stops.remove(stored.reach_stop)
        stored.reach_stop = max(min(stored.reach_stop, len(stored.reach_stops) - 1), 0)
        return {"FINISHED"}


register, unregister = bpy.utils.register_classes_factory(
    (POSE_OT_ik_triangulation_reach, POSE_OT_ik_triangulation_stop_add, POSE_OT_ik_triangulation_stop_remove)
)

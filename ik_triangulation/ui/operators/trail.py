# SPDX-License-Identifier: GPL-3.0-or-later
"""Drag Trail: a place of the active tip's path follows the mouse, and the frames around are solved again with it."""

from typing import cast

import bpy
from bpy.props import EnumProperty, IntProperty
from bpy.types import Context, Event
from mathutils import Vector

from ...errors import IKError
from ...jobs import edit as edits
from ...jobs import report as reporting
from ...jobs import retime as retiming
from ...jobs import trail as trails
from ..context import active_armature, active_bone
from ..gizmos import frame as dragging
from ..overlay import trail as shown
from .adjust import changed
from .base import report_outcome
from .edit import PROFILE_ITEMS, cannot_pull
from .target_drag import MovingOperator, lengths_text

_MOST = 1000  # frames of falloff
_WIDER = {"WHEELUPMOUSE": 1, "PAGE_UP": 1, "WHEELDOWNMOUSE": -1, "PAGE_DOWN": -1}
_ALT = {"LEFT_ALT", "RIGHT_ALT"}
_AT_REST = 0.2  # seconds without an event after which the mouse rests
_STEP = 0.1  # share by which the wheel changes the falloff


class POSE_OT_ik_triangulation_trail_drag(MovingOperator):
    bl_idname = "pose.ik_triangulation_trail_drag"
    bl_label = "Drag Trail"
    bl_description = (
        "Move the hand or foot at one frame with the mouse, and have the frames around follow within the falloff, "
        "solved again meanwhile. Alt: along the trail, which changes its timing. Wheel: falloff, Shift O: its profile, "
        "Esc: as before"
    )

    frame: IntProperty(name="Frame", description="Frame at which it is moved by all of the offset", default=1)
    falloff: IntProperty(
        name="Falloff", description="Frames on both sides that follow", default=15, min=1, soft_max=100
    )
    profile: EnumProperty(name="Profile", description="Shape of the falloff", items=PROFILE_ITEMS, default="SMOOTH")
    shift: IntProperty(
        name="Retime",
        description="Frames by which what it does there comes later; earlier if negative. It is not moved then",
    )

    poll_problem = staticmethod(cannot_pull)

    def act(self, context: Context) -> set[str]:
        armature, tip, frame = active_armature(context), active_bone(context).name, self._frame(context)
        how = self.falloff, self.profile, context.scene, context.view_layer
        if self.shift:
            return self._told(context, retiming.retime(armature, tip, frame, self.shift, *how))
        return self._told(context, edits.pull(armature, tip, frame, tuple(self.value), *how))

    def _told(self, context: Context, report: "reporting.Report | None") -> set[str]:
        return {"FINISHED"} if report is None else report_outcome(self, context, [report])

    def invoke(self, context: Context, event: Event) -> set[str]:
        begun = super().invoke(context, event)
        if begun == {"RUNNING_MODAL"}:
            self._rest = context.window_manager.event_timer_add(_AT_REST, window=context.window)
            self._is_at_rest, self._along = False, event.alt
        return begun

    def modal(self, context: Context, event: Event) -> set[str]:
        if event.type == "TIMER":
            # A body that is dragged is posed roughly; once the mouse rests, as it will be at the end.
            try:
                if self._is_at_rest and self._is_dragged and cast("trails.PullDrag", self._drag).settle():
                    self._show(context)
            except BaseException:
                self.cancel(context)
                raise
            self._is_at_rest = True
            return {"RUNNING_MODAL"}
        self._is_at_rest = False
        if event.type in _WIDER and event.value == "PRESS":
            step = max(1, round(_STEP * self.falloff)) * _WIDER[event.type]
            self.falloff = min(max(self.falloff + step, 1), _MOST)
        elif event.type == "O" and event.value == "PRESS" and event.shift:
            names = [name for name, *_ in PROFILE_ITEMS]
            self.profile = names[(names.index(self.profile) + 1) % len(names)]
        elif event.type in _ALT and event.value in {"PRESS", "RELEASE"}:
            self._along = event.value == "PRESS"
            self.drag_to(self._view, 0.0)
        else:
            return super().modal(context, event)
        try:
            self.apply()
            self._show(context)
        except BaseException:
            self.cancel(context)
            raise
        return {"RUNNING_MODAL"}

    def drag_to(self, view: "dragging.View", by_steps: float) -> None:
        super().drag_to(view, by_steps)
        # With Alt the mouse leads what is at the frame along the trail: to the time at which it passed there.
        drag = cast("trails.PullDrag", self._drag)
        self.shift = drag.nearest(drag.frame.translation + Vector(self.value)) if self._along else 0

    def apply(self) -> None:
        drag = cast("trails.PullDrag", self._drag)
        if self._along:
            drag.retime(self.shift, self.falloff, self.profile)
        else:
            drag.pull(Vector(self.value), self.falloff, self.profile)

    def text(self, context: Context) -> str:
        profile = self.properties.bl_rna.properties["profile"].enum_items[self.profile].name
        how = f"falloff {self.falloff} frames (wheel), {profile} (Shift O)"
        if self._along:
            return f"Retime frame {self.frame}:  {self.shift:+} frames   {how}"
        return f"Pull at frame {self.frame}:  {lengths_text(context, self.value)}   {how}, timing (Alt)"

    def draw(self, context: Context) -> None:
        column = self.column()
        for name in ("frame", "shift" if self.shift else "value", "falloff", "profile"):
            column.prop(self, name)

    _along = False  # whether Alt is held
    _rest: "bpy.types.Timer | None" = None

    def _frame(self, context: Context) -> int:
        return int(changed(self, {"frame": context.scene.frame_current}).get("frame", context.scene.frame_current))

    def _begin(self, context: Context) -> "trails.PullDrag":
        self.frame = self._frame(context)
        armature, tip = active_armature(context), active_bone(context).name
        drag = trails.PullDrag(armature, tip, self.frame, self.falloff, context.scene, context.view_layer)
        shown.begin_drag(drag)
        return drag

    def _finish(self) -> set[str]:
        drag = cast("trails.PullDrag", self._drag)
        try:
            report = drag.finish()
        except IKError as error:
            drag.cancel()
            return self.report_error(error)
        finally:
            shown.end_drag()
        return self._told(bpy.context, report)

    def _clear(self, context: Context) -> None:
        super()._clear(context)
        if self._rest is not None:
            context.window_manager.event_timer_remove(self._rest)
            self._rest = None

    def cancel(self, context: Context) -> None:
        super().cancel(context)
        shown.end_drag()


register, unregister = bpy.utils.register_classes_factory((POSE_OT_ik_triangulation_trail_drag,))

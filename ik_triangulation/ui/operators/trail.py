# SPDX-License-Identifier: GPL-3.0-or-later
"""Drag Trail: a place of the active tip's path follows the mouse, and the frames around are solved again with it."""

from typing import cast

import bpy
from bpy.props import EnumProperty, IntProperty
from bpy.types import Context, Event
from mathutils import Vector

from ...errors import IKError
from ...jobs import edit as edits
from ...jobs import trail as trails
from ..context import active_armature, active_bone
from ..overlay import trail as shown
from .adjust import changed
from .base import report_outcome
from .edit import PROFILE_ITEMS, cannot_pull
from .target_drag import MovingOperator, lengths_text

_MOST = 1000  # frames of falloff
_WIDER = {"WHEELUPMOUSE": 1, "PAGE_UP": 1, "WHEELDOWNMOUSE": -1, "PAGE_DOWN": -1}
_STEP = 0.1  # share by which the wheel changes the falloff


class POSE_OT_ik_triangulation_trail_drag(MovingOperator):
    bl_idname = "pose.ik_triangulation_trail_drag"
    bl_label = "Drag Trail"
    bl_description = (
        "Move the hand or foot at one frame with the mouse, and have the frames around follow within the falloff, "
        "solved again meanwhile. Wheel: falloff, Shift O: its profile, Esc: as before"
    )

    frame: IntProperty(name="Frame", description="Frame at which it is moved by all of the offset", default=1)
    falloff: IntProperty(
        name="Falloff", description="Frames on both sides that follow", default=15, min=1, soft_max=100
    )
    profile: EnumProperty(name="Profile", description="Shape of the falloff", items=PROFILE_ITEMS, default="SMOOTH")

    poll_problem = staticmethod(cannot_pull)

    def act(self, context: Context) -> set[str]:
        armature, tip = active_armature(context), active_bone(context).name
        where = context.scene, context.view_layer
        report = edits.pull(armature, tip, self._frame(context), tuple(self.value), self.falloff, self.profile, *where)
        return report_outcome(self, context, [report])

    def modal(self, context: Context, event: Event) -> set[str]:
        if event.type in _WIDER and event.value == "PRESS":
            step = max(1, round(_STEP * self.falloff)) * _WIDER[event.type]
            self.falloff = min(max(self.falloff + step, 1), _MOST)
        elif event.type == "O" and event.value == "PRESS" and event.shift:
            names = [name for name, *_ in PROFILE_ITEMS]
            self.profile = names[(names.index(self.profile) + 1) % len(names)]
        else:
            return super().modal(context, event)
        try:
            self.apply()
            self._show(context)
        except BaseException:
            self.cancel(context)
            raise
        return {"RUNNING_MODAL"}

    def apply(self) -> None:
        self._drag.pull(Vector(self.value), self.falloff, self.profile)

    def text(self, context: Context) -> str:
        profile = self.properties.bl_rna.properties["profile"].enum_items[self.profile].name
        return (
            f"Pull at frame {self.frame}:  {lengths_text(context, self.value)}   falloff {self.falloff} frames "
            f"(wheel), {profile} (Shift O)"
        )

    def draw(self, context: Context) -> None:
        column = self.column()
        for name in ("frame", "value", "falloff", "profile"):
            column.prop(self, name)

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
        return report_outcome(self, bpy.context, [report])

    def cancel(self, context: Context) -> None:
        super().cancel(context)
        shown.end_drag()


register, unregister = bpy.utils.register_classes_factory((POSE_OT_ik_triangulation_trail_drag,))

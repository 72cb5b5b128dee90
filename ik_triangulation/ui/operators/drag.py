# SPDX-License-Identifier: GPL-3.0-or-later
"""Drag: any bone follows the mouse, and the body with it, without limbs, targets or lists."""

from typing import cast

import bpy
from bpy.props import StringProperty
from bpy.types import Context
from mathutils import Vector

from ...errors import TargetError
from ...jobs import body_drag
from ...rig import limb as rig_limb
from ..context import cannot_pose, own_armature
from .target_drag import MovingOperator, lengths_text


def cannot_drag(context: Context) -> str | None:
    """Return why no bone can be dragged; None if bones can."""
    reason = cannot_pose(context)
    if reason is None and (context.mode != "POSE" or own_armature(context) is None):
        return "Switch to Pose Mode"
    return reason


class POSE_OT_ik_triangulation_drag(MovingOperator):
    bl_idname = "pose.ik_triangulation_drag"
    bl_label = "Drag"
    bl_description = (
        "Drag a bone with the mouse, and have the whole body follow: what touches the ground is pinned, joints keep "
        "to the ranges of their kind. Nothing has to be set up. With Auto Keying the bones that turned are keyed"
    )

    bone: StringProperty(name="Bone", description="Bone to drag; empty for the active one", options={"SKIP_SAVE"})

    poll_problem = staticmethod(cannot_drag)

    def apply(self) -> None:
        self._drag.move(Vector(self.value))

    def text(self, context: Context) -> str:
        drag = cast("body_drag.BodyDrag", self._drag)
        pinned = ", ".join(drag.pinned) or "none"
        return f"Drag {drag.bone}:  {lengths_text(context, self.value)}   pinned: {pinned}"

    def draw(self, context: Context) -> None:
        column = self.column()
        for name in ("bone", "value"):
            column.prop(self, name)

    def _begin(self, context: Context) -> "body_drag.BodyDrag":
        armature = context.active_object
        active = armature.data.bones.active
        name = self.bone or (active.name if active else "")
        if not name:
            raise TargetError("No bone is active. Make the one to drag active.")
        self.bone = name
        return body_drag.BodyDrag(armature, name, context.scene, context.view_layer)

    def _end(self, context: Context) -> set[str]:
        if not self._is_dragged:  # a mere click selects the bone, as without the tool
            self.cancel(context)
            rig_limb.select_only(context.active_object, [self.bone])
            return {"FINISHED"}
        return super()._end(context)


register, unregister = bpy.utils.register_classes_factory((POSE_OT_ik_triangulation_drag,))

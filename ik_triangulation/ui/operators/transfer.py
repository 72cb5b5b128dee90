# SPDX-License-Identifier: GPL-3.0-or-later
"""FK and IK both ways: the controls of one side get the motion that the character shows."""

from typing import Any

import bpy
from bpy.props import EnumProperty, IntProperty
from bpy.types import Context

from ...cooperative import Job
from ...jobs import transfer as transfers
from ...rig import limb as rig_limb
from ..context import active_armature, cannot_pose
from .adjust import changed
from .base import JobOperator

_RANGE = "frame_start", "frame_end"
_SIDES = [
    ("IK", "IK Controls", "Key the IK controls, and have the character follow them", 0),
    ("FK", "FK Controls", "Key the FK controls, and have the character follow them", 1),
]
_KEYS = [
    ("SOURCE", "As the Source", "Key only where the controls have keys that the character follows now", 0),
    ("ALL", "Every Frame", "Key every frame, so that the motion is the same between the keys as well", 1),
]


class POSE_OT_ik_triangulation_transfer(JobOperator):
    bl_idname = "pose.ik_triangulation_transfer"
    bl_label = "Transfer to IK or FK"
    bl_description = (
        "Copy the motion that the character shows onto the IK or FK controls of the selected limbs, or of all limbs if "
        "no control of one is selected, and switch to them"
    )

    to: EnumProperty(name="To", description="Controls that get the motion", items=_SIDES, default="IK")
    frame_start: IntProperty(name="Start Frame", description="First frame", default=1)
    frame_end: IntProperty(name="End Frame", description="Last frame", default=250)
    keys: EnumProperty(name="Keys", description="Frames that get keys", items=_KEYS, default="SOURCE")

    doing = "Copying the motion"
    parts = "parts"

    poll_problem = staticmethod(cannot_pose)

    def job(self, context: Context, seconds: float) -> "Job[transfers.Transfer]":
        scene, armature = context.scene, active_armature(context)
        preview = scene.use_preview_range
        first, last = (
            (scene.frame_preview_start, scene.frame_preview_end) if preview else (scene.frame_start, scene.frame_end)
        )
        given: dict[str, Any] = changed(self, {"frame_start": first, "frame_end": last})
        ends = given.get("frame_start", first), given.get("frame_end", last)
        bones = rig_limb.selected_bones(armature) if context.mode == "POSE" else ()
        return transfers.transfer.steps(armature, self.to, *ends, self.keys, bones, True, scene, context.view_layer)

    def report_result(self, context: Context, result: "transfers.Transfer") -> set[str]:
        for warning in result.warnings:
            self.tell({"WARNING"}, warning)
        names = ", ".join(f"'{each.tip}'" for each in result.limbs)
        if result.to == "IK":
            self.tell({"INFO"}, f"The IK controls of {names} have the motion: {result.keys} keys")
        else:
            self.tell({"INFO"}, f"The FK controls of {names} have the motion: {result.keys} keys")
        return {"FINISHED"}

    def draw(self, context: Context) -> None:
        column = self.column()
        for name in ("to", "frame_start", "frame_end", "keys"):
            column.prop(self, name)


register, unregister = bpy.utils.register_classes_factory((POSE_OT_ik_triangulation_transfer,))

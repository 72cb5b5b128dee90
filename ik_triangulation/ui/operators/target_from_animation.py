# SPDX-License-Identifier: GPL-3.0-or-later
"""Target from Animation: key the target where the animated limb goes, to edit that path and bake it back."""

import bpy
from bpy.props import BoolProperty
from bpy.types import Context

from ...cooperative import Job
from ...jobs.target_from_animation import KeyedTarget, target_from_animation
from ...rig.limb import Limb, enabled_limbs, saved_range
from ...rig.selection import selected_bones
from ...settings import FrameSettings, settings_of
from ..context import active_armature, active_body, active_bone, active_limb, cannot_solve
from .adjust import changed
from .job import JobOperator

_RANGE = ("frame_start", "frame_end")


class POSE_OT_ik_triangulation_target_from_animation(JobOperator):
    bl_idname = "pose.ik_triangulation_target_from_animation"
    bl_label = "Target from Animation"
    bl_description = (
        "Key the target so that it follows the limb as it is animated, place and rotation. Edit its path, then Bake: "
        "where nothing is edited the animation stays as it is. Of a body all targets are keyed"
    )

    __annotations__ = {
        **{
            name: row.as_property(options={"SKIP_PRESET"})
            for name, row in settings_of(FrameSettings).items()
            if name in _RANGE
        },
        "only_keys": BoolProperty(
            name="Only at Keys",
            description="Key the target only where a bone of the limb has a key, not on every frame",
        ),
        "all_limbs": BoolProperty(
            name="All Limbs", description="Key the targets of all limbs that are ticked in the list of limbs"
        ),
    }

    doing = "Keying the target"

    poll_problem = staticmethod(cannot_solve)

    def job(self, context: Context, seconds: float) -> Job[list[KeyedTarget]]:
        scene = context.scene
        saved = saved_range(active_bone(context).ik_triangulation, scene, scene.use_preview_range)[:2]
        given = changed(self, dict(zip(_RANGE, saved, strict=True)))
        first, last = (given.get(name, own) for name, own in zip(_RANGE, saved, strict=True))
        return target_from_animation.steps(
            self._limbs(context), first, last, only_keys=self.only_keys, scene=scene, view_layer=context.view_layer
        )

    def report_result(self, context: Context, result: list[KeyedTarget]) -> set[str]:
        names = ", ".join(f"'{keyed.target}'" for keyed in result)
        count = result[0].frames if len({keyed.frames for keyed in result}) == 1 else sum(each[2] for each in result)
        if self.only_keys:
            self.tell({"INFO"}, f"{names} keyed at {count} frames. Edit the path, then Bake with Only at Target's Keys")
        else:
            self.tell({"INFO"}, f"{names} keyed at {count} frames. Edit the path, then Bake")
        return {"FINISHED"}

    def draw(self, context: Context) -> None:
        column = self.column()
        frames = column.column(align=True)
        for name in _RANGE:
            frames.prop(self, name)
        column.prop(self, "only_keys")
        column.prop(self, "all_limbs")

    def _limbs(self, context: Context) -> list[Limb]:
        armature = active_armature(context)
        if self.all_limbs:
            return list(enabled_limbs(armature, selected_bones(armature)))
        body = active_body(context)
        return list(body.limbs) if body is not None else [active_limb(context)]


register, unregister = bpy.utils.register_classes_factory((POSE_OT_ik_triangulation_target_from_animation,))

# SPDX-License-Identifier: GPL-3.0-or-later
"""Delete Generated Keys: delete baked keys, and give back those made by hand that they replaced."""

from math import inf

import bpy
from bpy.props import BoolProperty
from bpy.types import Context

from ...jobs.bake import delete_generated
from ...rig.limb import saved_range
from ..context import active_armature, active_body, active_bone, active_chain
from ..control_names import control_names
from .base import IKOperator


class POSE_OT_ik_triangulation_generated_delete(IKOperator):
    bl_idname = "pose.ik_triangulation_generated_delete"
    bl_label = "Delete Generated Keys"
    bl_description = "Delete the baked keys of the limb, or of its body, and put back the keys that they replaced"

    use_range: BoolProperty(name="Only in Range", description="Delete only keys within the limb's frame range")

    def act(self, context: Context) -> set[str]:
        first, last, scene = -inf, inf, context.scene
        if self.use_range:
            first, last, _ = saved_range(active_bone(context).ik_triangulation, scene, scene.use_preview_range)
        body = active_body(context)
        chain = body.bones if body is not None else active_chain(context)
        names = control_names(active_bone(context)) if body is None else None
        chain = [*chain, *(name for name in (names.bones if names else ()) if name not in chain)]
        count = delete_generated(active_armature(context), chain, first, last, context.view_layer, scene)
        told = self.conclude(lambda: self.tell({"INFO"}, f"Deleted {count} keys"))
        return told if count else {"CANCELLED"}


register, unregister = bpy.utils.register_classes_factory((POSE_OT_ik_triangulation_generated_delete,))

# SPDX-License-Identifier: GPL-3.0-or-later
"""Set Offset: keep the tip's current location and rotation relative to the target."""

import bpy
from bpy.types import Context

from ...rig.checks import check_limb
from ...rig.frames.sampling import offset_of
from ..context import active_bone, active_limb, cannot_solve_alone
from .base import IKOperator


class POSE_OT_ik_triangulation_offset_set(IKOperator):
    bl_idname = "pose.ik_triangulation_offset_set"
    bl_label = "Set Offset"
    bl_description = "Keep the tip's current location and rotation relative to the target"

    poll_problem = staticmethod(cannot_solve_alone)

    def act(self, context: Context) -> set[str]:
        limb, depsgraph = active_limb(context), context.evaluated_depsgraph_get()
        check_limb(limb, context.scene, context.view_layer)
        location, rotation = offset_of(limb, depsgraph)
        stored = active_bone(context).ik_triangulation
        stored.offset_location, stored.offset_rotation, stored.use_offset = location, rotation, True
        return {"FINISHED"}


register, unregister = bpy.utils.register_classes_factory((POSE_OT_ik_triangulation_offset_set,))

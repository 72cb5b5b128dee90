# SPDX-License-Identifier: GPL-3.0-or-later
"""Goal: the part of the target that is reached, orientation and pole target."""

from typing import Any

import bpy
from bpy.types import Context, Panel, UILayout

from ...rig.limb import means_surface
from ...rig.made_rotation import is_not_turned_yet
from ..context import active_bone
from ..operators.offset import POSE_OT_ik_triangulation_offset_set
from ..operators.target_from_animation import POSE_OT_ik_triangulation_target_from_animation
from .layout import LimbPanel, choice, paragraph


class VIEW3D_PT_ik_triangulation_goal(LimbPanel, Panel):
    bl_label = "Goal"
    bl_options = {"DEFAULT_CLOSED"}

    def draw(self, context: Context) -> None:
        column = self.column(context)
        limb = active_bone(context).ik_triangulation
        column.prop(limb, "hold")
        column.prop(limb, "influence", slider=True)
        if limb.hold:
            choice(column, limb, "hold_where", context)
            _draw_ground(column, limb, context)
            return
        column.prop(limb, "shape")
        if means_surface(limb.shape, limb.target, limb.subtarget):
            column.prop(limb, "surface_offset")
        offset = column.row(align=True, heading="Offset")
        offset.prop(limb, "use_offset", text="")
        offset.operator(POSE_OT_ik_triangulation_offset_set.bl_idname)
        column.operator(POSE_OT_ik_triangulation_target_from_animation.bl_idname, icon="ANIM")
        column.separator()
        choice(column, limb, "orientation", context)
        if limb.orientation == "LOOK":
            choice(column, limb, "look_axis", context)
        elif is_not_turned_yet(limb):
            paragraph(column, "Target not turned yet: the hand stays natural to its forearm", context, "INFO")
        weight = column.column()
        weight.active = limb.orientation != "NONE"
        weight.prop(limb, "orient_weight", slider=True)
        column.separator()
        column.prop(limb, "pole_target")
        if limb.pole_target is not None:
            if limb.pole_target.type == "ARMATURE":
                column.prop_search(limb, "pole_subtarget", limb.pole_target.data, "bones")
            column.prop(limb, "pole_angle")
            column.prop(limb, "pole_weight", slider=True)


def _draw_ground(column: UILayout, limb: Any, context: Context) -> None:
    """Draw the mesh that a held tip stands on."""
    column.prop(limb, "target", text="Stands On")
    if limb.target is None:
        return
    column.prop(limb, "shape")
    if means_surface(limb.shape, limb.target, limb.subtarget):
        column.prop(limb, "surface_offset")
        choice(column, limb, "orientation", context)


register, unregister = bpy.utils.register_classes_factory((VIEW3D_PT_ik_triangulation_goal,))

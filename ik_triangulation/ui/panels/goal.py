# SPDX-License-Identifier: GPL-3.0-or-later
"""Goal and posture: what is reached, orientation and pole target; calm motion, comfort and obstacles."""

from typing import Any

import bpy
from bpy.types import Context, Panel, PropertyGroup, UILayout

from ...items import WHOLE_SOLVERS
from ...rig import limb as rig_limb
from ...rig.targets import untouched
from .. import preferences
from ..context import active_bone
from ..operators.target import POSE_OT_ik_triangulation_offset_set, POSE_OT_ik_triangulation_target_from_animation
from .layout import LimbPanel, choice, paragraph


class VIEW3D_PT_ik_triangulation_goal(LimbPanel, Panel):
    bl_label = "Goal"
    bl_options = {"DEFAULT_CLOSED"}

    def draw(self, context: Context) -> None:
        column = self.column(context)
        limb = active_bone(context).ik_triangulation
        column.prop(limb, "influence", slider=True)
        if limb.hold:
            choice(column, limb, "hold_where", context)
            _draw_ground(column, limb, context)
            return
        column.prop(limb, "shape")
        if rig_limb.means_surface(limb.shape, limb.target, limb.subtarget):
            column.prop(limb, "surface_offset")
        if limb.shape == "FLOW":
            column.prop(limb, "flow_speed")
        offset = column.row(align=True, heading="Offset")
        if limb.use_offset or limb.is_property_set("offset_location"):  # without one there is nothing to keep
            offset.prop(limb, "use_offset", text="")
        offset.operator(POSE_OT_ik_triangulation_offset_set.bl_idname)
        column.operator(POSE_OT_ik_triangulation_target_from_animation.bl_idname, icon="ANIM")
        column.separator()
        choice(column, limb, "orientation", context)
        if limb.orientation == "LOOK":
            choice(column, limb, "look_axis", context)
            column.prop(limb, "orient_weight", slider=True)
        elif untouched.is_not_turned_yet(limb):
            paragraph(column, "Target not turned yet: the hand stays natural to its forearm", context, "INFO")
        elif limb.orientation != "NONE":
            column.prop(limb, "orient_weight", slider=True)
        column.separator()
        column.prop(limb, "pole_target")
        if limb.pole_target is not None:
            if limb.pole_target.type == "ARMATURE":
                column.prop_search(limb, "pole_subtarget", limb.pole_target.data, "bones")
            column.prop(limb, "pole_angle")
            column.prop(limb, "pole_weight", slider=True)


def _draw_ground(column: UILayout, limb: Any, context: Context) -> None:
    """Draw the ground mesh of a held tip."""
    column.prop(limb, "target", text="Stands On")
    if limb.target is None:
        return
    column.prop(limb, "shape")
    if rig_limb.means_surface(limb.shape, limb.target, limb.subtarget):
        column.prop(limb, "surface_offset")
        choice(column, limb, "orientation", context)


class VIEW3D_PT_ik_triangulation_posture(LimbPanel, Panel):
    bl_label = "Posture"
    bl_options = {"DEFAULT_CLOSED"}

    def draw(self, context: Context) -> None:
        column = self.column(context)
        limb = active_bone(context).ik_triangulation
        _draw_motion(column, limb, context)
        column.separator()
        all_of_it = preferences.shows_all(context, limb)
        if all_of_it or limb.effort_weight:  # Natural is near the pose made by hand anyway
            column.prop(limb, "effort_weight", slider=True)
        if all_of_it or limb.rest_weight:
            column.prop(limb, "rest_weight", slider=True)
            near = column.column()
            near.active = limb.rest_weight > 0.0
            near.prop(limb, "rest_pose")
        column.separator()
        choice(column, limb, "obstacles", context)
        if limb.obstacles is not None:
            column.prop(limb, "obstacle_margin")
            column.prop(limb, "obstacle_weight", slider=True)


def _draw_motion(column: UILayout, limb: PropertyGroup, context: Context) -> None:
    """Draw what relates the frames of a bake; Natural solves all of them together from the pose made by hand."""
    natural = limb.solver in WHOLE_SOLVERS
    smooth = column.column()
    smooth.active = natural or limb.finish
    smooth.prop(limb, "smoothing", slider=True)
    if natural:
        smooth.prop(limb, "soft_edge")
    else:
        smooth.prop(limb, "smooth")
        choice(column, limb, "start_from", context)


register, unregister = bpy.utils.register_classes_factory(
    (
        VIEW3D_PT_ik_triangulation_goal,
        VIEW3D_PT_ik_triangulation_posture,
    )
)

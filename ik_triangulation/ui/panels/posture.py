# SPDX-License-Identifier: GPL-3.0-or-later
"""Posture: calm motion, comfort, obstacles, and for the published methods the way through the frames."""

import bpy
from bpy.types import Context, Panel, PropertyGroup, UILayout

from ...solvers import SOLVERS
from ..context import active_bone
from .layout import LimbPanel, choice


class VIEW3D_PT_ik_triangulation_posture(LimbPanel, Panel):
    bl_label = "Posture"
    bl_options = {"DEFAULT_CLOSED"}

    def draw(self, context: Context) -> None:
        column = self.column(context)
        limb = active_bone(context).ik_triangulation
        _draw_motion(column, limb, context)
        column.separator()
        column.prop(limb, "effort_weight", slider=True)
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
    natural = SOLVERS[limb.solver].whole is not None
    smooth = column.column()
    smooth.active = natural or limb.finish
    smooth.prop(limb, "smoothing", slider=True)
    if not natural:
        smooth.prop(limb, "smooth")
        choice(column, limb, "start_from", context)


register, unregister = bpy.utils.register_classes_factory((VIEW3D_PT_ik_triangulation_posture,))

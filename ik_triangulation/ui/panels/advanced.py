# SPDX-License-Identifier: GPL-3.0-or-later
"""Advanced: method, tolerances and steps of the solver; overlay, comparison and maps are panels inside it."""

import bpy
from bpy.types import Context, Panel

from ...solvers import SOLVERS
from ..context import active_bone
from .layout import LimbPanel, choice, paragraph


class VIEW3D_PT_ik_triangulation_advanced(LimbPanel, Panel):
    bl_label = "Advanced"
    bl_options = {"DEFAULT_CLOSED"}

    def draw(self, context: Context) -> None:
        column = self.column(context)
        limb = active_bone(context).ik_triangulation
        choice(column, limb, "solver", context)
        paragraph(column, SOLVERS[limb.solver].description, context)
        for name in ("tolerance", "angle_tolerance", "iterations"):
            column.prop(limb, name)
        if SOLVERS[limb.solver].whole is None:
            column.prop(limb, "finish")
        if limb.finish or SOLVERS[limb.solver].whole is not None:
            column.prop(limb, "seed")


class AdvancedPanel(LimbPanel):
    """Base of the panels inside Advanced."""

    bl_parent_id = VIEW3D_PT_ik_triangulation_advanced.__name__


register, unregister = bpy.utils.register_classes_factory((VIEW3D_PT_ik_triangulation_advanced,))

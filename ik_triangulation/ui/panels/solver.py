# SPDX-License-Identifier: GPL-3.0-or-later
"""Solver: method, tolerances and number of iterations."""

import bpy
from bpy.types import Context, Panel

from ...solvers import SOLVERS
from ..context import active_bone
from .layout import LimbPanel, paragraph


class VIEW3D_PT_ik_triangulation_solver(LimbPanel, Panel):
    bl_label = "Solver"

    def draw(self, context: Context) -> None:
        column = self.column(context)
        limb = active_bone(context).ik_triangulation
        column.prop(limb, "solver")
        paragraph(column, SOLVERS[limb.solver].description, context)
        column.prop(limb, "tolerance")
        column.prop(limb, "angle_tolerance", text="Angle")
        column.prop(limb, "iterations")
        column.prop(limb, "finish")
        if limb.finish:
            column.prop(limb, "seed")


register, unregister = bpy.utils.register_classes_factory((VIEW3D_PT_ik_triangulation_solver,))

# SPDX-License-Identifier: GPL-3.0-or-later
"""Overlay: the parts of the active limb that are drawn in viewports."""

import bpy
from bpy.types import Context, Panel

from .advanced import AdvancedPanel


class VIEW3D_PT_ik_triangulation_overlay(AdvancedPanel, Panel):
    bl_label = "Overlay"
    bl_options = {"DEFAULT_CLOSED"}

    def draw_header(self, context: Context) -> None:
        self.layout.prop(context.scene.ik_triangulation_overlay, "show", text="")

    def draw(self, context: Context) -> None:
        column = self.column(context)
        settings = context.scene.ik_triangulation_overlay
        parts = column.column(heading="Show")
        parts.active = settings.show
        for name in ("reach", "joints", "target", "error", "body"):
            parts.prop(settings, f"show_{name}")
        # Ghosts are independent of the rest of the overlay.
        column.prop(settings, "show_ghosts")


register, unregister = bpy.utils.register_classes_factory((VIEW3D_PT_ik_triangulation_overlay,))

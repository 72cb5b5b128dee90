# SPDX-License-Identifier: GPL-3.0-or-later
"""The switch of the target's gizmo, among Blender's own in the viewport's Gizmos menu. It is saved with the scene."""

import bpy
from bpy.props import BoolProperty
from bpy.types import Context, Panel, PropertyGroup, Scene

from ..overlay.redraw import redraw

PROPERTY = "ik_triangulation_show_gizmo"


def _switched(scene: PropertyGroup, context: Context) -> None:
    redraw()


def _draw(panel: Panel, context: Context) -> None:
    column = panel.layout.column()
    column.active = context.space_data.show_gizmo and context.space_data.show_gizmo_context
    column.label(text="IK Triangulation")
    column.prop(context.scene, PROPERTY, text="Target")


def register() -> None:
    setting = BoolProperty(
        name="Target Gizmo",
        description="Show a gizmo at the target of the active limb in Pose Mode, to move and rotate it",
        default=True,
        update=_switched,
    )
    setattr(Scene, PROPERTY, setting)
    bpy.types.VIEW3D_PT_gizmo_display.append(_draw)


def unregister() -> None:
    bpy.types.VIEW3D_PT_gizmo_display.remove(_draw)
    delattr(Scene, PROPERTY)

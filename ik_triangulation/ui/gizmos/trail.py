# SPDX-License-Identifier: GPL-3.0-or-later
"""The dots of the trail under the mouse: the nearest one is marked, and a drag of it pulls the tip at its frame."""

from typing import Any

import bpy
from bpy.types import Context, Gizmo, GizmoGroup

from ..operators.trail import POSE_OT_ik_triangulation_trail_drag
from . import picking


class VIEW3D_GT_ik_triangulation_trail(Gizmo):
    """The dots of a trail as one gizmo; the one that the mouse is on is the part that is marked."""

    bl_idname = "VIEW3D_GT_ik_triangulation_trail"

    def setup(self) -> None:
        self.dot: tuple[int, tuple[float, float]] | None = None
        self.asked: Any = None

    def test_select(self, context: Context, location: tuple[float, float]) -> int:
        """Return 0 if the mouse is on a dot, of which the frame is kept; else -1."""
        self.dot = picking.dot_under(context, location)
        if self.dot is None:
            return -1
        self.asked.frame = self.dot[0]
        context.area.tag_redraw()
        return 0

    def draw(self, context: Context) -> None:
        if self.is_highlight and self.dot is not None:
            picking.mark_dot(context, *self.dot)


class VIEW3D_GGT_ik_triangulation_trail(GizmoGroup):
    """The dots of the trail, in pixels of the viewport."""

    bl_label = "IK Triangulation Trail"
    bl_space_type = "VIEW_3D"
    bl_region_type = "WINDOW"
    bl_options = {"PERSISTENT"}

    @classmethod
    def poll(cls, context: Context) -> bool:
        space = context.space_data
        shown = space.show_gizmo and space.show_gizmo_context and space.overlay.show_overlays
        settings = getattr(context.scene, "ik_triangulation_trail", None)
        return bool(shown and settings and settings.show and context.mode in {"POSE", "OBJECT"})

    def setup(self, context: Context) -> None:
        dots = self.gizmos.new(VIEW3D_GT_ik_triangulation_trail.bl_idname)
        dots.asked = dots.target_set_operator(POSE_OT_ik_triangulation_trail_drag.bl_idname)
        dots.asked.release_confirm = True
        dots.use_draw_modal = False


register, unregister = bpy.utils.register_classes_factory(
    (VIEW3D_GT_ik_triangulation_trail, VIEW3D_GGT_ik_triangulation_trail)
)

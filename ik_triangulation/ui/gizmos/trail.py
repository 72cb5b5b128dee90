# SPDX-License-Identifier: GPL-3.0-or-later
"""The dots of the trail under the mouse: the nearest one is marked, and a drag of it pulls the tip at its frame."""

from __future__ import annotations

from typing import Any

import blf
import bpy
import gpu
import numpy as np
from bpy.types import Context, Gizmo, GizmoGroup
from gpu_extras.batch import batch_for_shader

from ...kinematics.arrays import Numbers
from ..operators.trail import POSE_OT_ik_triangulation_trail_drag
from ..overlay.trail import trail_of

_NEAR, _MARK, _TEXT = 12.0, 14.0, 11.0  # [pixels at 1x interface scale]: reach of a dot, its mark, the frame's number


class VIEW3D_GT_ik_triangulation_trail(Gizmo):
    """The dots of a trail as one gizmo; the one that the mouse is on is the part that is marked."""

    bl_idname = "VIEW3D_GT_ik_triangulation_trail"

    def setup(self) -> None:
        self.frame: int | None = None
        self.place = (0.0, 0.0)
        self.asked: Any = None

    def test_select(self, context: Context, location: tuple[float, float]) -> int:
        """Return 0 if the mouse is on a dot, of which the frame is kept; else -1."""
        trail = trail_of(context)
        if trail is None:
            return -1
        pixels, before = pixels_of(context, trail.shown(context.scene.frame_current_final))
        away = np.where(before, np.hypot(*(pixels - np.array(location)).T), np.inf)
        nearest = int(away.argmin())
        if away[nearest] > _NEAR * context.preferences.system.ui_scale:
            return -1
        self.frame, self.place = int(trail.frames[nearest]), tuple(pixels[nearest])
        self.asked.frame = self.frame
        context.area.tag_redraw()
        return 0

    def draw(self, context: Context) -> None:
        if not self.is_highlight or self.frame is None:
            return
        scale, colour = context.preferences.system.ui_scale, context.preferences.themes[0].user_interface.gizmo_hi
        shader = gpu.shader.from_builtin("POINT_UNIFORM_COLOR")
        gpu.state.blend_set("ALPHA")
        gpu.state.point_size_set(_MARK * scale)
        shader.bind()
        shader.uniform_float("color", (*tuple(colour)[:3], 1.0))
        batch_for_shader(shader, "POINTS", {"pos": [(*self.place, 0.0)]}).draw(shader)
        gpu.state.point_size_set(1.0)
        gpu.state.blend_set("NONE")
        blf.size(0, _TEXT * scale)
        red, green, blue = context.preferences.themes[0].view_3d.space.text_hi[:3]
        blf.color(0, red, green, blue, 1.0)
        blf.position(0, self.place[0] + _MARK * scale, self.place[1] + _MARK * scale / 2, 0.0)
        blf.draw(0, str(self.frame))


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


def pixels_of(context: Context, places: Numbers) -> tuple[Numbers, Numbers]:
    """Return where places (F, 3) are seen in the viewport (F, 2), and which of them (F) are before the viewer."""
    clip = np.array(context.region_data.perspective_matrix) @ np.column_stack((places, np.ones(len(places)))).T
    depth = np.maximum(clip[3], 1e-6)
    size: Numbers = np.array((context.region.width, context.region.height), float)
    return (clip[:2] / depth + 1.0).T * size / 2.0, clip[3] > 1e-6


register, unregister = bpy.utils.register_classes_factory(
    (VIEW3D_GT_ik_triangulation_trail, VIEW3D_GGT_ik_triangulation_trail)
)

# SPDX-License-Identifier: GPL-3.0-or-later
"""The tool Drag in the toolbar of Pose Mode: the bone under the mouse is marked, and a drag of it poses the body."""

from __future__ import annotations

from typing import Any

import bpy
import gpu
import numpy as np
from bpy.types import Context, Gizmo, GizmoGroup, KeyMap, KeyMapItem, Object, WorkSpaceTool
from gpu_extras.batch import batch_for_shader

from ...kinematics.arrays import Numbers
from ..operators.drag import POSE_OT_ik_triangulation_drag, cannot_drag
from .trail import pixels_of

TOOL = "ik_triangulation.drag"
_NEAR, _WIDTH = 16.0, 5.0  # [pixels at 1x interface scale]: reach of a bone, and width of its mark
_KEY = "D"  # with Shift and Ctrl


class VIEW3D_GT_ik_triangulation_drag(Gizmo):
    """The bones of the active armature as one gizmo; the one under the mouse is marked."""

    bl_idname = "VIEW3D_GT_ik_triangulation_drag"

    def setup(self) -> None:
        self.bone = ""
        self.asked: Any = None

    def test_select(self, context: Context, location: tuple[float, float]) -> int:
        """Return 0 if the mouse is on a bone, whose name is kept; else -1."""
        self.bone = bone_under(context, location, _NEAR * context.preferences.system.ui_scale)
        self.asked.bone = self.bone
        context.area.tag_redraw()
        return 0 if self.bone else -1

    def draw(self, context: Context) -> None:
        armature = context.active_object
        if not self.is_highlight or armature is None or self.bone not in armature.pose.bones:
            return
        bone, world = armature.pose.bones[self.bone], armature.matrix_world
        ends, before = pixels_of(context, np.array([(world @ end)[:] for end in (bone.head, bone.tail)], float))
        if not before.all():
            return
        shader = gpu.shader.from_builtin("POLYLINE_UNIFORM_COLOR")
        gpu.state.blend_set("ALPHA")
        shader.bind()
        shader.uniform_float("viewportSize", gpu.state.viewport_get()[2:])
        shader.uniform_float("lineWidth", _WIDTH * context.preferences.system.ui_scale)
        shader.uniform_float("color", (*tuple(context.preferences.themes[0].user_interface.gizmo_hi)[:3], 0.8))
        batch_for_shader(shader, "LINES", {"pos": [(*each, 0.0) for each in ends.tolist()]}).draw(shader)
        gpu.state.blend_set("NONE")


class VIEW3D_GGT_ik_triangulation_drag(GizmoGroup):
    """The bones that the tool can drag, in pixels of the viewport."""

    bl_label = "IK Triangulation Drag"
    bl_space_type = "VIEW_3D"
    bl_region_type = "WINDOW"
    bl_options = set[str]()

    @classmethod
    def poll(cls, context: Context) -> bool:
        return context.mode == "POSE" and cannot_drag(context) is None

    def setup(self, context: Context) -> None:
        bones = self.gizmos.new(VIEW3D_GT_ik_triangulation_drag.bl_idname)
        bones.asked = bones.target_set_operator(POSE_OT_ik_triangulation_drag.bl_idname)
        bones.asked.release_confirm = True
        bones.use_draw_modal = False


class DragTool(WorkSpaceTool):
    """Drag any bone; away from bones a drag selects by a box, as the tool above it in the toolbar."""

    bl_space_type = "VIEW_3D"
    bl_context_mode = "POSE"
    bl_idname = TOOL
    bl_label = "IK Drag"
    bl_description = "Drag any bone, and the body follows.\nWhat touches the ground is pinned"
    bl_icon = "ops.pose.push"
    bl_widget = VIEW3D_GGT_ik_triangulation_drag.__name__
    bl_keymap = (
        (
            "view3d.select_box",
            {"type": "LEFTMOUSE", "value": "CLICK_DRAG"},
            {"properties": [("wait_for_input", False)]},
        ),
    )

    @staticmethod
    def draw_settings(context: Context, layout: Any, tool: Any) -> None:
        layout.prop(context.scene.tool_settings, "use_keyframe_insert_auto", text="Auto Keying", icon="REC")


def bone_under(context: Context, location: tuple[float, float], reach: float) -> str:
    """Return the visible bone of the active armature that is drawn nearest to a pixel; empty if none is in reach."""
    armature = context.active_object
    names = _visible(armature)
    if not names:
        return ""
    bones, world = armature.pose.bones, np.array(armature.matrix_world)
    ends: Numbers = np.array([end[:] for name in names for end in (bones[name].head, bones[name].tail)], float)
    pixels, before = pixels_of(context, ends @ world[:3, :3].T + world[:3, 3])
    heads, tails = pixels[::2], pixels[1::2]
    along, mouse = tails - heads, np.array(location)
    share = ((mouse - heads) * along).sum(1) / np.maximum((along**2).sum(1), 1e-9)
    away: Numbers = np.hypot(*(heads + np.clip(share, 0.0, 1.0)[:, None] * along - mouse).T)
    away = np.where(before[::2] & before[1::2], away, np.inf)
    nearest = int(away.argmin())
    return names[nearest] if away[nearest] <= reach else ""


def _visible(armature: Object) -> list[str]:
    """Return the names of the bones that are shown."""
    found = []
    for bone in armature.pose.bones:
        data = bone.bone
        hidden = data.hide or getattr(bone, "hide", False)
        collections = data.collections
        if not hidden and (not collections or any(each.is_visible_effectively for each in collections)):
            found.append(bone.name)
    return found


_register_gizmos, _unregister_gizmos = bpy.utils.register_classes_factory(
    (VIEW3D_GT_ik_triangulation_drag, VIEW3D_GGT_ik_triangulation_drag)
)
_keys: list[tuple[KeyMap, KeyMapItem]] = []


def register() -> None:
    _register_gizmos()
    bpy.utils.register_tool(DragTool, after={"builtin.transform"}, separator=True)
    keyconfig = bpy.context.window_manager.keyconfigs.addon
    if keyconfig is not None:  # there is none in the background
        keymap = keyconfig.keymaps.new(name="Pose", space_type="EMPTY")
        item = keymap.keymap_items.new("wm.tool_set_by_id", _KEY, "PRESS", shift=True, ctrl=True)
        item.properties.name = TOOL
        _keys.append((keymap, item))


def unregister() -> None:
    while _keys:
        keymap, item = _keys.pop()
        keymap.keymap_items.remove(item)
    bpy.utils.unregister_tool(DragTool)
    _unregister_gizmos()

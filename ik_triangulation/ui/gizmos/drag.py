# SPDX-License-Identifier: GPL-3.0-or-later
"""The tool Drag in the toolbar of Pose Mode: the bone under the mouse is marked, and a drag of it poses the body."""

from typing import Any

import bpy
from bpy.types import Context, Gizmo, GizmoGroup, WorkSpaceTool

from ..operators.drag import POSE_OT_ik_triangulation_drag, cannot_drag
from ..shortcuts import add_shortcut, remove_shortcut
from . import picking

TOOL = "ik_triangulation.drag"
_KEY = "D"  # with Shift and Ctrl


class VIEW3D_GT_ik_triangulation_drag(Gizmo):
    """The bones of the active armature as one gizmo; the one under the mouse is marked."""

    bl_idname = "VIEW3D_GT_ik_triangulation_drag"

    def setup(self) -> None:
        self.bone = ""
        self.asked: Any = None

    def test_select(self, context: Context, location: tuple[float, float]) -> int:
        """Return 0 if the mouse is on a bone, whose name is kept; else -1."""
        self.bone = picking.bone_under(context, location)
        self.asked.bone = self.bone
        context.area.tag_redraw()
        return 0 if self.bone else -1

    def draw(self, context: Context) -> None:
        if self.is_highlight:
            picking.mark_bone(context, self.bone)


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


_register_gizmos, _unregister_gizmos = bpy.utils.register_classes_factory(
    (VIEW3D_GT_ik_triangulation_drag, VIEW3D_GGT_ik_triangulation_drag)
)


def register() -> None:
    _register_gizmos()
    bpy.utils.register_tool(DragTool, after={"builtin.transform"}, separator=True)
    add_shortcut("wm.tool_set_by_id", TOOL, _KEY, shift=True, ctrl=True)


def unregister() -> None:
    remove_shortcut(TOOL)
    bpy.utils.unregister_tool(DragTool)
    _unregister_gizmos()

# SPDX-License-Identifier: GPL-3.0-or-later
"""Gizmos of places that the mouse drags: any bone, with the tool Drag of Pose Mode, and the dots of the trail.

The bone or the dot nearest to the mouse is marked. A drag of a bone poses the body, that of a dot pulls the tip at its
frame.
"""

from typing import Any

import bpy
from bpy.types import Context, Gizmo, GizmoGroup, Operator, WorkSpaceTool

from ..operators.edit import POSE_OT_ik_triangulation_trail_drag
from ..operators.target_drag import POSE_OT_ik_triangulation_drag, cannot_drag
from ..preferences import add_shortcut, remove_shortcut
from . import picking

TOOL = "ik_triangulation.drag"
_KEY = "D"  # with Shift and Ctrl


class VIEW3D_GT_ik_triangulation_drag(Gizmo):
    """The bones of the active armature as one gizmo; the one under the mouse is marked."""

    bl_idname = "VIEW3D_GT_ik_triangulation_drag"

    def setup(self) -> None:
        self.bone = ""
        self.call: Any = None  # properties of the operator that a drag runs

    def test_select(self, context: Context, location: tuple[float, float]) -> int:
        """Return 0 if the mouse is on a bone, whose name is kept; else -1."""
        self.bone = picking.bone_under(context, location)
        self.call.bone = self.bone
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
        _add_gizmo(self, VIEW3D_GT_ik_triangulation_drag, POSE_OT_ik_triangulation_drag)


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


class VIEW3D_GT_ik_triangulation_trail(Gizmo):
    """The dots of a trail as one gizmo; the one that the mouse is on is the part that is marked."""

    bl_idname = "VIEW3D_GT_ik_triangulation_trail"

    def setup(self) -> None:
        self.dot: tuple[int, tuple[float, float]] | None = None
        self.call: Any = None  # properties of the operator that a drag runs

    def test_select(self, context: Context, location: tuple[float, float]) -> int:
        """Return 0 if the mouse is on a dot, of which the frame is kept; else -1."""
        self.dot = picking.dot_under(context, location)
        if self.dot is None:
            return -1
        self.call.frame = self.dot[0]
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
        _add_gizmo(self, VIEW3D_GT_ik_triangulation_trail, POSE_OT_ik_triangulation_trail_drag)


def _add_gizmo(group: GizmoGroup, kind: type[Gizmo], operator: type[Operator]) -> None:
    """Add a gizmo to a group, by a drag of which an operator runs, until the mouse button is released."""
    gizmo = group.gizmos.new(kind.bl_idname)
    gizmo.call = gizmo.target_set_operator(operator.bl_idname)
    gizmo.call.release_confirm = True
    gizmo.use_draw_modal = False


_register_gizmos, _unregister_gizmos = bpy.utils.register_classes_factory(
    (
        VIEW3D_GT_ik_triangulation_drag,
        VIEW3D_GGT_ik_triangulation_drag,
        VIEW3D_GT_ik_triangulation_trail,
        VIEW3D_GGT_ik_triangulation_trail,
    )
)


def register() -> None:
    _register_gizmos()
    bpy.utils.register_tool(DragTool, after={"builtin.transform"}, separator=True)
    add_shortcut("wm.tool_set_by_id", TOOL, _KEY, shift=True, ctrl=True)


def unregister() -> None:
    remove_shortcut(TOOL)
    bpy.utils.unregister_tool(DragTool)
    _unregister_gizmos()

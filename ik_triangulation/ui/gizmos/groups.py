# SPDX-License-Identifier: GPL-3.0-or-later
"""Gizmos in the viewport: at the active limb's target, at any bone with the tool Drag, and at the dots of the trail.

At the target are arrows, squares and a disc to move it and rings to rotate it; the bone or the dot nearest to the mouse
is marked. A drag of a bone poses the body, that of a dot pulls the tip at its frame.
"""

from collections.abc import Iterable
from typing import Any

import bpy
from bpy.props import BoolProperty
from bpy.types import (
    Context,
    Gizmo,
    GizmoGroup,
    Operator,
    Panel,
    PropertyGroup,
    Scene,
    ThemeUserInterface,
    WorkSpaceTool,
)
from bpy_extras.view3d_utils import location_3d_to_region_2d
from mathutils import Matrix, Vector

from ..operators.edit import POSE_OT_ik_triangulation_trail_drag
from ..operators.target_drag import (
    POSE_OT_ik_triangulation_drag,
    POSE_OT_ik_triangulation_target_move,
    POSE_OT_ik_triangulation_target_rotate,
    cannot_drag,
)
from ..overlay.updates import redraw
from ..preferences import add_shortcut, remove_shortcut
from . import mouse

PROPERTY = "ik_triangulation_show_gizmo"

_ALPHA, _HIGHLIGHT = 0.6, 1.0
# Sizes relative to Blender's gizmo size. Arrows begin at the centre, or outside of the rings where there are some.
_RING, _ARROW, _FROM_CENTRE, _FROM_RING = 0.75, 1.1, 0.22, 0.8
_PLANE, _PLANE_AT, _CENTRE = 0.07, 0.35, 0.13
_TRANSFORMING = {"builtin.move", "builtin.rotate", "builtin.scale", "builtin.scale_cage", "builtin.transform"}
# Cosines to the line of sight, beyond which an arrow, a square or a ring is of no use.
_HEAD_ON, _EDGE_ON, _RING_EDGE_ON = 0.95, 0.2, 0.05
_AXES = tuple(Vector(row) for row in Matrix.Identity(3))

TOOL = "ik_triangulation.drag"
_KEY = "D"  # with Shift and Ctrl


def _switched(scene: PropertyGroup, context: Context) -> None:
    redraw()


def _draw(panel: Panel, context: Context) -> None:
    column = panel.layout.column()
    column.active = context.space_data.show_gizmo and context.space_data.show_gizmo_context
    column.label(text="IK Triangulation")
    column.prop(context.scene, PROPERTY, text="Target")


class VIEW3D_GGT_ik_triangulation_target(GizmoGroup):
    """The gizmo at the active limb's target. Next to Blender's own transform gizmo only its centre is shown."""

    bl_label = "IK Triangulation Target"
    bl_space_type = "VIEW_3D"
    bl_region_type = "WINDOW"
    bl_options = {"3D", "PERSISTENT"}

    @classmethod
    def poll(cls, context: Context) -> bool:
        space = context.space_data
        if context.mode != "POSE" or not getattr(context.scene, PROPERTY, False):
            return False
        if not (space.show_gizmo and space.show_gizmo_context and space.overlay.show_overlays):
            return False
        armature, bone = context.active_object, context.active_pose_bone
        return mouse.target_of(bone) is not None and armature.data.pose_position == "POSE" and armature.library is None

    def setup(self, context: Context) -> None:
        move, rotate = (
            each.bl_idname for each in (POSE_OT_ik_triangulation_target_move, POSE_OT_ik_triangulation_target_rotate)
        )
        self._rings = [
            self._made("GIZMO_GT_dial_3d", rotate, (n,), draw_options={"CLIP"}, scale_basis=_RING, line_width=3.0)
            for n in range(3)
        ]
        self._planes = [
            self._made("GIZMO_GT_primitive_3d", move, {0, 1, 2} - {n}, draw_style="PLANE", scale_basis=_PLANE)
            for n in range(3)
        ]
        self._arrows = [
            self._made("GIZMO_GT_arrow_3d", move, (n,), draw_style="NORMAL", line_width=3.0) for n in range(3)
        ]
        self._centre = self._made("GIZMO_GT_primitive_3d", move, (), draw_style="CIRCLE", scale_basis=_CENTRE)

    def draw_prepare(self, context: Context) -> None:
        shown = mouse.target_frame(context)
        whole = shown is not None and not blender_shows_its_own(context)
        self._centre.hide = shown is None
        if shown is None:
            for gizmo in (*self._rings, *self._planes, *self._arrows):
                gizmo.hide = True
            return
        view = context.region_data
        place = Matrix.Translation(shown.axes.translation)
        self._centre.matrix_basis = place @ view.view_rotation.to_matrix().to_4x4()
        eye = view.view_matrix.inverted().translation
        sight = (place.translation - eye).normalized() if view.is_perspective else view.view_rotation @ _AXES[2]
        for number, (ring, plane, arrow) in enumerate(zip(self._rings, self._planes, self._arrows, strict=True)):
            frame = shown.axes @ _along(number)
            facing = abs(sight.dot(frame.col[2].xyz))
            ring.matrix_basis = frame
            arrow.matrix_basis = frame
            begin = _FROM_RING if shown.turns else _FROM_CENTRE
            arrow.matrix_offset, arrow.length = Matrix.Translation((0.0, 0.0, begin)), _ARROW - begin
            ring.hide = not (whole and shown.turns) or facing < _RING_EDGE_ON
            arrow.hide = not whole or facing > _HEAD_ON
            plane.hide = not whole or facing < _EDGE_ON
            corner = sum((_AXES[other] for other in range(3) if other != number), Vector()) * _PLANE_AT / _PLANE
            plane.matrix_basis = frame
            plane.matrix_offset = Matrix.Translation(_along(number).inverted() @ corner)
        self._colour(context.preferences.themes[0].user_interface)

    def _made(self, kind: str, operator: str, axes: Iterable[int], **looks: object) -> Gizmo:
        """Make a gizmo that starts an operator, kept to these axes of the transform orientation."""
        gizmo = self.gizmos.new(kind)
        properties = gizmo.target_set_operator(operator)
        properties.constraint_axis = [number in axes for number in range(3)]
        properties.release_confirm = True
        for name, value in looks.items():
            setattr(gizmo, name, value)
        gizmo.alpha, gizmo.alpha_highlight = _ALPHA, _HIGHLIGHT
        gizmo.use_draw_modal = kind != "GIZMO_GT_arrow_3d"  # that would take a dragged arrow to another place
        gizmo.use_draw_offset_scale = True
        return gizmo

    def _colour(self, theme: ThemeUserInterface) -> None:
        for number, colour in enumerate((theme.axis_x, theme.axis_y, theme.axis_z)):
            for gizmo in (self._rings[number], self._planes[number], self._arrows[number]):
                gizmo.color = gizmo.color_highlight = colour
        self._centre.color = self._centre.color_highlight = theme.gizmo_primary


def gizmo_box(context: Context) -> tuple[float, float, float, float] | None:
    """Return the box in the viewport, [pixels] left, bottom, right, top, that the gizmo fills; None if it is hidden."""
    if context.mode != "POSE" or not VIEW3D_GGT_ik_triangulation_target.poll(context):
        return None
    shown = mouse.target_frame(context)
    place = shown and location_3d_to_region_2d(context.region, context.region_data, shown.axes.translation)
    if not place:
        return None
    size = context.preferences.view.gizmo_size * context.preferences.system.ui_scale
    whole = not blender_shows_its_own(context)
    around = _RING if whole and shown.turns else _CENTRE
    right, up = [-around, around], [-around, around]
    to_view = context.region_data.view_rotation.inverted()
    for number in range(3 if whole else 0):
        x, y, _ = to_view @ shown.axes.col[number].xyz.normalized() * _ARROW
        right.append(x)
        up.append(y)
    return place.x + size * min(right), place.y + size * min(up), place.x + size * max(right), place.y + size * max(up)


def blender_shows_its_own(context: Context) -> bool:
    """Tell whether Blender's gizmo to move, rotate or scale the selected bones is shown in the viewport."""
    space = context.space_data
    if space.show_gizmo_object_translate or space.show_gizmo_object_rotate or space.show_gizmo_object_scale:
        return True
    tool = context.workspace.tools.from_space_view3d_mode(context.mode, create=False)
    return space.show_gizmo_tool and tool is not None and tool.idname in _TRANSFORMING


def _along(number: int) -> Matrix:
    """Return the rotation (4x4) that takes Z, the axis of arrows and rings, to an axis by its number."""
    return _AXES[2].rotation_difference(_AXES[number]).to_matrix().to_4x4()


class VIEW3D_GT_ik_triangulation_drag(Gizmo):
    """The bones of the active armature as one gizmo; the one under the mouse is marked."""

    bl_idname = "VIEW3D_GT_ik_triangulation_drag"

    def setup(self) -> None:
        self.bone = ""
        self.call: Any = None  # properties of the operator that a drag runs

    def test_select(self, context: Context, location: tuple[float, float]) -> int:
        """Return 0 if the mouse is on a bone, whose name is kept; else -1."""
        self.bone = mouse.bone_under(context, location)
        self.call.bone = self.bone
        context.area.tag_redraw()
        return 0 if self.bone else -1

    def draw(self, context: Context) -> None:
        if self.is_highlight:
            mouse.mark_bone(context, self.bone)


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
        self.dot = mouse.dot_under(context, location)
        if self.dot is None:
            return -1
        self.call.frame = self.dot[0]
        context.area.tag_redraw()
        return 0

    def draw(self, context: Context) -> None:
        if self.is_highlight and self.dot is not None:
            mouse.mark_dot(context, *self.dot)


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
        VIEW3D_GGT_ik_triangulation_target,
        VIEW3D_GT_ik_triangulation_drag,
        VIEW3D_GGT_ik_triangulation_drag,
        VIEW3D_GT_ik_triangulation_trail,
        VIEW3D_GGT_ik_triangulation_trail,
    )
)


def register() -> None:
    setting = BoolProperty(
        name="Target Gizmo",
        description="Show a gizmo at the target of the active limb in Pose Mode, to move and rotate it",
        default=True,
        update=_switched,
    )
    setattr(Scene, PROPERTY, setting)
    bpy.types.VIEW3D_PT_gizmo_display.append(_draw)
    _register_gizmos()
    bpy.utils.register_tool(DragTool, after={"builtin.transform"}, separator=True)
    add_shortcut("wm.tool_set_by_id", TOOL, _KEY, shift=True, ctrl=True)


def unregister() -> None:
    remove_shortcut(TOOL)
    bpy.utils.unregister_tool(DragTool)
    _unregister_gizmos()
    bpy.types.VIEW3D_PT_gizmo_display.remove(_draw)
    delattr(Scene, PROPERTY)

# SPDX-License-Identifier: GPL-3.0-or-later
"""The gizmo at the active limb's target: arrows, squares and a disc to move it, rings to rotate it; and its switch."""

from collections.abc import Iterable

import bpy
from bpy.props import BoolProperty
from bpy.types import Context, Gizmo, GizmoGroup, Panel, PropertyGroup, Scene, ThemeUserInterface
from bpy_extras.view3d_utils import location_3d_to_region_2d
from mathutils import Matrix, Vector

from ..operators.target_drag import POSE_OT_ik_triangulation_target_move, POSE_OT_ik_triangulation_target_rotate
from ..overlay.updates import redraw
from . import frame as dragging

PROPERTY = "ik_triangulation_show_gizmo"

_ALPHA, _HIGHLIGHT = 0.6, 1.0
# Sizes relative to Blender's gizmo size. Arrows begin at the centre, or outside of the rings where there are some.
_RING, _ARROW, _FROM_CENTRE, _FROM_RING = 0.75, 1.1, 0.22, 0.8
_PLANE, _PLANE_AT, _CENTRE = 0.07, 0.35, 0.13
_TRANSFORMING = {"builtin.move", "builtin.rotate", "builtin.scale", "builtin.scale_cage", "builtin.transform"}
# Cosines to the line of sight, beyond which an arrow, a square or a ring is of no use.
_HEAD_ON, _EDGE_ON, _RING_EDGE_ON = 0.95, 0.2, 0.05
_AXES = tuple(Vector(row) for row in Matrix.Identity(3))


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
        return (
            dragging.target_of(bone) is not None and armature.data.pose_position == "POSE" and armature.library is None
        )

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
        shown = dragging.target_frame(context)
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
    shown = dragging.target_frame(context)
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


_register_target, _unregister_target = bpy.utils.register_classes_factory((VIEW3D_GGT_ik_triangulation_target,))


def register() -> None:
    setting = BoolProperty(
        name="Target Gizmo",
        description="Show a gizmo at the target of the active limb in Pose Mode, to move and rotate it",
        default=True,
        update=_switched,
    )
    setattr(Scene, PROPERTY, setting)
    bpy.types.VIEW3D_PT_gizmo_display.append(_draw)
    _register_target()


def unregister() -> None:
    _unregister_target()
    bpy.types.VIEW3D_PT_gizmo_display.remove(_draw)
    delattr(Scene, PROPERTY)

# SPDX-License-Identifier: GPL-3.0-or-later
"""Move Target, Rotate Target and Drag: limb or body follows the mouse; by a gizmo, a shortcut, or from a script.

The first two need a limb with a target. Drag moves any bone, without limbs, targets or lists.
"""

from __future__ import annotations

from abc import abstractmethod
from math import copysign, degrees
from typing import cast

import bpy
from bpy.props import BoolProperty, BoolVectorProperty, FloatProperty, FloatVectorProperty, StringProperty
from bpy.types import Context, Event, Region
from mathutils import Matrix, Quaternion, Vector

from ...errors import IKError, TargetError
from ...jobs import body_drag
from ...jobs import targets as target_jobs
from ...rig import limb as rig_limb
from ..context import active_armature, active_bone, cannot_pose, cannot_solve_alone, own_armature
from ..gizmos import mouse
from .base import IKOperator

_PRECISION = 0.1  # of the mouse's motion while Shift is held
_KEYS = (
    "Confirm: LMB / Enter    Cancel: RMB / Esc    Axis: X, Y, Z    Plane: Shift X, Y, Z    Snap: Ctrl    Precise: Shift"
)
_FOLLOWED = {"MOUSEMOVE", "LEFT_SHIFT", "RIGHT_SHIFT", "LEFT_CTRL", "RIGHT_CTRL"}


class TargetOperator(IKOperator):
    """Base of the operators that drag the target of the active limb; apply() does what the properties say."""

    bl_options = {"REGISTER", "UNDO", "GRAB_CURSOR", "BLOCKING"}

    constraint_axis: BoolVectorProperty(
        name="Constraint Axis",
        description="Axes of the transform orientation to which the drag keeps; none for the axes of the view",
        size=3,
        subtype="XYZ",
        options={"HIDDEN", "SKIP_SAVE"},
    )
    release_confirm: BoolProperty(
        name="Confirm on Release",
        description="End the drag when the mouse button is released",
        options={"HIDDEN", "SKIP_SAVE"},
    )

    poll_problem = staticmethod(cannot_solve_alone)

    def act(self, context: Context) -> set[str]:
        self._drag = self._begin(context)
        try:
            self.apply()
            if self._drag.problem:
                raise TargetError(self._drag.problem)
        except BaseException:
            self._drag.cancel()
            raise
        return self._finish()

    def invoke(self, context: Context, event: Event) -> set[str]:
        region, view = _viewport(context)
        if region is None or view is None:
            self.tell({"ERROR"}, "IK Triangulation: The target can only be dragged in a 3D Viewport.")
            return {"CANCELLED"}
        if context.screen.is_animation_playing:
            self.tell({"ERROR"}, "IK Triangulation: Stop playback before you drag the target.")
            return {"CANCELLED"}
        try:
            self._drag = self._begin(context)
        except IKError as error:
            return self.report_error(error)
        self._region, self._view = region, mouse.View.of(region, view)
        self._axes, self._is_own = mouse.drag_axes(context, self._drag.frame), False
        self._start = self._mouse = self._seen = self._at(event)
        self._angle, self._is_dragged, self._guides = 0.0, False, mouse.Guides()
        context.window_manager.modal_handler_add(self)
        self._show(context)
        return {"RUNNING_MODAL"}

    def modal(self, context: Context, event: Event) -> set[str]:
        if event.type in {"ESC", "RIGHTMOUSE"} and event.value == "PRESS":
            self.cancel(context)
            return {"CANCELLED"}
        if _confirms(event, self.release_confirm):
            return self._end(context)
        if event.type in {"X", "Y", "Z"} and event.value == "PRESS":
            self._constrain("XYZ".index(event.type), event.shift)
        elif event.type not in _FOLLOWED:
            return {"RUNNING_MODAL"}
        try:
            self._follow(context, event)
        except BaseException:
            self.cancel(context)
            raise
        return {"RUNNING_MODAL"}

    def cancel(self, context: Context) -> None:
        """Give back what was before the drag; Blender calls this as well when it ends the operator itself."""
        self._clear(context)
        self._drag.cancel()

    @abstractmethod
    def apply(self) -> None:
        """Move or turn the target as the properties say."""

    @abstractmethod
    def drag_to(self, view: mouse.View, by_steps: float) -> None:
        """Set the properties from the motion of the mouse, in whole steps if these are not 0."""

    @abstractmethod
    def step(self, context: Context, is_precise: bool) -> float:
        """Return the step to which Ctrl snaps."""

    @abstractmethod
    def text(self, context: Context) -> str:
        """Return the text for the header."""

    def _begin(self, context: Context) -> target_jobs.TargetDrag:
        return target_jobs.TargetDrag(
            active_armature(context), active_bone(context).name, context.scene, context.view_layer
        )

    def _finish(self) -> set[str]:
        problem = self._drag.finish()
        if problem:
            self.tell({"WARNING"}, f"IK Triangulation: {problem}")
        return {"FINISHED"}

    def _end(self, context: Context) -> set[str]:
        if not self._is_dragged:  # a mere click
            self.cancel(context)
            return {"CANCELLED"}
        self._clear(context)
        return self._finish()

    def _at(self, event: Event) -> Vector:
        return Vector((event.mouse_x - self._region.x, event.mouse_y - self._region.y))

    def _follow(self, context: Context, event: Event) -> None:
        """Take the target to where the mouse and the modifier keys ask for."""
        seen = self._at(event)
        share = _PRECISION if event.shift else 1.0
        before, self._mouse = self._mouse, self._mouse + share * (seen - self._seen)
        self._angle += share * mouse.turned_by(self._view, self._drag.frame.translation, self._seen, seen)
        self._seen = seen
        self._is_dragged |= before != self._mouse
        if self._is_dragged:
            self.drag_to(self._view, self.step(context, event.shift) if event.ctrl else 0.0)
            self.apply()
        self._show(context)

    def _constrain(self, number: int, is_plane: bool) -> None:
        """Keep to an axis or a plane; a second time to those of the target itself, and then to none."""
        wanted = tuple((each == number) != is_plane for each in range(3))
        again = tuple(self.constraint_axis) == wanted
        if again and self._is_own:
            wanted = (False,) * 3
        self._is_own = again and not self._is_own
        self.constraint_axis = wanted

    def directions(self) -> Matrix:
        """Return the axes that the drag keeps to as columns, 3x3, world space."""
        return mouse.own_axes(self._drag.frame) if self._is_own else self._axes.to_3x3()

    def _show(self, context: Context) -> None:
        names = " and ".join(name for name, used in zip("XYZ", self.constraint_axis, strict=True) if used)
        own = "the target's own " if self._is_own else ""
        problem = f"    {self._drag.problem}" if self._drag.problem else ""
        context.area.header_text_set(f"{self.text(context)}{f'  along {own}{names}' if names else ''}{problem}")
        context.workspace.status_text_set(_KEYS)
        axes = self.directions().col
        self._guides.show(self._drag.frame.translation, [(i, axes[i]) for i in range(3) if self.constraint_axis[i]])
        context.area.tag_redraw()

    def _clear(self, context: Context) -> None:
        if context.area is not None:
            context.area.header_text_set(None)
        if context.workspace is not None:
            context.workspace.status_text_set(None)
        self._guides.hide()


class MovingOperator(TargetOperator):
    """Base of the operators that move what is dragged by `value`, world space."""

    value: FloatVectorProperty(
        name="Move", description="Way to move it, world space", subtype="TRANSLATION", options={"SKIP_SAVE"}
    )

    def drag_to(self, view: mouse.View, by_steps: float) -> None:
        pivot, axes = self._drag.frame.translation, self.directions()
        used = [axes.col[i] for i, each in enumerate(self.constraint_axis) if each]
        ways = self._start, self._mouse
        if len(used) == 1:
            move = mouse.move_along(view, pivot, used[0], *ways)
        elif len(used) == 2:
            move = mouse.move_in_plane(view, pivot, used[0].cross(used[1]), *ways)
        else:
            move = mouse.move_in_view(view, pivot, *ways)
        if by_steps:
            local = axes.inverted() @ move
            move = axes @ Vector([by_steps * round(each / by_steps) for each in local])
        self.value = move

    def step(self, context: Context, is_precise: bool) -> float:
        return float(context.space_data.overlay.grid_scale_unit) * (0.1 if is_precise else 1.0)


def lengths_text(context: Context, offset: Vector) -> str:
    """Return the components of an offset, world space, in the scene's units."""
    units = context.scene.unit_settings
    lengths = (
        bpy.utils.units.to_string(units.system, "LENGTH", round(each, 6) * units.scale_length + 0.0, precision=4)
        for each in offset
    )
    return "   ".join(f"{name} {length}" for name, length in zip("XYZ", lengths, strict=True))


class POSE_OT_ik_triangulation_target_move(MovingOperator):
    bl_idname = "pose.ik_triangulation_target_move"
    bl_label = "Move Target"
    bl_description = "Move the target of the active limb, which follows at once"

    def apply(self) -> None:
        self._drag.move(Vector(self.value))

    def text(self, context: Context) -> str:
        return f"Move Target:  {lengths_text(context, self.value)}"


class POSE_OT_ik_triangulation_target_rotate(TargetOperator):
    bl_idname = "pose.ik_triangulation_target_rotate"
    bl_label = "Rotate Target"
    bl_description = "Rotate the target of the active limb about its own origin; the limb follows at once"

    value: FloatProperty(name="Angle", description="Angle of the rotation", subtype="ANGLE", options={"SKIP_SAVE"})
    axis: FloatVectorProperty(
        name="Axis",
        description="Axis of the rotation, world space",
        subtype="DIRECTION",
        default=(0.0, 0.0, 1.0),
        options={"SKIP_SAVE"},
    )

    def apply(self) -> None:
        self._drag.turn(Quaternion(Vector(self.axis).normalized(), self.value))

    def drag_to(self, view: mouse.View, by_steps: float) -> None:
        kept = tuple(self.constraint_axis)
        # A plane of two axes is that of the rotation.
        number = kept.index(sum(kept) == 1) if 0 < sum(kept) < 3 else None
        axis = view.towards if number is None else Vector(self.directions().col[number])
        angle = copysign(1.0, axis.dot(-view.sight(self._drag.frame.translation))) * self._angle
        self.axis, self.value = axis, by_steps * round(angle / by_steps) if by_steps else angle

    def step(self, context: Context, is_precise: bool) -> float:
        tools = context.scene.tool_settings
        return float(tools.snap_angle_increment_3d_precision if is_precise else tools.snap_angle_increment_3d)

    def text(self, context: Context) -> str:
        return f"Rotate Target:  {degrees(self.value):.2f}°"


def _viewport(context: Context) -> tuple[Region | None, bpy.types.RegionView3D | None]:
    """Return the viewport to drag in: that of the mouse, or the one beside the sidebar that was clicked."""
    if context.area is None or context.area.type != "VIEW_3D":
        return None, None
    if context.region is not None and context.region.type == "WINDOW":
        return context.region, context.region_data
    return next(each for each in context.area.regions if each.type == "WINDOW"), context.space_data.region_3d


def _confirms(event: Event, on_release: bool) -> bool:
    if event.type == "LEFTMOUSE":
        return event.value == ("RELEASE" if on_release else "PRESS")
    return event.type in {"RET", "NUMPAD_ENTER", "SPACE"} and event.value == "PRESS"


def cannot_drag(context: Context) -> str | None:
    """Return why no bone can be dragged; None if bones can."""
    reason = cannot_pose(context)
    if reason is None and (context.mode != "POSE" or own_armature(context) is None):
        return "Switch to Pose Mode"
    return reason


class POSE_OT_ik_triangulation_drag(MovingOperator):
    bl_idname = "pose.ik_triangulation_drag"
    bl_label = "Drag"
    bl_description = (
        "Drag a bone with the mouse, and have the whole body follow: what touches the ground is pinned, joints keep "
        "to the ranges of their kind. Nothing has to be set up. With Auto Keying the bones that turned are keyed"
    )

    bone: StringProperty(name="Bone", description="Bone to drag; empty for the active one", options={"SKIP_SAVE"})

    poll_problem = staticmethod(cannot_drag)

    def apply(self) -> None:
        self._drag.move(Vector(self.value))

    def text(self, context: Context) -> str:
        drag = cast("body_drag.BodyDrag", self._drag)
        pinned = ", ".join(drag.pinned) or "none"
        return f"Drag {drag.bone}:  {lengths_text(context, self.value)}   pinned: {pinned}"

    def draw(self, context: Context) -> None:
        column = self.column()
        for name in ("bone", "value"):
            column.prop(self, name)

    def _begin(self, context: Context) -> body_drag.BodyDrag:
        armature = context.active_object
        active = armature.data.bones.active
        name = self.bone or (active.name if active else "")
        if not name:
            raise TargetError("No bone is active. Make the one to drag active.")
        self.bone = name
        return body_drag.BodyDrag(armature, name, context.scene, context.view_layer)

    def _end(self, context: Context) -> set[str]:
        if not self._is_dragged:  # a mere click selects the bone, as without the tool
            self.cancel(context)
            rig_limb.select_only(context.active_object, [self.bone])
            return {"FINISHED"}
        return super()._end(context)


register, unregister = bpy.utils.register_classes_factory(
    (
        POSE_OT_ik_triangulation_target_move,
        POSE_OT_ik_triangulation_target_rotate,
        POSE_OT_ik_triangulation_drag,
    )
)

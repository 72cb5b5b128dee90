# SPDX-License-Identifier: GPL-3.0-or-later
"""The mouse in the viewport: what is under it, such as a dot of a trail or a bone, and a drag of the limb's target.

A target is dragged in a frame by the transform orientation, with guides. Motion of the mouse becomes moves and turns in
world space. Places of the mouse are in pixels, from the lower left corner of the viewport.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import atan2, pi, tau
from typing import Any, NamedTuple

import blf
import bpy
import gpu
import numpy as np
from bpy.types import Context, Object, PoseBone, Region, RegionView3D, SpaceView3D
from gpu_extras.batch import batch_for_shader
from mathutils import Matrix, Vector
from mathutils.geometry import intersect_line_line, intersect_line_plane

from ...errors import IKError
from ...kinematics.arrays import Numbers
from ...kinematics.rotation import orientation
from ...rig.armature import is_flat
from ...rig.checks import is_evaluated
from ...rig.frames.samples import frame_of
from ...rig.limb import bone_of, is_visible, selected_limb
from ...rig.targets.goal import orientation_of, shape_of
from ...rig.targets.surface import looks_of
from ..context import active_bone
from ..overlay.trail import trail_of

_ROUND = {"POINT", "SPHERE"}  # shapes that look the same from all sides
_OWN = {"LOCAL", "NORMAL", "GIMBAL", "PARENT"}  # transform orientations that are the target's own axes here

_LONG = 1000.0  # half the length of a line, in distances from the world's origin or units, whatever is more
_ALPHA = 0.6

GuideLine = tuple[int, Vector]  # number of an axis, for its colour, and its direction in world space

_EDGE_ON = 0.05  # cosine between a plane and the line of sight below which places in it are undefined
_HEAD_ON = 0.05  # sine between an axis and the line of sight, likewise

_DOT, _BONE = 12.0, 16.0  # [pixels at 1x interface scale]: how near the mouse has to be to a dot, and to a bone
_MARK, _TEXT, _WIDTH = 14.0, 11.0, 5.0  # diameter of the mark of a dot, size of its text, width of that of a bone
_BEFORE = 1e-6  # depth of what is before the viewer

Pixel = tuple[float, float]


def target_of(bone: PoseBone | None) -> tuple[Object, str] | None:
    """Return the target of the limb that ends in a bone, with its bone if it is one; None if there is none to drag."""
    if bone is None:
        return None
    stored = bone.ik_triangulation
    target = stored.target
    if target is None or target.library is not None or stored.hold:  # the ground under a foot is not dragged
        return None
    subtarget = bone_of(target, stored.subtarget)
    return None if subtarget and subtarget not in target.pose.bones else (target, subtarget)


class TargetFrame(NamedTuple):
    """Frame of the target and axes along which it is moved (4x4, world space), and whether turning it matters."""

    frame: Matrix
    axes: Matrix
    turns: bool


def target_frame(context: Context) -> TargetFrame | None:
    """Return the frame of the active limb's target as shown; None if there is none, or if it is not evaluated."""
    bone = active_bone(context)
    found = target_of(bone)
    if bone is None or found is None or not is_evaluated(found[0], context.view_layer):
        return None
    frame = frame_of(*found, context.view_layer.depsgraph)
    axes = drag_axes(context, frame)
    axes.translation = frame.translation
    return TargetFrame(frame, axes, _turns(context, bone, *found))


def drag_axes(context: Context, frame: Matrix) -> Matrix:
    """Return the axes of the scene's transform orientation as a rotation matrix (4x4) for a target with this frame."""
    slot = context.scene.transform_orientation_slots[0]
    if slot.type in _OWN:
        return Matrix.Identity(4) if is_flat(frame) else own_axes(frame).to_4x4()
    if slot.type == "CURSOR":
        return context.scene.cursor.matrix.to_3x3().normalized().to_4x4()
    if slot.type == "VIEW" and context.region_data is not None:
        return context.region_data.view_rotation.to_matrix().to_4x4()
    if slot.custom_orientation is not None:
        return slot.custom_orientation.matrix.normalized().to_4x4()
    return Matrix.Identity(4)


def own_axes(frame: Matrix) -> Matrix:
    """Return the axes of a frame (4x4) that may be scaled or sheared, as a rotation matrix (3x3)."""
    return orientation(frame.to_3x3()).to_matrix()


def _turns(context: Context, bone: PoseBone, target: Object, subtarget: str) -> bool:
    """Tell whether the limb is posed otherwise if its target is turned; one that was not turned so far counts."""
    try:
        limb = selected_limb(bone)
        looks = looks_of(target, subtarget, context.view_layer.depsgraph)._replace(as_made=False)
        turned = orientation_of(limb, looks)
        if turned == "LOOK":
            return False
        return bool(limb.offset) or turned != "NONE" or shape_of(limb, looks) not in _ROUND
    except IKError:
        return False


class Guides:
    """Lines through a point; shown from the first show() to hide()."""

    def __init__(self) -> None:
        self._handle: Any = None

    def show(self, pivot: Vector, lines: Sequence[GuideLine]) -> None:
        """Draw these lines through `pivot` from the next redraw on."""
        self._pivot, self._lines = pivot, tuple(lines)
        if self._handle is None:
            self._handle = SpaceView3D.draw_handler_add(self._draw, (), "WINDOW", "POST_VIEW")

    def hide(self) -> None:
        """Draw nothing any more."""
        if self._handle is not None:
            SpaceView3D.draw_handler_remove(self._handle, "WINDOW")
            self._handle = None

    def _draw(self) -> None:
        theme = bpy.context.preferences.themes[0].user_interface
        half = _LONG * max(1.0, self._pivot.length)
        shader = gpu.shader.from_builtin("UNIFORM_COLOR")
        gpu.state.blend_set("ALPHA")
        try:
            for number, direction in self._lines:
                ends = [(self._pivot + side * direction)[:] for side in (-half, half)]
                shader.uniform_float("color", (*(theme.axis_x, theme.axis_y, theme.axis_z)[number], _ALPHA))
                batch_for_shader(shader, "LINES", {"pos": ends}).draw(shader)
        finally:
            gpu.state.blend_set("NONE")


class View(NamedTuple):
    """A 3D Viewport: its matrix from world to clip space (4x4), the direction towards the viewer, its size [pixels]."""

    clip: Matrix
    towards: Vector
    width: int
    height: int

    @staticmethod
    def of(region: Region, view: RegionView3D) -> View:
        """Return the view of a viewport."""
        towards = view.view_rotation @ Vector((0.0, 0.0, 1.0))
        return View(view.perspective_matrix.copy(), towards, region.width, region.height)

    def under(self, mouse: Vector, pivot: Vector) -> tuple[Vector, Vector]:
        """Return the point under the mouse that is as deep in the view as `pivot`, and the direction of sight there."""
        x, y = 2.0 * mouse.x / self.width - 1.0, 2.0 * mouse.y / self.height - 1.0
        seen, back = self.clip @ pivot.to_4d(), self.clip.inverted()
        near, here = (back @ Vector((x, y, z, 1.0)) for z in (-1.0, seen.z / seen.w))
        point = here.xyz / here.w
        return point, (point - near.xyz / near.w).normalized()

    def place(self, point: Vector) -> Vector:
        """Return the pixel at which a point is seen."""
        seen = self.clip @ point.to_4d()
        return Vector(((seen.x / seen.w + 1.0) * self.width / 2.0, (seen.y / seen.w + 1.0) * self.height / 2.0))

    def sight(self, point: Vector) -> Vector:
        """Return the direction in which a point is seen, a unit vector."""
        return self.under(self.place(point), point)[1]


def move_in_view(view: View, pivot: Vector, start: Vector, now: Vector) -> Vector:
    """Return the move of a point at `pivot`, parallel to the screen, that keeps it under the mouse."""
    return _on_plane(view, pivot, view.towards, start, now)


def move_in_plane(view: View, pivot: Vector, normal: Vector, start: Vector, now: Vector) -> Vector:
    """Return the move of a point at `pivot` in a plane; as if parallel to the screen where that is seen edge-on."""
    if abs(normal.dot(view.sight(pivot))) >= _EDGE_ON:
        return _on_plane(view, pivot, normal, start, now)
    move = move_in_view(view, pivot, start, now)
    return move - move.project(normal)


def move_along(view: View, pivot: Vector, axis: Vector, start: Vector, now: Vector) -> Vector:
    """Return the move of a point at `pivot` along an axis, a unit vector.

    Up and down on the screen count where the axis is seen head-on.
    """
    if axis.cross(view.sight(pivot)).length < _HEAD_ON:
        up = move_in_view(view, pivot, Vector((now.x, start.y)), now)
        return axis * (up.length if now.y > start.y else -up.length)
    return axis * (_on_line(view, pivot, axis, now) - _on_line(view, pivot, axis, start))


def turned_by(view: View, pivot: Vector, before: Vector, now: Vector) -> float:
    """Return the angle from -pi to pi by which the mouse went round `pivot`, counterclockwise on the screen [rad]."""
    centre = view.place(pivot)
    one, two = before - centre, now - centre
    return (atan2(two.y, two.x) - atan2(one.y, one.x) + pi) % tau - pi


def _on_plane(view: View, pivot: Vector, normal: Vector, start: Vector, now: Vector) -> Vector:
    """Return the offset between two places of the mouse on a plane through `pivot`; zero where the plane is edge-on."""
    places = []
    for mouse in (start, now):
        point, sight = view.under(mouse, pivot)
        places.append(intersect_line_plane(point, point + sight, pivot, normal) or pivot)
    way = places[1] - places[0]
    return way - way.project(normal)


def _on_line(view: View, pivot: Vector, axis: Vector, mouse: Vector) -> float:
    """Return where on a line through `pivot` it is nearest to what is under the mouse."""
    point, sight = view.under(mouse, pivot)
    found = intersect_line_line(pivot, pivot + axis, point, point + sight)
    return float((found[0] - pivot).dot(axis)) if found else 0.0


def pixels_of(context: Context, places: Numbers) -> tuple[Numbers, Numbers]:
    """Return where places (F, 3) are seen in the viewport (F, 2), and which of them (F) are before the viewer."""
    clip = np.array(context.region_data.perspective_matrix) @ np.column_stack((places, np.ones(len(places)))).T
    size: Numbers = np.array((context.region.width, context.region.height), float)
    return (clip[:2] / np.maximum(clip[3], _BEFORE) + 1.0).T * size / 2.0, clip[3] > _BEFORE


def dot_under(context: Context, location: Pixel) -> tuple[int, Pixel] | None:
    """Return the frame of the trail's dot that is nearest to a pixel, and where it is; None if none is near."""
    trail = trail_of(context)
    if trail is None:
        return None
    pixels, before = pixels_of(context, trail.shown(context.scene.frame_current_final))
    away = np.where(before, np.hypot(*(pixels - np.array(location)).T), np.inf)
    nearest = int(away.argmin())
    if away[nearest] > _DOT * context.preferences.system.ui_scale:
        return None
    return int(trail.frames[nearest]), (float(pixels[nearest, 0]), float(pixels[nearest, 1]))


def mark_dot(context: Context, frame: int, place: Pixel) -> None:
    """Draw the mark of a dot with the number of its frame."""
    scale = context.preferences.system.ui_scale
    shader = gpu.shader.from_builtin("POINT_UNIFORM_COLOR")
    gpu.state.blend_set("ALPHA")
    gpu.state.point_size_set(_MARK * scale)
    shader.bind()
    shader.uniform_float("color", _tint(context, 1.0))
    batch_for_shader(shader, "POINTS", {"pos": [(*place, 0.0)]}).draw(shader)
    gpu.state.point_size_set(1.0)
    gpu.state.blend_set("NONE")
    red, green, blue = context.preferences.themes[0].view_3d.space.text_hi[:3]
    blf.size(0, _TEXT * scale)
    blf.color(0, red, green, blue, 1.0)
    blf.position(0, place[0] + _MARK * scale, place[1] + _MARK * scale / 2, 0.0)
    blf.draw(0, str(frame))


def bone_under(context: Context, location: Pixel) -> str:
    """Return the visible bone of the active armature that is drawn nearest to a pixel; empty if none is near."""
    armature = context.active_object
    names = [bone.name for bone in armature.pose.bones if is_visible(bone)]
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
    return names[nearest] if away[nearest] <= _BONE * context.preferences.system.ui_scale else ""


def mark_bone(context: Context, name: str) -> None:
    """Draw the mark of a bone of the active armature."""
    armature = context.active_object
    if armature is None or name not in armature.pose.bones:
        return
    bone, world = armature.pose.bones[name], armature.matrix_world
    ends, before = pixels_of(context, np.array([(world @ end)[:] for end in (bone.head, bone.tail)], float))
    if not before.all():
        return
    shader = gpu.shader.from_builtin("POLYLINE_UNIFORM_COLOR")
    gpu.state.blend_set("ALPHA")
    shader.bind()
    shader.uniform_float("viewportSize", gpu.state.viewport_get()[2:])
    shader.uniform_float("lineWidth", _WIDTH * context.preferences.system.ui_scale)
    shader.uniform_float("color", _tint(context, 0.8))
    batch_for_shader(shader, "LINES", {"pos": [(*each, 0.0) for each in ends.tolist()]}).draw(shader)
    gpu.state.blend_set("NONE")


def _tint(context: Context, alpha: float) -> Sequence[float]:
    red, green, blue = tuple(context.preferences.themes[0].user_interface.gizmo_hi)[:3]
    return red, green, blue, alpha

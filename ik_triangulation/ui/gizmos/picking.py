# SPDX-License-Identifier: GPL-3.0-or-later
"""The dot of a trail or the bone under the mouse, and their marks; loaded when they are first looked for."""

from __future__ import annotations

from collections.abc import Sequence

import blf
import gpu
import numpy as np
from bpy.types import Context
from gpu_extras.batch import batch_for_shader

from ...kinematics.arrays import Numbers
from ...rig.limb import is_visible
from ..overlay.trail import trail_of

_DOT, _BONE = 12.0, 16.0  # [pixels at 1x interface scale]: how near the mouse has to be to a dot, and to a bone
_MARK, _TEXT, _WIDTH = 14.0, 11.0, 5.0  # diameter of the mark of a dot, size of its text, width of that of a bone
_BEFORE = 1e-6  # depth of what is before the viewer

Pixel = tuple[float, float]


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

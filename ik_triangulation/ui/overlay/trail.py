# SPDX-License-Identifier: GPL-3.0-or-later
"""The trail of the active tip in the viewport: read in slices of time after the animation has changed, and drawn.

Animations are compared by the bytes of what moves objects and bones, keyframes and poses.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, NamedTuple

import bpy
import gpu
import numpy as np
from bpy.types import Context, Object, PoseBone
from gpu_extras.batch import batch_for_shader

from ...cooperative import Work
from ...errors import IKError
from ...jobs.edits import trail as trails
from ...rig import keyframes, timeline
from ..context import active_bone
from . import sketch
from .updates import edits, redraw, setup_edits

if TYPE_CHECKING:
    from ...kinematics.arrays import Array, Numbers


_MOST = 600  # frames at most
_REST = 0.15  # seconds after a change until the trail is read again
_SLICE = 0.02  # seconds for which it is read at a time
_LINE, _DOT, _KEY, _NOW = 1.5, 4.0, 8.0, 11.0  # width, and diameters of the dots [pixels at 1x interface scale]
_FAINT = 0.5  # opacity of the line


class _Query(NamedTuple):
    """Trail that is shown: session uid of the armature, bone, scene, first and last frame, space."""

    armature: int
    tip: str
    scene: int
    first: int
    last: int
    space: tuple[int, str]


class _State:
    """The trail as it was read last, and the one being read."""

    def __init__(self) -> None:
        self.query: _Query | None = None
        self.trail: trails.Trail | None = None
        self.content: bytes = b""  # of the animation from which it was read
        self.edits = -1  # at which that was compared last
        self.reading: Work[trails.Trail] | None = None
        self.drag: trails.PullDrag | None = None


_state = _State()
_hips: tuple[tuple[int, int, str], str] | None = None  # of the last bone


def begin_drag(drag: trails.PullDrag) -> None:
    """Show the trail as it is dragged, and read nothing until end_drag()."""
    _state.drag = drag


def end_drag() -> None:
    """Show the trail as it is animated."""
    _state.drag, _state.edits = None, -1
    redraw()


def trail_of(context: Context) -> trails.Trail | None:
    """Return the trail that the viewport shows; None if there is none, or none yet."""
    if not context.scene.ik_triangulation_trail.show:
        return None
    bone = active_bone(context)
    if bone is None or context.mode not in {"POSE", "OBJECT"}:
        return None
    query = _query(context, bone)
    if _state.query != query:
        _state.__init__()
        _state.query = query
    is_stale = _state.edits != edits() and _state.drag is None and not is_playing(context)
    if is_stale and not bpy.app.timers.is_registered(_read_on):
        bpy.app.timers.register(_read_on, first_interval=_REST if _state.trail else 0.0)
    trail, drag = _state.trail, _state.drag
    if trail is not None and drag is not None and drag.moved is not None:
        return trail.moved(*drag.moved)
    return trail


def forget_trail() -> None:
    """Forget what was read, and stop reading."""
    if bpy.app.timers.is_registered(_read_on):
        bpy.app.timers.unregister(_read_on)
    _state.__init__()


def _query(context: Context, bone: PoseBone) -> _Query:
    frames = frames_in_view(context, _MOST)
    space = _space(context, bone)
    of = (space[0].session_uid, space[1]) if space else (0, "")
    return _Query(bone.id_data.session_uid, bone.name, context.scene.session_uid, frames[0], frames[-1], of)


def _space(context: Context, bone: PoseBone) -> tuple[Object, str] | None:
    """Return the object, or the bone of one, that the trail is seen from; None for the world."""
    settings = context.scene.ik_triangulation_trail
    if settings.space == "HIPS":
        return bone.id_data, _hips_of(bone)
    if settings.space == "OBJECT" and settings.object is not None:
        return settings.object, ""
    return None


def _hips_of(bone: PoseBone) -> str:
    """Return the hips of the character that a bone is of; found anew only when the setup has changed."""
    global _hips
    query = setup_edits(), bone.id_data.session_uid, bone.name
    if _hips is None or _hips[0] != query:
        _hips = query, trails.hips_above(bone)
    return _hips[1]


def _read_on() -> float | None:
    """Read the trail for a slice of time, if the animation has changed; return the seconds until more."""
    context, state = bpy.context, _state
    bone = active_bone(context)
    if bone is None or state.query is None or state.drag is not None or _query(context, bone) != state.query:
        state.reading = None
        return None
    try:
        if state.reading is None:
            content, state.edits = _content(bone, context), edits()
            if content == state.content and state.trail is not None:
                return None
            state.content = content
            frames = range(state.query.first, state.query.last + 1)
            where = context.scene, context.view_layer
            state.reading = trails.read_trail(bone, frames, _space(context, bone), *where, _SLICE)
        next(state.reading)
    except StopIteration as end:
        state.trail, state.reading, state.edits = end.value, None, edits()
        redraw()
        return None
    except (IKError, ReferenceError):  # something was removed meanwhile
        state.reading, state.trail = None, None
        return None
    return 0.0


def _content(bone: PoseBone, context: Context) -> bytes:
    """Return what moves a tip by keyframes and poses, in a form that can be compared."""
    armature, stored = bone.id_data, bone.ik_triangulation
    objects = {armature, armature.parent, stored.target, context.scene.ik_triangulation_trail.object}
    return content_of(objects, armature, (bone, *bone.parent_recursive))


def draw_trail() -> None:
    """Draw the trail in the viewport of the current context."""
    context = bpy.context
    if not context.space_data.overlay.show_overlays:
        return
    trail = trail_of(context)
    if trail is None:
        return
    frame, width = context.scene.frame_current_final, context.preferences.system.pixel_size
    places = trail.shown(frame).astype(np.float32)
    colours = _colours(context, trail, frame)
    gpu.state.blend_set("ALPHA")
    gpu.state.depth_test_set("NONE")
    try:
        line = colours * np.float32((1.0, 1.0, 1.0, _FAINT))
        _paint("LINE_STRIP", places, line, line_width=_LINE * width)
        _paint("POINTS", places[~trail.keys], colours[~trail.keys], size=_DOT * width)
        _paint("POINTS", places[trail.keys], colours[trail.keys], size=_KEY * width)
        here = np.flatnonzero(np.abs(np.array(trail.frames) - frame) < 0.5)
        if len(here):
            now = sketch.palette(context.preferences.themes[0]).outlines[sketch.Role.NOW][None]
            _paint("POINTS", places[here], np.repeat(now, len(here), 0), size=_NOW * width)
            _paint("POINTS", places[here], colours[here], size=_KEY * width)
    finally:
        gpu.state.point_size_set(1.0)
        gpu.state.blend_set("NONE")


def _colours(context: Context, trail: trails.Trail, frame: float) -> Array:
    """Return colours (F, 4): past and future as Blender's motion paths have them."""
    theme = context.preferences.themes[0].view_3d
    tints = theme.before_current_frame, theme.after_current_frame
    past, future = (np.array((*tuple(each)[:3], 1.0), np.float32) for each in tints)
    frames = np.array(trail.frames, float)[:, None]
    colours: Array = np.where(frames < frame, past, future).astype(np.float32)
    return colours


def _paint(kind: str, places: Numbers, colours: Array, line_width: float = 0.0, size: float = 0.0) -> None:
    if len(places) < (2 if line_width else 1):
        return
    shader = gpu.shader.from_builtin("POLYLINE_SMOOTH_COLOR" if line_width else "POINT_FLAT_COLOR")
    content: dict[str, Any] = {"pos": places, "color": colours}
    batch = batch_for_shader(shader, kind, content)
    shader.bind()
    if line_width:
        shader.uniform_float("viewportSize", gpu.state.viewport_get()[2:])
        shader.uniform_float("lineWidth", line_width)
    else:
        gpu.state.point_size_set(size)
    batch.draw(shader)


def frames_in_view(context: Context, most: int) -> range:
    """Return the frames of the scene's (preview) range; of a long one `most` frames around the present one.

    They stay the same while the frame changes by less than a quarter of them.
    """
    scene = context.scene
    first, last = timeline.scene_range(scene)
    if last - first >= most:
        part = most // 4
        first = min(max(first, scene.frame_current // part * part - most // 2), last - most + 1)
        last = first + most - 1
    return range(first, max(first, last) + 1)


def content_of(objects: Iterable[Object | None], armature: Object, bones: Iterable[PoseBone]) -> bytes:
    """Return what moves these objects, and bones of the armature, in a form that can be compared."""
    parts = list[bytes]()
    for ob in sorted({*objects} - {None}, key=lambda each: each.session_uid):
        curves = list(keyframes.curves_of(ob))
        for curve in curves:
            keys = keyframes.get_keys(curve, ["co", "handle_left", "handle_right"])
            parts += [curve.data_path.encode(), *(column.tobytes() for column in keys.values())]
        if not curves:
            parts.append(np.array(ob.matrix_world).tobytes())
    keyed = {curve.data_path.partition("]")[0] for curve in keyframes.curves_of(armature)}
    for each in bones:
        if each.path_from_id().partition("]")[0] not in keyed:
            parts.append(np.array(each.matrix_basis).tobytes())
    return b"".join(parts)


def is_playing(context: Context) -> bool:
    """Tell whether a window plays the animation."""
    return any(window.screen.is_animation_playing for window in context.window_manager.windows)

# SPDX-License-Identifier: GPL-3.0-or-later
"""Ghosts of the shot: the character at frames around the present one, or before the last change, as translucent bones.

They are read in slices of time after the animation has changed, and kept: a redraw draws the batches of the last one
until the frame, the settings or the animation change.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import bpy
import gpu
import numpy as np
from bpy.types import Context, Object
from gpu_extras.batch import batch_for_shader

from ...cooperative import Work
from ...errors import IKError
from ...jobs.edits import trail
from ...kinematics.arrays import Array
from ..context import active_armature, is_limb
from .sketch import GHOST, octahedra_between
from .trail import content_of, frames_in_view, is_playing
from .updates import edits, redraw

_MOST = 240  # frames at most
_REST = 0.15  # seconds after a change until the figures are read again
_SLICE = 0.02  # seconds for which they are read at a time
_STICK = 0.03  # of the size of a figure: shorter bones, as of fingers and faces, are lines
_FARTHEST = 0.35  # opacity of the ghost farthest from the present frame, as a share of the nearest one's


_Coloured = tuple[Array, Array]  # places (n, 3) and colours (n, 4), single precision


class _Query(NamedTuple):
    """The character whose figures are kept: session uids of armature and scene, first and last frame."""

    armature: int
    scene: int
    first: int
    last: int


class _State:
    """The figures as they were read last, those before the last change, and those being read."""

    def __init__(self) -> None:
        self.query: _Query | None = None
        self.figures: trail.Figures = {}
        self.before: trail.Figures = {}
        self.keys: list[int] = []  # frames with poses keyed by hand
        self.content: bytes = b""  # of the animation from which they were read
        self.edits = -1  # at which that was compared last
        self.reading: Work[trail.Figures | None] | None = None
        self.drawn: Any = None  # key by which the batches are known
        self.batches: list[tuple[Any, Any]] = []


_state = _State()


def forget_figures() -> None:
    """Forget what was read, and stop reading."""
    if bpy.app.timers.is_registered(_read_on):
        bpy.app.timers.unregister(_read_on)
    _state.__init__()


def keep_before(armature: Object) -> None:
    """Keep the figures as those before a change that an operator has just made to an armature.

    None where they are still being read: those there are would be of an earlier change.
    """
    if _state.query is not None and _state.query.armature == armature.session_uid:
        _state.before = _state.figures if _state.reading is None else {}


def restore_before() -> None:
    """Show the figures before the last change again: it is undone. They are read anew at rest."""
    if _state.before:
        _state.figures, _state.before, _state.content, _state.edits = _state.before, {}, b"", -1


def forget_before() -> None:
    """Forget the figures before the last change: something else is there now."""
    _state.before = {}


def figures_of(context: Context) -> dict[int, Array]:
    """Return the figures to draw now by their frames, those at the present one as it was before the last change.

    If the animation has changed, reading begins; until its end the figures are those before.
    """
    settings = context.scene.ik_triangulation_ghosts
    armature = active_armature(context)
    if not settings.show or armature is None or context.mode not in {"POSE", "OBJECT"}:
        return {}
    query = _query(context, armature)
    if _state.query is None or _state.query[:2] != query[:2]:
        _state.__init__()
    if _state.query != query:
        _state.query, _state.edits, _state.content, _state.reading = query, -1, b"", None
    if _state.edits != edits() and not is_playing(context) and not bpy.app.timers.is_registered(_read_on):
        bpy.app.timers.register(_read_on, first_interval=_REST if _state.figures else 0.0)
    now = context.scene.frame_current
    if settings.kind == "BEFORE":
        return {now: _state.before[now]} if now in _state.before else {}
    return {frame: _state.figures[frame] for frame in _frames(settings, now) if frame in _state.figures}


def _frames(settings: Any, now: int) -> Iterator[int]:
    """Yield the frames of ghosts, nearest to the present one first on either side."""
    count = settings.count
    if settings.kind == "KEYS":
        yield from [frame for frame in reversed(_state.keys) if frame < now][:count]
        yield from [frame for frame in _state.keys if frame > now][:count]
    else:
        for number in range(1, count + 1):
            yield now - number * settings.step
            yield now + number * settings.step


def _query(context: Context, armature: Object) -> _Query:
    frames = frames_in_view(context, _MOST)
    return _Query(armature.session_uid, context.scene.session_uid, frames[0], frames[-1])


def _read_on() -> float | None:
    """Read the figures for a slice of time, if the animation has changed; return the seconds until more."""
    context, state = bpy.context, _state
    armature, query = active_armature(context), state.query
    if armature is None or query is None or _query(context, armature)[:2] != query[:2]:
        state.reading = None
        return None
    try:
        if state.reading is None:
            content, state.edits = _content(armature), edits()
            if content == state.content:
                return None
            state.content = content
            names, frames = trail.figure_bones(armature), range(query.first, query.last + 1)
            tips = [bone.name for bone in armature.pose.bones if is_limb(bone)]
            state.keys = trail.pose_frames(armature, tips, frames, context.scene)
            where = context.scene, context.view_layer
            state.reading = trail.read_figures(armature, names, frames, *where, _SLICE)
        next(state.reading)
    except StopIteration as end:
        state.figures, state.reading, state.drawn, state.edits = end.value or {}, None, None, edits()
        redraw()
        return None
    except (IKError, ReferenceError):  # something was removed meanwhile
        state.reading, state.figures = None, {}
        return None
    return 0.0


def _content(armature: Object) -> bytes:
    """Return what moves a character, in a form that can be compared."""
    bones = armature.pose.bones
    targets = (
        {bone.ik_triangulation.target for bone in bones} if hasattr(bpy.types.PoseBone, "ik_triangulation") else {}
    )
    followed = {getattr(held, "target", None) for bone in bones for held in bone.constraints}
    content = content_of({armature, armature.parent, *targets, *followed}, armature, bones)
    loose = [value for bone in bones for value in bone.values() if isinstance(value, int | float)]
    return content + np.array(loose, float).tobytes()


def draw_figures() -> None:
    """Draw the ghosts in the viewport of the current context."""
    context = bpy.context
    if not context.space_data.overlay.show_overlays:
        return
    found = figures_of(context)
    if not found:
        return
    armature = active_armature(context)
    if not armature.visible_get(viewport=context.space_data):
        return
    theme = context.preferences.themes[0].view_3d
    tints = tuple(theme.before_current_frame), tuple(theme.after_current_frame)
    known = id(_state.figures), id(_state.before), tuple(found), context.scene.frame_current, tints
    if _state.drawn != known:
        faces, edges = coloured_figures(found, context.scene.frame_current, *tints)
        _state.batches = [_batch("TRIS", faces), _batch("LINES", edges)]
        _state.drawn = known
    gpu.state.blend_set("ALPHA")
    gpu.state.depth_test_set("NONE" if armature.show_in_front else "LESS_EQUAL")
    gpu.state.depth_mask_set(False)
    try:
        for shader, batch in _state.batches:
            shader.bind()
            batch.draw(shader)
    finally:
        gpu.state.depth_test_set("NONE")
        gpu.state.blend_set("NONE")


def coloured_figures(found: dict[int, Array], now: int, past: Any, future: Any) -> tuple[_Coloured, _Coloured]:
    """Return faces and edges of figures (2, bones, 3) by their frames; colours fade with the distance from `now`.

    `past` and `future` are theme colours: those of Blender's motion paths.
    """
    frames = np.array([*found])
    farthest = max(int(np.abs(frames - now).max()), 1)
    fades = 1.0 - (1.0 - _FARTHEST) * np.maximum(np.abs(frames - now) - 1, 0) / max(farthest - 1, 1)
    tints = np.where((frames <= now)[:, None], np.array(past[:3]), np.array(future[:3]))
    every = np.stack([*found.values()]).astype(float)  # (figures, 2, bones, 3)
    lengths = np.linalg.norm(every[:, 1] - every[:, 0], axis=2).max(axis=0)
    long = lengths > _STICK * float(np.ptp(every, axis=(1, 2)).max())
    thick = every[:, :, long].transpose(1, 0, 2, 3).reshape(2, -1, 3)
    edges, faces, drawn = octahedra_between(*thick)
    of = np.repeat(np.arange(len(frames)), long.sum())[drawn]  # figure of each bone
    sticks = every[:, :, ~long].transpose(0, 2, 1, 3).reshape(-1, 3).astype(np.float32)
    of_sticks = np.repeat(np.arange(len(frames)), 2 * (~long).sum())
    owners = np.repeat(of, len(faces) // max(len(of), 1)), np.repeat(of, len(edges) // max(len(of), 1))
    coloured = []
    for places, owner, opacity in (
        (faces, owners[0], GHOST[1]),
        (np.concatenate((edges, sticks)), np.concatenate((owners[1], of_sticks)), GHOST[0]),
    ):
        colours = np.column_stack((tints, opacity * fades)).astype(np.float32)
        coloured.append((places, colours[owner]))
    return coloured[0], coloured[1]


def _batch(kind: str, those: _Coloured) -> tuple[Any, Any]:
    shader = gpu.shader.from_builtin("SMOOTH_COLOR")
    return shader, batch_for_shader(shader, kind, dict(zip(("pos", "color"), those, strict=True)))

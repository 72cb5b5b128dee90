# SPDX-License-Identifier: GPL-3.0-or-later
"""Draw handlers of the viewport. What they call is loaded at the first redraw of a file with an armature."""

from collections.abc import Callable

import bpy
from bpy.app.handlers import persistent
from bpy.types import SpaceView3D

from . import draw, limb, onion, trail
from .updates import change_listeners

_handles: list[object] = []
_loaded = _trail_loaded = _figures_loaded = False


def _draw() -> None:
    global _loaded
    if len(bpy.data.armatures):
        _loaded = True
        draw.draw()


def _draw_trail() -> None:
    global _trail_loaded
    if bpy.context.scene.ik_triangulation_trail.show:
        _trail_loaded = True
        trail.draw_trail()


def _draw_figures() -> None:
    global _figures_loaded
    if bpy.context.scene.ik_triangulation_ghosts.show:
        _figures_loaded = True
        onion.draw_figures()


def _changed(armature: bpy.types.Object) -> None:
    if _figures_loaded:
        onion.keep_before(armature)


@persistent  # type: ignore[untyped-decorator]
def _undone(*_: object) -> None:
    if _figures_loaded:
        onion.restore_before()


@persistent  # type: ignore[untyped-decorator]
def _replaced(*_: object) -> None:
    if _figures_loaded:
        onion.forget_before()


def _draw_texts() -> None:
    if len(bpy.data.armatures):
        draw.draw_texts()


def _before_replacing() -> list[tuple[list, Callable[..., None]]]:
    handlers = bpy.app.handlers
    return [(handlers.undo_pre, _undone), (handlers.redo_pre, _replaced), (handlers.load_pre, _replaced)]


def register() -> None:
    handlers: list[tuple[Callable[[], None], str]] = [
        (_draw, "POST_VIEW"),
        (_draw_figures, "POST_VIEW"),
        (_draw_trail, "POST_VIEW"),
        (_draw_texts, "POST_PIXEL"),
    ]
    for handler, when in handlers:
        _handles.append(SpaceView3D.draw_handler_add(handler, (), "WINDOW", when))
    for calls, handle in _before_replacing():
        calls.append(handle)
    change_listeners().append(_changed)


def unregister() -> None:
    global _loaded, _trail_loaded, _figures_loaded
    change_listeners().remove(_changed)
    for calls, handle in _before_replacing():
        calls.remove(handle)
    while _handles:
        SpaceView3D.draw_handler_remove(_handles.pop(), "WINDOW")
    if _trail_loaded:
        _trail_loaded = False
        trail.forget_trail()
    if _figures_loaded:
        _figures_loaded = False
        onion.forget_figures()
    if _loaded:
        _loaded = False
        draw.forget_limbs()
        limb.forget_shells()

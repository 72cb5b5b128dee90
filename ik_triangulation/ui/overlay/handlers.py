# SPDX-License-Identifier: GPL-3.0-or-later
"""Draw handlers of the viewport. What they call is loaded at the first redraw of a file with an armature."""

from collections.abc import Callable

import bpy
from bpy.types import SpaceView3D

from . import draw, shells, text, trail

_handles: list[object] = []
_loaded = _trail_loaded = False


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


def _draw_texts() -> None:
    if len(bpy.data.armatures):
        text.draw_texts()


def register() -> None:
    handlers: list[tuple[Callable[[], None], str]] = [
        (_draw, "POST_VIEW"),
        (_draw_trail, "POST_VIEW"),
        (_draw_texts, "POST_PIXEL"),
    ]
    for handler, when in handlers:
        _handles.append(SpaceView3D.draw_handler_add(handler, (), "WINDOW", when))


def unregister() -> None:
    global _loaded, _trail_loaded
    while _handles:
        SpaceView3D.draw_handler_remove(_handles.pop(), "WINDOW")
    if _trail_loaded:
        _trail_loaded = False
        trail.forget_trail()
    if _loaded:
        _loaded = False
        draw.forget_limbs()
        shells.forget_shells()

# SPDX-License-Identifier: GPL-3.0-or-later
"""Redraw of the viewports, and the count of evaluations by which the overlay sees that a picture is out of date.

Count of the times at which Blender has evaluated a scene, by which the overlay sees that a picture is out of date.

Whatever changes a rig, its settings or its target is evaluated before a viewport is drawn; a view that turns is not.
"""

from __future__ import annotations

import bpy
from bpy.app.handlers import persistent

_count = _edits = 0


def redraw() -> None:
    """Tag all 3D viewports for redraw."""
    for window in bpy.context.window_manager.windows:
        for area in window.screen.areas:
            if area.type == "VIEW_3D":
                area.tag_redraw()


def updates() -> int:
    """Return a number that is another one after each evaluation, undo, redo and load."""
    return _count


def edits() -> int:
    """Return a number that is another one after each of these but a change of the frame: animation stays the same."""
    return _edits


@persistent  # type: ignore[untyped-decorator]
def _notice(*_: object) -> None:
    global _count
    _count += 1


@persistent  # type: ignore[untyped-decorator]
def _notice_edit(*_: object) -> None:
    global _edits
    _edits += 1


def _after_edits() -> list[list]:
    handlers = bpy.app.handlers
    return [handlers.depsgraph_update_post, handlers.undo_post, handlers.redo_post, handlers.load_post]


def register() -> None:
    for handlers in _after_edits():
        handlers.append(_notice_edit)
    for handlers in (*_after_edits(), bpy.app.handlers.frame_change_post):
        handlers.append(_notice)


def unregister() -> None:
    for handlers in _after_edits():
        handlers.remove(_notice_edit)
    for handlers in (*_after_edits(), bpy.app.handlers.frame_change_post):
        handlers.remove(_notice)

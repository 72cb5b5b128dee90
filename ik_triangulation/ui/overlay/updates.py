# SPDX-License-Identifier: GPL-3.0-or-later
"""Count of the times at which Blender has evaluated a scene, by which the overlay sees that a picture is out of date.

Whatever changes a rig, its settings or its target is evaluated before a viewport is drawn; a view that turns is not.
"""

from __future__ import annotations

import bpy
from bpy.app.handlers import persistent

_count = 0


def updates() -> int:
    """Return a number that is another one after each evaluation, undo, redo and load."""
    return _count


@persistent  # type: ignore[untyped-decorator]
def _notice(*_: object) -> None:
    global _count
    _count += 1


def _after_changes() -> list[list]:
    handlers = bpy.app.handlers
    undone = handlers.undo_post, handlers.redo_post, handlers.load_post
    return [handlers.depsgraph_update_post, handlers.frame_change_post, *undone]


def register() -> None:
    for handlers in _after_changes():
        handlers.append(_notice)


def unregister() -> None:
    for handlers in _after_changes():
        handlers.remove(_notice)

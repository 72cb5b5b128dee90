# SPDX-License-Identifier: GPL-3.0-or-later
"""Redraw of the viewports, and counts of evaluations by which overlay and panels see that what they keep is outdated.

Whatever changes a rig, its settings or its target is evaluated before a viewport is drawn; a view that turns is not.
"""

from __future__ import annotations

from collections.abc import Callable

import bpy
from bpy.app.handlers import persistent
from bpy.types import Armature, Depsgraph, Object

_count = _edits = _setups = _frames = 0

_listeners: list[Callable[[Object], None]] = []

_MOST = 64  # updates of an evaluation that are looked through; more of them count as a change of the setup


def announce_change(armature: Object) -> None:
    """Call those who want to know that an operator has just changed the animation of an armature."""
    for call in _listeners:
        call(armature)


def change_listeners() -> list[Callable[[Object], None]]:
    """Return the functions that announce_change() calls, to add and to remove one."""
    return _listeners


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


def setups() -> int:
    """Return a number that differs after any edit that may have changed limbs, maps or their settings.

    That is each of these but moving objects and posing bones, after which the answers of searches stay true.
    """
    return _setups


def setup_edits() -> int:
    """Return a number that is another one after each of these but a change of the frame."""
    return _setups - _frames


@persistent  # type: ignore[untyped-decorator]
def _notice(*_: object) -> None:
    global _count
    _count += 1


@persistent  # type: ignore[untyped-decorator]
def _notice_edit(*of: object) -> None:
    global _edits, _setups
    _edits += 1
    depsgraph = of[1] if len(of) > 1 else None
    if not isinstance(depsgraph, Depsgraph) or _is_setup(depsgraph):
        _setups += 1


@persistent  # type: ignore[untyped-decorator]
def _notice_frame(*_: object) -> None:
    global _setups, _frames
    _setups += 1  # settings can be animated
    _frames += 1


def _is_setup(depsgraph: Depsgraph) -> bool:
    """Tell whether an evaluation follows more than moved objects and posed bones.

    Objects that are added, removed or parented, and constraints, have all relations built anew, which evaluates the
    collections. A setting of a limb tags its armature's transform and geometry, posing the latter alone; renaming a
    bone tags the armature's data, but not its geometry.
    """
    if depsgraph.id_type_updated("COLLECTION"):
        return True
    if not depsgraph.id_type_updated("ARMATURE"):
        return False
    updates = depsgraph.updates
    return len(updates) > _MOST or any(
        not each.is_updated_geometry
        if isinstance(each.id, Armature)
        else each.is_updated_transform and isinstance(each.id, Object) and each.id.type == "ARMATURE"
        for each in updates
    )


def _after_edits() -> list[list]:
    handlers = bpy.app.handlers
    return [handlers.depsgraph_update_post, handlers.undo_post, handlers.redo_post, handlers.load_post]


def register() -> None:
    for handlers in _after_edits():
        handlers.append(_notice_edit)
    bpy.app.handlers.frame_change_post.append(_notice_frame)
    for handlers in (*_after_edits(), bpy.app.handlers.frame_change_post):
        handlers.append(_notice)


def unregister() -> None:
    for handlers in _after_edits():
        handlers.remove(_notice_edit)
    bpy.app.handlers.frame_change_post.remove(_notice_frame)
    for handlers in (*_after_edits(), bpy.app.handlers.frame_change_post):
        handlers.remove(_notice)

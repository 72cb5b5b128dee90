# SPDX-License-Identifier: GPL-3.0-or-later
"""Ghosts: translucent bones that preview a pose; removed by undo, redo and when a file is loaded."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple

import bpy
from bpy.app.handlers import persistent
from bpy.types import Context, Object

from . import sketch
from .updates import redraw

if TYPE_CHECKING:
    from ...kinematics.arrays import Array


class Ghost(NamedTuple):
    """Edges (n, 3) and triangles (m, 3) in world space."""

    armature: str  # its name
    edges: Array
    faces: Array


_ghosts: dict[tuple[int, str], Ghost] = {}  # by the armature's session uid and the ghost's name


def show_ghost(armature: Object, points: Sequence[Sequence[float]], name: str = "") -> None:
    """Show a ghost: bones through `points` (world space, from the first bone's head to the tip).

    It is shown while the armature is visible, until clear_ghosts(), undo, redo or loading a file. A ghost of the same
    `name` is replaced; different names show several solutions side by side.
    """
    _ghosts[armature.session_uid, name] = Ghost(armature.name, *sketch.octahedra(points))
    redraw()


def clear_ghosts(armature: Object | None = None) -> None:
    """Remove the ghosts of this armature, or all ghosts."""
    for key in [key for key in _ghosts if armature is None or key[0] == armature.session_uid]:
        del _ghosts[key]
    redraw()


def ghosts(context: Context) -> Iterator[Ghost]:
    """Yield the ghosts of armatures that are visible in the viewport."""
    for (uid, _), ghost in _ghosts.items():
        armature = context.view_layer.objects.get(ghost.armature)
        if armature and armature.session_uid == uid and armature.visible_get(viewport=context.space_data):
            yield ghost


@persistent  # type: ignore[untyped-decorator]
def _forget(*_: object) -> None:
    clear_ghosts()


def _before_replacing() -> list[list]:
    handlers = bpy.app.handlers
    return [handlers.undo_pre, handlers.redo_pre, handlers.load_pre]


def register() -> None:
    for handlers in _before_replacing():
        handlers.append(_forget)


def unregister() -> None:
    for handlers in _before_replacing():
        handlers.remove(_forget)
    clear_ghosts()

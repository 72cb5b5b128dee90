# SPDX-License-Identifier: GPL-3.0-or-later
"""Poses that are shown before they are applied: translucent bones, gone with undo and with another file."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import bpy
from bpy.app.handlers import persistent
from bpy.types import Context, Object

from .redraw import redraw
from .shapes import Array, octahedra


class Ghost(NamedTuple):
    """Ends of edges (n, 3) and triangles (m, 3), world space, in a colour or that of the theme."""

    armature: str  # its name
    edges: Array
    faces: Array
    colour: tuple[float, float, float] | None


_ghosts: dict[tuple[int, str], Ghost] = {}  # by the armature's session uid and what each is called


def show_ghost(
    armature: Object,
    points: Sequence[Sequence[float]],
    colour: tuple[float, float, float] | None = None,
    name: str = "",
) -> None:
    """Show bones through `points` (world space, from the first bone's head to the tip), as long as the armature is.

    It stays until clear_ghosts(), until undo or redo, and as long as the file is open. One of the same `name` is
    replaced, so that several solutions can be shown side by side, each in its `colour` (red, green, blue, each 0..1;
    None for that of posed bones in the theme).
    """
    _ghosts[armature.session_uid, name] = Ghost(armature.name, *octahedra(points), colour and tuple(colour)[:3])
    redraw()


def clear_ghosts(armature: Object | None = None) -> None:
    """Show no ghosts of this armature any more, or none at all."""
    for key in [key for key in _ghosts if armature is None or key[0] == armature.session_uid]:
        del _ghosts[key]
    redraw()


def ghosts(context: Context) -> Iterator[Ghost]:
    """The ghosts of the armatures that can be seen in the viewport."""
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

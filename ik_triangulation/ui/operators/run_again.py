# SPDX-License-Identifier: GPL-3.0-or-later
"""Run an operator again in the window when a change in Adjust Last Operation takes long: with progress and Esc.

Blender calls execute() for every change of a field, also while it is dragged, and hears no key until that returns. A
job that is too slow for this cancels, on which Blender restores what the operator had made before. As soon as the field
is let go, this is undone and the operator is invoked with the changed values, which gives what a first run with these
values gives. Esc restores the result before the change.

An undo removes the last operator, which the popup of F9 still refers to. There the operator is run by Blender's own
repetition instead, to its end.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import AbstractContextManager
from typing import Any, NamedTuple

import bpy
from bpy.types import Context, Event, Operator

_LOOK = 0.05  # seconds from one look at the mouse to the next


class _Change(NamedTuple):
    """The operator to run again, the properties to give to it, and where it was changed."""

    idname: str
    properties: Mapping[str, Any]
    in_popup: bool
    window: int
    area: int

    def place(self) -> AbstractContextManager[None]:
        """Return the context of the window and the area, which are the same after an undo."""
        windows = bpy.context.window_manager.windows
        window = next((each for each in windows if each.as_pointer() == self.window), windows[0])
        areas = window.screen.areas
        area = next((each for each in areas if each.as_pointer() == self.area), areas[0])
        region = next((each for each in area.regions if each.type == "WINDOW"), None)
        return bpy.context.temp_override(window=window, area=area, region=region)


_changes: list[_Change] = []  # the one that waits, and then the one that runs
_to_the_end: list[_Change] = []  # the one that Blender repeats now


class WM_OT_ik_triangulation_is_held(Operator):
    """Returns FINISHED if the left mouse button is held down, which only an event knows."""

    bl_idname = "wm.ik_triangulation_is_held"
    bl_label = "Mouse Is Held"
    bl_description = "Tell whether the left mouse button is held down"
    bl_options = {"INTERNAL"}

    def invoke(self, context: Context, event: Event) -> set[str]:
        held = event.type == "LEFTMOUSE" and event.value == "PRESS"
        return {"FINISHED"} if held else {"CANCELLED"}


def run_again_later(operator: Operator, context: Context, properties: Mapping[str, Any]) -> None:
    """Run the operator with these properties when no field is held."""
    popup, area = context.region_popup is not None, context.area.as_pointer() if context.area else 0
    _changes[:] = [_Change(type(operator).bl_idname, properties, popup, context.window.as_pointer(), area)]
    if not bpy.app.timers.is_registered(_run_if_let_go):
        bpy.app.timers.register(_run_if_let_go, first_interval=_LOOK)


def runs_to_its_end() -> bool:
    """Tell whether execute() is called by _run_if_let_go(), and has all the time that it needs."""
    return bool(_to_the_end)


def restore_later() -> None:
    """Restore the result before the change, as the operator that was run again has been cancelled."""
    if not bpy.app.timers.is_registered(_restore):
        bpy.app.timers.register(_restore)


def _run_if_let_go() -> float | None:
    change = _changes[0]
    with change.place():
        if bpy.ops.wm.ik_triangulation_is_held("INVOKE_DEFAULT") == {"FINISHED"}:
            return _LOOK
        if change.in_popup:
            _to_the_end.append(change)
            try:
                bpy.ops.ed.undo_redo()
            finally:
                _to_the_end.clear()
            return None
        bpy.ops.ed.undo()
    begun, (group, name) = False, change.idname.split(".")
    with change.place():
        try:
            options = {**change.properties, "is_adjusted": True}
            begun = getattr(getattr(bpy.ops, group), name)("INVOKE_DEFAULT", True, **options) != {"CANCELLED"}
        finally:
            if not begun:
                restore_later()
    return None


def _restore() -> None:
    if _changes:
        with _changes.pop().place():
            bpy.ops.ed.redo()


register, unregister = bpy.utils.register_classes_factory((WM_OT_ik_triangulation_is_held,))

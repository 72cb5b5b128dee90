# SPDX-License-Identifier: GPL-3.0-or-later
"""Whether the panel of the joints is unfolded, which Blender tells nobody.

Each time it draws a sidebar it asks the panels whether they are to be there, and then draws those that are unfolded.
"""

import bpy
from bpy.types import Context

from .overlay.updates import redraw

_unfolded: set[int] = set()  # areas, by their addresses
_told: set[int] = set()  # those of them at the last redraw of the viewports


def ask(context: Context) -> None:
    """Count the panel as folded in a sidebar that Blender begins to draw."""
    if _in_sidebar(context):
        area = context.area.as_pointer()
        if area in _unfolded:
            _unfolded.remove(area)
            _compare_soon()


def tell_drawn(context: Context) -> None:
    """Count the panel as unfolded in the sidebar that draws it."""
    if _in_sidebar(context):
        _unfolded.add(context.area.as_pointer())
        _compare_soon()


def is_unfolded(context: Context) -> bool:
    """Tell whether the sidebar beside the viewport of the context is open and shows the panel."""
    return context.space_data.show_region_ui and context.area.as_pointer() in _unfolded


def _in_sidebar(context: Context) -> bool:
    return context.region is not None and context.region.type == "UI" and context.area is not None


def _compare_soon() -> None:
    if not bpy.app.timers.is_registered(_compare):
        bpy.app.timers.register(_compare)


def _compare() -> None:
    """Have the viewports drawn anew once the panel has been folded or unfolded."""
    if _unfolded != _told:
        _told.clear()
        _told.update(_unfolded)
        redraw()

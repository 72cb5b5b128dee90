# SPDX-License-Identifier: GPL-3.0-or-later
"""Having viewports drawn again."""

import bpy


def redraw() -> None:
    """Have all viewports drawn again."""
    for window in bpy.context.window_manager.windows:
        for area in window.screen.areas:
            if area.type == "VIEW_3D":
                area.tag_redraw()

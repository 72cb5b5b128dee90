# SPDX-License-Identifier: GPL-3.0-or-later
"""Redraw of the viewports."""

import bpy


def redraw() -> None:
    """Tag all 3D viewports for redraw."""
    for window in bpy.context.window_manager.windows:
        for area in window.screen.areas:
            if area.type == "VIEW_3D":
                area.tag_redraw()

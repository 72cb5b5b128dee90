# SPDX-License-Identifier: GPL-3.0-or-later
"""Lines along the axes that a drag keeps to, as Blender draws them, in the viewports until hidden."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import bpy
import gpu
from bpy.types import SpaceView3D
from gpu_extras.batch import batch_for_shader
from mathutils import Vector

_LONG = 1000.0  # half the length of a line, in distances from the world's origin or units, whatever is more
_ALPHA = 0.6

GuideLine = tuple[int, Vector]  # number of an axis, for its colour, and its direction in world space


class Guides:
    """Lines through a point; shown from the first show() to hide()."""

    def __init__(self) -> None:
        self._handle: Any = None
        self._pivot = Vector()
        self._lines: tuple[GuideLine, ...] = ()

    def show(self, pivot: Vector, lines: Sequence[GuideLine]) -> None:
        """Draw these lines through `pivot` from the next redraw on."""
        self._pivot, self._lines = pivot, tuple(lines)
        if self._handle is None:
            self._handle = SpaceView3D.draw_handler_add(self._draw, (), "WINDOW", "POST_VIEW")

    def hide(self) -> None:
        """Draw nothing any more."""
        if self._handle is not None:
            SpaceView3D.draw_handler_remove(self._handle, "WINDOW")
            self._handle = None

    def _draw(self) -> None:
        theme = bpy.context.preferences.themes[0].user_interface
        half = _LONG * max(1.0, self._pivot.length)
        shader = gpu.shader.from_builtin("UNIFORM_COLOR")
        gpu.state.blend_set("ALPHA")
        try:
            for number, direction in self._lines:
                ends = [(self._pivot + side * direction)[:] for side in (-half, half)]
                shader.uniform_float("color", (*(theme.axis_x, theme.axis_y, theme.axis_z)[number], _ALPHA))
                batch_for_shader(shader, "LINES", {"pos": ends}).draw(shader)
        finally:
            gpu.state.blend_set("NONE")

# SPDX-License-Identifier: GPL-3.0-or-later
"""Draw handler of the texts: with an outline, so that they can be read before anything."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import blf
import bpy
import gpu
from bpy.types import Context
from gpu_extras.batch import batch_for_shader

from ..gizmos.target import gizmo_box
from ..panels.layout import is_unfolded
from .draw import body_in_view, limbs_in_view
from .labels import Rectangle, Row, Screen, place_beside, place_distance, place_joint
from .sketch import Palette, Role, plain_text

_FONT = 0
_LINE = 1.45  # height of a line [font size]
_SPACE = 0.5  # between a sign and its text [font size]
_OUTLINED = 6  # BLF's number for an outline around the letters
_OUTLINE = 0.85  # its opacity
_STROKE, _AROUND = 2.0, 4.5  # width of a drawn sign, and with its outline [pixels at 1x interface scale]
# Drawn signs in a square of side 1, as strokes
_SIGNS = {
    "reached": (((0.05, 0.5), (0.38, 0.15)), ((0.38, 0.15), (0.95, 0.9))),
    "missed": (((0.12, 0.12), (0.88, 0.88)), ((0.12, 0.88), (0.88, 0.12))),
}
_GREY = 0.45  # share of the outline in a text that is grey
_COVERING = {"UI", "TOOLS", "HEADER", "TOOL_HEADER"}  # regions that may be over the viewport
_SIGN = 0.75  # side of that square [font size]


class TextBlock(NamedTuple):
    """Rows of text, the box that they fill, and the palette of their signs."""

    rows: list[Row]
    box: Rectangle
    colours: Palette


def draw_texts() -> None:
    """Draw the texts of the limbs that the viewport of the current context shows."""
    context = bpy.context
    if not context.space_data.overlay.show_overlays:
        return
    size, theme = _font_size(context), context.preferences.themes[0]
    text, outline = plain_text(theme)
    gpu.state.blend_set("ALPHA")
    blf.size(_FONT, size)
    blf.enable(_FONT, blf.SHADOW)
    red, green, blue = outline
    blf.shadow(_FONT, _OUTLINED, red, green, blue, _OUTLINE)
    blf.shadow_offset(_FONT, 0, 0)
    try:
        for block in texts(context):
            _draw_block(block, size, text, (*outline, _OUTLINE))
    finally:
        blf.disable(_FONT, blf.SHADOW)
        gpu.state.blend_set("NONE")


def texts(context: Context) -> Iterator[TextBlock]:
    """Yield the texts that are shown in the viewport with their places; draw() has read what they tell just before."""
    settings = context.scene.ik_triangulation_overlay
    if not settings.show:
        return
    size, region, scale = _font_size(context), context.region, context.preferences.system.ui_scale
    blf.size(_FONT, size)
    free, gizmo = open_part(context), gizmo_box(context)
    taken: list[Rectangle] = []
    for kept in limbs_in_view(context):
        matrix = context.region_data.perspective_matrix @ kept.seen.world
        screen = Screen(kept.anchors, matrix, (region.width, region.height), scale)
        if not screen.seen:
            continue
        screen.open, screen.gizmo = free, gizmo
        if settings.show_error and kept.distance:
            taken.append(place_distance(screen, _size_of(kept.distance, size)))
            yield TextBlock(kept.distance, taken[-1], kept.colours)
        if settings.show_joints and kept.angles and is_unfolded(context):
            taken.append(place_joint(screen, _size_of(kept.angles, size), taken))
            yield TextBlock(kept.angles, taken[-1], kept.colours)
    body = body_in_view(context)
    for note in body.notes if body else ():
        matrix = context.region_data.perspective_matrix @ body.seen.world
        screen = Screen(note.anchors, matrix, (region.width, region.height), scale)
        if screen.seen:
            screen.open, screen.gizmo = free, gizmo
            taken.append(place_beside(screen, _size_of([note.row], size), taken))
            yield TextBlock([note.row], taken[-1], body.colours)


def open_part(context: Context) -> Rectangle:
    """Return the part of the viewport that neither sidebar, toolbar nor header covers [pixels]."""
    view = context.region
    left, bottom, right, top = 0.0, 0.0, float(view.width), float(view.height)
    for region in context.area.regions:
        if region.type not in _COVERING or region.width <= 1 or region.height <= 1:
            continue
        x, y = region.x - view.x, region.y - view.y
        if region.alignment == "LEFT":
            left = max(left, float(x + region.width))
        elif region.alignment == "RIGHT":
            right = min(right, float(x))
        elif region.alignment == "TOP":
            top = min(top, float(y))
        elif region.alignment == "BOTTOM":
            bottom = max(bottom, float(y + region.height))
    return left, bottom, right, top


def _font_size(context: Context) -> float:
    """Return the size of the interface's text [pixels]."""
    preferences = context.preferences
    return float(preferences.ui_styles[0].widget.points * preferences.system.ui_scale)


def _size_of(rows: list[Row], size: float) -> tuple[float, float]:
    """Return width and height of some rows in a font of this size."""
    wide = max(blf.dimensions(_FONT, row.text)[0] for row in rows)
    return _sign_width(rows, size) + wide, _LINE * size * len(rows)


def _sign_width(rows: list[Row], size: float) -> float:
    """Return the width of the signs before the texts, with the space after them."""
    widths = [_SIGN * size if row.sign in _SIGNS else blf.dimensions(_FONT, row.sign)[0] for row in rows]
    return max(widths) + _SPACE * size if any(row.sign for row in rows) else 0.0


def _draw_block(block: TextBlock, size: float, text: tuple, outline: tuple) -> None:
    left, _, _, top = block.box
    start = left + _sign_width(block.rows, size)
    for number, row in enumerate(block.rows):
        y = top - (number + 1) * _LINE * size + (_LINE - 0.7) * size / 2.0
        colour = tuple(float(part) for part in block.colours.outlines[row.role][:3])
        if row.sign in _SIGNS:
            _draw_sign(row.sign, left, y, _SIGN * size, colour, outline)
        elif row.sign:
            _write(row.sign, left, y, colour)
        _write(row.text, start, y, _greyed(text, outline) if row.role == Role.WAITING else text)


def _greyed(text: tuple, outline: tuple) -> tuple:
    """Return a colour (RGB) between that of a text and that of its outline, nearer to the text."""
    return tuple(own + _GREY * (other - own) for own, other in zip(text, outline[:3], strict=True))


def _write(text: str, x: float, y: float, colour: tuple) -> None:
    red, green, blue = colour
    blf.color(_FONT, red, green, blue, 1.0)
    blf.position(_FONT, round(x), round(y), 0.0)
    blf.draw(_FONT, text)


def _draw_sign(sign: str, x: float, y: float, side: float, colour: tuple, outline: tuple) -> None:
    """Draw a tick or a cross, with an outline."""
    places = [(x + a * side, y + b * side) for stroke in _SIGNS[sign] for a, b in stroke]
    shader = gpu.shader.from_builtin("POLYLINE_UNIFORM_COLOR")
    batch: Any = batch_for_shader(shader, "LINES", {"pos": [(*place, 0.0) for place in places]})
    scale = bpy.context.preferences.system.pixel_size
    shader.bind()
    shader.uniform_float("viewportSize", gpu.state.viewport_get()[2:])
    for width, painted in ((_AROUND, outline), (_STROKE, (*colour, 1.0))):
        shader.uniform_float("lineWidth", width * scale)
        shader.uniform_float("color", painted)
        batch.draw(shader)

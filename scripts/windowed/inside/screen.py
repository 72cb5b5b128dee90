# SPDX-License-Identifier: GPL-3.0-or-later
"""The parts of the window, and pictures of it."""

import struct
import subprocess
import zlib
from collections.abc import Generator
from pathlib import Path

import bpy
import numpy as np
from bpy.types import Area, Region, Window
from bpy_extras.view3d_utils import location_3d_to_region_2d

from .display import shown

Steps = Generator[float, None, None]

output = Path()  # where pictures go; play.py sets it


def window() -> Window:
    return bpy.context.window_manager.windows[0]


def viewport() -> Area:
    """The largest 3D Viewport."""
    return max((area for area in window().screen.areas if area.type == "VIEW_3D"), key=lambda a: a.width * a.height)


def region(kind: str = "WINDOW") -> Region:
    """A region of the 3D Viewport; "UI" is its sidebar."""
    return next(region for region in viewport().regions if region.type == kind)


def seen_at(place) -> tuple[float, float]:
    """The pixel of the window at which the 3D Viewport shows a place of the world."""
    view = region()
    at = location_3d_to_region_2d(view, viewport().spaces.active.region_3d, place)
    return view.x + at.x, view.y + at.y


def in_viewport():
    """A context for operators: the 3D Viewport of the window."""
    return bpy.context.temp_override(window=window(), area=viewport(), region=region())


def pixels(of: Region) -> np.ndarray:
    """Return the displayed pixels of a region: rows from the top, columns, RGB."""
    return shown(of.x, window().height - of.y - of.height, of.width, of.height)


def picture(name: str, *options: str, of: Region | None = None) -> Path:
    """Write what the display shows, or a region of it, as name.png; `options` are ImageMagick's."""
    file = output / f"{name}.png"
    file.parent.mkdir(exist_ok=True)
    colours = pixels(of) if of else shown(0, 0, window().width, window().height)
    height, width, _ = colours.shape
    if options:
        read = ["magick", "-size", f"{width}x{height}", "-depth", "8", "rgb:-"]
        subprocess.run([*read, *options, "-strip", "-depth", "8", str(file)], input=colours.tobytes(), check=True)
    else:
        file.write_bytes(png(colours))
    return file


def png(colours: np.ndarray) -> bytes:
    """Return rows of RGB as a PNG file, packed for speed."""
    height, width, _ = colours.shape
    rows = np.zeros((height, 1 + 3 * width), np.uint8)  # each begins with how it is filtered: it is not
    rows[:, 1:] = colours.reshape(height, -1)
    head = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    file = b"\x89PNG\r\n\x1a\n"
    for kind, data in ((b"IHDR", head), (b"IDAT", zlib.compress(rows, 1)), (b"IEND", b"")):
        file += struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
    return file


def sidebar(tab: str = "IK") -> Steps:
    """Show a tab of the sidebar."""
    viewport().spaces.active.show_region_ui = True
    yield 0.5  # the tabs are there only once it has been drawn
    region("UI").active_panel_category = tab
    viewport().tag_redraw()
    yield 0.5

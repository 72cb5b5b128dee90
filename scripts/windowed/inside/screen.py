# SPDX-License-Identifier: GPL-3.0-or-later
"""The parts of the window, and pictures of it."""

import subprocess
from collections.abc import Generator
from pathlib import Path

import bpy
import numpy as np
from bpy.types import Area, Region, Window

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


def in_viewport():
    """A context for operators: the 3D Viewport of the window."""
    return bpy.context.temp_override(window=window(), area=viewport(), region=region())


def pixels(of: Region) -> np.ndarray:
    """Return the displayed pixels of a region: rows from the top, columns, RGB."""
    grab = ["import", "-window", "root", "-crop", _crop(of), "+repage", "-depth", "8", "rgb:-"]
    raw = subprocess.run(grab, check=True, capture_output=True).stdout
    return np.frombuffer(raw, np.uint8).reshape(of.height, of.width, 3)


def picture(name: str, *options: str, of: Region | None = None) -> Path:
    """Write what the display shows, or a region of it, as name.png; `options` are ImageMagick's."""
    file = output / f"{name}.png"
    file.parent.mkdir(exist_ok=True)
    crop = ["-crop", _crop(of), "+repage"] if of else []
    shown = subprocess.run(["import", "-window", "root", "miff:-"], check=True, capture_output=True).stdout
    subprocess.run(["magick", "miff:-", *crop, *options, "-strip", "-depth", "8", str(file)], input=shown, check=True)
    return file


def sidebar(tab: str = "Animation") -> Steps:
    """Show a tab of the sidebar."""
    viewport().spaces.active.show_region_ui = True
    yield 0.5  # the tabs are there only once it has been drawn
    region("UI").active_panel_category = tab
    viewport().tag_redraw()
    yield 0.5


def _crop(of: Region) -> str:
    return f"{of.width}x{of.height}+{of.x}+{window().height - of.y - of.height}"

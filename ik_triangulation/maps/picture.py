# SPDX-License-Identifier: GPL-3.0-or-later
"""Pictures of maps: colour scales from a share in 0..1 to sRGB, the legend, and images in Blender and as PNG files.

Sources: the hue scale is that of Cardwell and Mukundan's metric maps. The others interpolate a few colours linearly in
Ottosson's OKLab (2020, "A perceptual color space for image processing"), with perceptually uniform steps; their
lightness increases throughout, so that they can be read in greyscale as well.

Arrays of colours are bytes of shape (height, width, 4): red, green, blue and alpha, top row first.
"""

from collections.abc import Callable
from functools import partial
from math import pi
from pathlib import Path
from typing import Any

import bpy
import numpy as np
from bpy.types import Image
from numpy.typing import NDArray

from ..kinematics.arrays import Mask, Numbers
from ..rig.safe_files import write_file
from .properties import LABELS

_VIOLET_TO_YELLOW = np.array([(0.27, 0.12, 0.47), (0.14, 0.44, 0.60), (0.30, 0.70, 0.42), (0.98, 0.92, 0.30)])
_PLUM_TO_CREAM = np.array([(0.25, 0.14, 0.38), (0.66, 0.20, 0.38), (0.94, 0.52, 0.22), (0.99, 0.95, 0.72)])

# Linear sRGB to cone responses, and their cube roots to OKLab.
_CONES = np.array(
    [
        [0.4122214708, 0.5363325363, 0.0514459929],
        [0.2119034982, 0.6806995451, 0.1073969566],
        [0.0883024619, 0.2817188376, 0.6299787005],
    ]
)
_OKLAB = np.array(
    [
        [0.2104542553, 0.7936177850, -0.0040720468],
        [1.9779984951, -2.4285922050, 0.4505937099],
        [0.0259040371, 0.7827717662, -0.8086757660],
    ]
)

_UNITS = {"error": (100.0, "%"), "travel": (100.0, "%"), "total_angle": (180.0 / pi, "°")}  # of the reach, degrees
_NAMES = {"HUE": ("blue", "red"), "VIOLET_YELLOW": ("violet", "yellow"), "PLUM_CREAM": ("plum", "cream")}
# Glyphs of five rows of three dots, top row first, one bit for each dot.
_DOTS = {
    **dict(zip("0123456789", (31599, 11415, 29671, 29647, 23497, 31183, 31215, 29330, 31727, 31695), strict=True)),
    ".": 2,
    "-": 0o00700,
    "e": 0o75747,
    "%": 21157,
    "°": 10880,
}
_SHARE = 8  # height of the picture divided by that of the strip
_TIGHT = 60  # width of the picture in pixels divided by the scale of the digits

_LONGEST = 63  # bytes of a name
_LIGHT = 0.4  # lightness from which lines are black; blue, the darkest of the hues, has 0.45


def hue(shares: Numbers) -> Numbers:
    """Return blue for 0, then cyan, green, yellow, and red for 1; shape (*shares.shape, 3)."""
    sixths = 4.0 * (1.0 - shares[..., None]) + np.array([0.0, 4.0, 2.0])
    colours: Numbers = np.clip(abs(sixths % 6.0 - 3.0) - 1.0, 0.0, 1.0)
    return colours


def uniform(colours: Numbers, shares: Numbers) -> Numbers:
    """Interpolate `colours` (sRGB) so that equal steps of `shares` look equally large."""
    corners = oklab(colours)
    lengths = np.linalg.norm(np.diff(corners, axis=0), axis=1)
    at = np.cumsum((0.0, *lengths)) / lengths.sum()
    return srgb(np.stack([np.interp(shares, at, corner) for corner in corners.T], axis=-1))


SCALES: dict[str, Callable[[Numbers], Numbers]] = {
    "HUE": hue,
    "VIOLET_YELLOW": partial(uniform, _VIOLET_TO_YELLOW),
    "PLUM_CREAM": partial(uniform, _PLUM_TO_CREAM),
}


def contour_lines(values: Numbers, shown: Mask, least: float, most: float, count: int) -> Mask:
    """Return a mask of the pixels at which `values` pass one of `count` levels, evenly between `least` and `most`.

    A line has the width of a pixel: the one before the level, to the right and downwards. There is none at the border
    of what is `shown`.
    """
    lines = np.zeros(values.shape, bool)
    if count < 1 or not most > least:
        return lines
    bands = np.clip(np.floor((values - least) / (most - least) * (count + 1)), 0, count)
    lines[:, :-1] |= (bands[:, :-1] != bands[:, 1:]) & shown[:, :-1] & shown[:, 1:]
    lines[:-1] |= (bands[:-1] != bands[1:]) & shown[:-1] & shown[1:]
    return lines


def lined(colours: Numbers, lines: Mask) -> Numbers:
    """Return colours (sRGB) with lines: black ones where it is light, white ones where it is dark."""
    light = oklab(colours)[..., :1] > _LIGHT
    return np.where(lines[..., None], np.where(light, 0.0, 1.0), colours)


def oklab(colours: Numbers) -> Numbers:
    """Convert sRGB to OKLab: lightness and two opponent coordinates; the last axis has three entries."""
    linear = np.where(colours <= 0.04045, colours / 12.92, ((colours + 0.055) / 1.055) ** 2.4)
    lab: Numbers = np.cbrt(linear @ _CONES.T) @ _OKLAB.T
    return lab


def srgb(lab: Numbers) -> Numbers:
    """Convert OKLab to sRGB, each channel clamped to 0..1."""
    cones = lab @ np.linalg.inv(_OKLAB).T
    linear = np.clip(cones**3 @ np.linalg.inv(_CONES).T, 0.0, 1.0)
    colours: Numbers = np.where(linear <= 0.0031308, 12.92 * linear, 1.055 * linear ** (1.0 / 2.4) - 0.055)
    return colours


def labels(metric: str, least: float, greatest: float) -> tuple[str, str]:
    """Return the values at both ends as text: lengths in percent of the reach, angles in degrees."""
    factor, unit = _UNITS.get(metric, (1.0, ""))
    values = least * factor, greatest * factor
    low, high = (f"{value:.{0 if value >= 100.0 else 3}{'f' if value >= 100.0 else 'g'}}{unit}" for value in values)
    return low, high


def in_words(metric: str, scale: str, least: float, greatest: float) -> str:
    """Return the legend as text: the values and colours at both ends of the scale."""
    low, high = (
        f"{label} ({name})" for label, name in zip(labels(metric, least, greatest), _NAMES[scale], strict=True)
    )
    return f"{LABELS[metric]}: {low}" + (f" to {high}" if greatest > least else "")


def with_strip(picture: NDArray[np.uint8], metric: str, scale: str, least: float, greatest: float) -> NDArray[np.uint8]:
    """Append the colour scale with the values at its ends to a picture (rows, columns, 4), top row first."""
    rows, columns, _ = picture.shape
    height = max(rows // _SHARE, 7)
    strip = np.full((height, columns, 4), 255, np.uint8)
    strip[..., :3] = np.rint(255.0 * SCALES[scale](np.linspace(0.0, 1.0, columns)))
    size = max(1, min(columns // _TIGHT, height // 7))
    for label, at_end in zip(labels(metric, least, greatest), (False, True), strict=True):
        dots = np.kron(_dots(label), np.ones((size, size), bool))
        top, room = (height - dots.shape[0]) // 2, columns - dots.shape[1]
        if room < 2 * size:
            continue
        left = room - size if at_end else size
        part = strip[top : top + dots.shape[0], left : left + dots.shape[1]]
        light = part[..., :3].mean() < 128.0
        part[dots] = (255, 255, 255, 255) if light else (0, 0, 0, 255)
    joined: NDArray[np.uint8] = np.concatenate((picture, strip))
    return joined


def _dots(text: str) -> NDArray[Any]:
    """Render text as a boolean array of dots, with one empty column between glyphs."""
    signs = [[[_DOTS[sign] >> 14 - 3 * row - column & 1 for column in range(3)] for row in range(5)] for sign in text]
    spaced = np.pad(np.array(signs, bool), ((0, 0), (0, 0), (0, 1)))
    return np.concatenate(list(spaced), axis=1)[:, :-1]


def show_image(name: str, colours: NDArray[Any]) -> Image:
    """Return an image of this name with these colours.

    An existing image of the name is reused, unless it was read from a file.
    """
    height, width, _ = colours.shape
    short = name.encode()[:_LONGEST].decode(errors="ignore")  # as Blender 4.5 cuts it
    image = bpy.data.images.get((name, None)) or bpy.data.images.get((short, None))
    if image is None or image.filepath or image.source not in {"GENERATED", "FILE"}:
        image = bpy.data.images.new(name, width, height, alpha=True)
    elif tuple(image.size) != (width, height):
        image.scale(width, height)
    _fill(image, colours)
    return image


def write_png(path: Path | str, colours: NDArray[np.uint8]) -> None:
    """Write colours to a PNG file, byte for byte. Raises OSError.

    Blender encodes the file in memory: where it saves to a full disk itself, it reports no error.
    """
    height, width, _ = colours.shape
    image = bpy.data.images.new("PNG", width, height, alpha=True)
    try:
        _fill(image, colours)
        content = bytes(image.packed_file.data)
    finally:
        bpy.data.images.remove(image)
    write_file(path, content)


def _fill(image: Image, colours: NDArray[Any]) -> None:
    """Set the pixels of an image and pack it as PNG into the .blend file."""
    image.pixels.foreach_set((colours[::-1] / 255.0).astype(np.float32).ravel())  # Blender has the bottom row first
    image.pack()

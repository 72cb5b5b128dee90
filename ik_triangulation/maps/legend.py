# SPDX-License-Identifier: GPL-3.0-or-later
"""Legend of a map: as text, and as a strip of its colours below the picture."""

from math import pi
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .colours import SCALES

LABELS = {
    "iterations": "Steps",
    "error": "Distance",
    "total_angle": "Total Angle",
    "travel": "Travel",
    "turns": "Turns",
    "reached": "Reached",
}
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

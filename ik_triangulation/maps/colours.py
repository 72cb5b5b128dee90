# SPDX-License-Identifier: GPL-3.0-or-later
"""Colour scales: from a share in 0..1 to sRGB.

Sources: the hue scale is that of Cardwell and Mukundan's metric maps. The others interpolate a few colours linearly in
Ottosson's OKLab (2020, "A perceptual color space for image processing"), with perceptually uniform steps; their
lightness increases throughout, so that they can be read in greyscale as well.
"""

from collections.abc import Callable
from functools import partial

import numpy as np

from ..kinematics.arrays import Numbers

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

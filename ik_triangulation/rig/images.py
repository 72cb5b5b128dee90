# SPDX-License-Identifier: GPL-3.0-or-later
"""Images in Blender made of arrays of colours."""

from typing import Any

import bpy
import numpy as np
from bpy.types import Image

_LONGEST = 63  # bytes of a name


def show_image(name: str, colours: np.ndarray[Any, Any]) -> Image:
    """Return an image with these colours: bytes of shape (height, width, 4), the top row first.

    It replaces an image of that name, unless that was read from a file.
    """
    height, width, _ = colours.shape
    short = name.encode()[:_LONGEST].decode(errors="ignore")  # as Blender 4.5 cuts it
    image = bpy.data.images.get((name, None)) or bpy.data.images.get((short, None))
    if image is None or image.filepath or image.source not in {"GENERATED", "FILE"}:
        image = bpy.data.images.new(name, width, height, alpha=True)
    elif tuple(image.size) != (width, height):
        image.scale(width, height)
    image.pixels.foreach_set((colours[::-1] / 255.0).astype(np.float32).ravel())  # Blender has the bottom row first
    image.pack()
    return image

# SPDX-License-Identifier: GPL-3.0-or-later
"""Arrays of colours as images in Blender, and as PNG files.

Arrays are bytes of shape (height, width, 4): red, green, blue and alpha, top row first.
"""

from pathlib import Path
from typing import Any

import bpy
import numpy as np
from bpy.types import Image
from numpy.typing import NDArray

from ..rig.safe_files import write_file

_LONGEST = 63  # bytes of a name


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

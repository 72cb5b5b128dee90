# SPDX-License-Identifier: GPL-3.0-or-later
"""Write PNG files without Blender, so that maps can be saved wherever they can be computed.

Source: W3C, "Portable Network Graphics (PNG) Specification (Third Edition)", sections 5, 7 and 11.
"""

import struct
import zlib
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from ..rig.safe_files import write_file

_RGB, _RGBA = 2, 6  # colour types


def write_png(path: Path | str, pixels: NDArray[np.uint8]) -> None:
    """Write bytes of shape (rows, columns, 3 or 4), red green blue and opacity, top row first. Raises OSError."""
    rows, columns, channels = pixels.shape
    kind = {3: _RGB, 4: _RGBA}[channels]
    unfiltered = np.pad(pixels.reshape(rows, -1), ((0, 0), (1, 0)))  # each row begins with its filter, 0 for none
    header = struct.pack(">IIBBBBB", columns, rows, 8, kind, 0, 0, 0)
    chunks = (b"IHDR", header), (b"IDAT", zlib.compress(unfiltered.tobytes(), 9)), (b"IEND", b"")
    write_file(path, b"\x89PNG\r\n\x1a\n" + b"".join(_chunk(*chunk) for chunk in chunks))


def _chunk(name: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))

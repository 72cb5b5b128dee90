# SPDX-License-Identifier: GPL-3.0-or-later
"""Check that a .blend file was written completely.

Blender reports success even if the disk was full. A file is a header and blocks with their lengths, the last of them
ENDB; a compressed file is a sequence of Zstandard frames followed by a table of their sizes.
Source: Blender, doc/blender_file_format; the Zstandard seekable format, version 0.1.0.
"""

from __future__ import annotations

import os
import struct
from pathlib import Path
from typing import BinaryIO

_FRAME, _TABLE, _TABLE_END = b"\x28\xb5\x2f\xfd", b"\x5e\x2a\x4d\x18", b"\xb1\xea\x92\x8f"
_FOOTER = struct.Struct("<IB4s")  # number of frames, flags, magic number
_BLOCK = struct.Struct("<4si16x")  # up to Blender 4.5: code, length
_LARGE_BLOCK = struct.Struct("<4s4x8xq8x")  # from Blender 5.0 on


def is_whole(path: Path) -> bool:
    """Return True if all blocks of a .blend file are there, and nothing after them. Raises OSError."""
    with path.open("rb") as file:
        size = os.fstat(file.fileno()).st_size
        try:
            return _frames_end(file, size) if file.read(4) == _FRAME else _blocks_end(file, size)
        except struct.error:  # the file ends within a block
            return False


def _blocks_end(file: BinaryIO, size: int) -> bool:
    file.seek(0)
    header = file.read(9)
    if header[:7] != b"BLENDER":
        return False
    large = header[7:9].isdigit()
    block = _LARGE_BLOCK if large else _BLOCK
    at = int(header[7:9]) if large else 12
    while True:
        file.seek(at)
        code, length = block.unpack(file.read(block.size))
        at += block.size + length
        if code == b"ENDB":
            return at == size
        if length < 0 or not code[:2].isalnum():
            return False


def _frames_end(file: BinaryIO, size: int) -> bool:
    file.seek(max(0, size - _FOOTER.size))
    count, flags, mark = _FOOTER.unpack(file.read(_FOOTER.size))
    entry = 12 if flags & 0x80 else 8
    start = size - _FOOTER.size - count * entry - 8
    if mark != _TABLE_END or start < 0:
        return False
    file.seek(start)
    table = file.read(8 + count * entry)
    at = 0
    for number in range(count):
        file.seek(at)
        if file.read(4) != _FRAME:
            return False
        at += struct.unpack_from("<I", table, 8 + number * entry)[0]
    return at == start and table[:4] == _TABLE

# SPDX-License-Identifier: GPL-3.0-or-later
"""Open and save .blend files, and detect those that are incomplete, newer, or changed by another program.

Check that a .blend file was written completely. Blender reports success even if the disk was full. A file is a header
and blocks with their lengths, the last of them ENDB; a compressed file is a sequence of Zstandard frames followed by a
table of their sizes. Source: Blender, doc/blender_file_format; the Zstandard seekable format, version 0.1.0.
"""

from __future__ import annotations

import os
import struct
from argparse import Namespace
from errno import EIO, ENAMETOOLONG, ENOSPC
from pathlib import Path
from typing import Any, BinaryIO

import bpy
from bpy.app.handlers import persistent

from ..errors import IKError
from ..rig.safe_files import Stamp, discard, stamp_of

_FRAME, _TABLE, _TABLE_END = b"\x28\xb5\x2f\xfd", b"\x5e\x2a\x4d\x18", b"\xb1\xea\x92\x8f"
_FOOTER = struct.Struct("<IB4s")  # number of frames, flags, magic number
_BLOCK = struct.Struct("<4si16x")  # up to Blender 4.5: code, length
_LARGE_BLOCK = struct.Struct("<4s4x8xq8x")  # from Blender 5.0 on

_LONGEST = 1023  # bytes in a path; Blender cuts off what is longer

_read: dict[str, Stamp | None] = {}  # the file that is open, as it was when Blender began to read it


def check_newer(arguments: Namespace) -> list[str]:
    """Return a warning if a newer Blender saved the open file. Raises IKError if it would be overwritten.

    Call it as soon as the file is open, before any work is done.
    """
    wrote: tuple[int, ...] = tuple(bpy.data.version)
    here: tuple[int, ...] = tuple(bpy.app.version_file)
    if wrote <= here:
        return []
    name, own = ("{}.{}".format(*version) for version in (wrote, here))
    what = f"The file was saved by Blender {name}, and this is Blender {own}"
    if getattr(arguments, "overwrite", False) and not arguments.overwrite_newer:
        raise IKError(
            f"{what}: data that it does not know would be lost. Save to --output FILE, or use --overwrite-newer."
        )
    return [f"{what}: data that it does not know may be missing. Use Blender {name}."]


def is_whole(path: Path) -> bool:
    """Return True if a .blend file has all its blocks, and nothing after them. Raises OSError."""
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


def open_file(file: Path | None) -> Path | None:
    """Open a file if one is named; return the path of the open file, None if it was never saved."""
    if file is not None:
        check_input(file)
        try:
            bpy.ops.wm.open_mainfile(filepath=str(file.absolute()))
        except RuntimeError as error:
            raise IKError(f"'{file}' cannot be opened: {' '.join(str(error).split())}") from error
    return Path(bpy.data.filepath) if bpy.data.filepath else None


def check_input(file: Path) -> None:
    """Raise IKError if Blender could not read this file."""
    try:
        there = file.exists()
        regular = file.is_file()
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or error
        raise IKError(f"'{_short(file)}' cannot be opened: {reason}. Name a .blend file.") from error
    if not there:
        raise IKError(f"There is no file '{_short(file)}'. Name a .blend file.")
    if not regular:
        raise IKError(f"'{_short(file)}' is not a regular file. Name a .blend file.")
    if len(os.fsencode(file.absolute())) > _LONGEST:
        raise IKError(f"'{_short(file)}' is too long a path: Blender takes {_LONGEST} bytes. Move the file.")


def check_unchanged(file: Path) -> None:
    """Raise IKError if the open file was changed since it was read."""
    was = _read.get(bpy.data.filepath)
    if was is not None and stamp_of(file) != was:
        raise IKError(f"'{file}' has changed since it was read, and was not overwritten. Run this again.")


def write_blend(path: Path, remap: bool) -> None:
    """Write the open file to a new path; `remap` makes its relative paths relative to that. Raises OSError."""
    if len(os.fsencode(path)) > _LONGEST:
        raise OSError(ENAMETOOLONG, f"The path is too long: Blender takes {_LONGEST} bytes")
    try:
        bpy.ops.wm.save_as_mainfile(filepath=str(path), copy=True, relative_remap=remap)
    except RuntimeError as error:
        discard(path.with_name(f"{path.name}@"))  # Blender's own temporary file
        raise OSError(EIO, " ".join(str(error).removeprefix("Error: ").split()).rstrip(".")) from error
    # Blender reports success even if the disk was full.
    if not (is_whole(path) and (not _is_compressed(path) or _has_all_scenes(path))):
        raise OSError(ENOSPC, "It could not be written completely. The disk may be full")


def note_saved() -> None:
    """Remember the open file's present state on disk as the one that was read."""
    _remember(bpy.data.filepath)


def _is_compressed(path: Path) -> bool:
    """Tell whether is_whole() has seen the frames of a file alone, and not the blocks in them."""
    with path.open("rb") as file:
        return file.read(4) == _FRAME


def _has_all_scenes(path: Path) -> bool:
    """Tell whether a file has the open scenes, by its directory of data-blocks, which takes Blender a while to read."""
    with bpy.data.libraries.load(str(path)) as (there, _):  # type: ignore[func-returns-value]
        return {scene.name for scene in bpy.data.scenes} <= set(there.scenes)


@persistent  # type: ignore[untyped-decorator]
def _remember(path: str, _: Any = None) -> None:
    _read.clear()
    if path:
        _read[path] = stamp_of(path)


@persistent  # type: ignore[untyped-decorator]
def _saved(path: str, _: Any = None) -> None:
    if path == bpy.data.filepath:  # not a copy
        _remember(path)


def _short(path: Path) -> str:
    text = str(path)
    return text if len(text) <= 200 else f"{text[:100]}...{text[-90:]}"


def register() -> None:
    bpy.app.handlers.load_pre.append(_remember)
    bpy.app.handlers.save_post.append(_saved)


def unregister() -> None:
    bpy.app.handlers.load_pre.remove(_remember)
    bpy.app.handlers.save_post.remove(_saved)

# SPDX-License-Identifier: GPL-3.0-or-later
"""Open and save .blend files, and detect that the open file was changed by somebody else."""

from __future__ import annotations

import os
from errno import EIO, ENAMETOOLONG, ENOSPC
from pathlib import Path
from typing import Any

import bpy
from bpy.app.handlers import persistent

from ..errors import IKError
from ..rig.safe_files import Stamp, discard, stamp_of
from .blend_check import is_whole

_LONGEST = 1023  # bytes in a path; Blender cuts off what is longer

_read: dict[str, Stamp | None] = {}  # the file that is open, as it was when Blender began to read it


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
    if not (is_whole(path) and {scene.name for scene in bpy.data.scenes} <= set(_scenes_in(path))):
        raise OSError(ENOSPC, "It could not be written completely. The disk may be full")


def note_saved() -> None:
    """Remember the open file's present state on disk as the one that was read."""
    _remember(bpy.data.filepath)


def _scenes_in(path: Path) -> list[str]:
    """Return the names of the scenes in a file, from its directory of data-blocks."""
    with bpy.data.libraries.load(str(path)) as (there, _):  # type: ignore[func-returns-value]
        return list(there.scenes)


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

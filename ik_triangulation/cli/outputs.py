# SPDX-License-Identifier: GPL-3.0-or-later
"""Output files of a command: all are written at its end, or none."""

from __future__ import annotations

import os
from argparse import Namespace
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from itertools import pairwise
from pathlib import Path

import bpy

from ..errors import IKError
from ..presets import SUFFIX
from ..rig.safe_files import Staged, Write, discard, real_destination, replacing, stage_file

_FLAGS = "output", "json", "png", "npy", "volume"  # each names a file to write
STDOUT = "-"


def outputs_of(arguments: Namespace) -> dict[str, Path]:
    """Return the output files by their flags, without an overwritten input."""
    given = {f"--{name}": getattr(arguments, name, None) for name in _FLAGS}
    return {flag: Path(value) for flag, value in given.items() if value is not None and str(value) != STDOUT}


def check_outputs(arguments: Namespace) -> None:
    """Raise IKError if an output is an input or another output, or cannot be written.

    Nothing is read or changed, but with --make-folders folders that are missing are made.
    """
    for flag, path in outputs_of(arguments).items():
        if getattr(arguments, "make_folders", False):
            _make_folder(path)
        check_output(flag, arguments)
    if getattr(arguments, "overwrite", False):
        source = _source(arguments)
        if source is None:
            raise IKError("There is no file to overwrite. Name an input file, or use --output FILE.")
        _real(source)


def check_output(flag: str, arguments: Namespace) -> None:
    """Check one output as check_outputs() does."""
    outputs = outputs_of(arguments)
    path = outputs[flag]
    real = _real(path)
    source = _source(arguments)
    if source and _same(real, source):
        remedy = ", or use --overwrite" if flag == "--output" else ""
        raise IKError(f"{flag} '{path}' is the input. Choose another file{remedy}.")
    preset = getattr(arguments, "preset", None) or ""
    if preset.endswith(SUFFIX) and _same(real, Path(preset)):
        raise IKError(f"{flag} '{path}' is the preset that is read. Choose another file.")
    if any(_same(real, Path(bpy.path.abspath(library.filepath))) for library in bpy.data.libraries):
        raise IKError(f"{flag} '{path}' is linked by the input. Choose another file.")
    for other, its in outputs.items():
        if other != flag and _same(real, its):
            raise IKError(f"{flag} and {other} are the same file '{path}'. Choose another one for one of them.")


@contextmanager
def written(files: Mapping[Path, Write], check: Callable[[], object]) -> Iterator[dict[Path, Path]]:
    """Write files, all or none; yields the files that hold the previous contents, by resolved path.

    `check` is called when all are written but none is at its destination yet. Raises IKError if one cannot be written.
    """
    staged: list[Staged] = []
    try:
        for path, write in files.items():
            suffix = ".blend" if path.suffix == ".blend" else ".tmp"
            staged.append(stage_file(path, write, suffix))
        check()
    except BaseException as error:
        for each in staged:
            discard(each.temporary)
        if isinstance(error, OSError):
            raise _cannot(error) from error
        raise
    try:
        with replacing(staged) as kept:
            yield kept
    except OSError as error:
        raise _cannot(error) from error


def keep_versions(file: Path, old: Path, count: int) -> None:
    """Keep the previous versions of a .blend file as .blend1 and so on up to `count`, as Blender does."""
    names = [Path(f"{file}{number}") for number in range(1, count + 1)]
    with suppress(OSError):  # the file itself is saved even if there is no room for its versions
        for newer, older in reversed(list(pairwise(names))):
            if newer.exists():
                newer.replace(older)
        if names:
            old.replace(names[0])


def _source(arguments: Namespace) -> Path | None:
    """Return the file that is or will be open."""
    return arguments.file or (Path(bpy.data.filepath) if bpy.data.filepath else None)


def _make_folder(path: Path) -> None:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise _cannot(error) from error


def _real(path: Path) -> Path:
    try:
        return real_destination(path)
    except OSError as error:
        raise _cannot(error) from error


def _cannot(error: OSError) -> IKError:
    name = str(error.filename)
    shown = name if len(name) <= 200 else f"{name[:100]}...{name[-90:]}"
    return IKError(f"'{shown}' cannot be written: {error.strerror}.")


def _same(real: Path, other: Path) -> bool:
    """Return True if two paths, the first without links, are one file, whether it exists or not."""
    with suppress(OSError, ValueError):
        theirs = Path(os.path.realpath(other))
        if real == theirs or (real.exists() and theirs.exists() and real.samefile(theirs)):
            return True
        alike = real.name.casefold() == theirs.name.casefold() and real.parent.samefile(theirs.parent)
        return alike and (real.name == theirs.name or _ignores_case(real.parent))
    return False


def _ignores_case(folder: Path) -> bool:
    """Return True if the file system ignores case, as far as the folder's own name shows it."""
    swapped = folder.with_name(folder.name.swapcase()) if folder.name else folder
    return swapped != folder and swapped.exists() and swapped.samefile(folder)

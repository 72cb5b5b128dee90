# SPDX-License-Identifier: GPL-3.0-or-later
"""Files read and written by the command line."""

from __future__ import annotations

import json
import sys
from argparse import Namespace
from pathlib import Path
from typing import Any

import bpy

from ..errors import IKError


def destination_of(arguments: Namespace, source: Path | None) -> Path | None:
    """Where to save what was read from `source`; None if it is not to be saved. Raises IKError if that is unclear."""
    if arguments.output and source and arguments.output.resolve() == source.resolve():
        raise IKError(f"'{source}' is the input. Choose another output, or say --overwrite.")
    if arguments.overwrite and source is None:
        raise IKError("There is no file to overwrite. Name one to read, or say --output FILE.")
    chosen: Path | None = source if arguments.overwrite else arguments.output
    return chosen


def open_file(file: Path | None) -> Path | None:
    """Open a file if one is named; the path of the open file, None if it was never saved."""
    if file is not None:
        if not file.is_file():
            raise IKError(f"There is no file '{file}'. Name a .blend file.")
        try:
            bpy.ops.wm.open_mainfile(filepath=str(file.resolve()))
        except RuntimeError as error:
            raise IKError(f"'{file}' cannot be opened: {str(error).strip()}") from error
    return Path(bpy.data.filepath) if bpy.data.filepath else None


def save_file(destination: Path) -> None:
    """Save what is open to another file. Raises IKError if that cannot be done."""
    try:
        bpy.ops.wm.save_as_mainfile(filepath=str(destination.resolve()), copy=True)
    except RuntimeError as error:
        raise IKError(f"'{destination}' cannot be written: {str(error).strip()}") from error
    print(f"Saved {destination}", file=sys.stderr)


def write_json(values: Any, where: str | None) -> None:
    """Write values as JSON to a file, or to standard output for "-". Raises IKError if that cannot be done."""
    if where is None:
        return
    text = json.dumps(values, indent=2)
    if where == "-":
        print(text)
        return
    try:
        Path(where).write_text(text + "\n", encoding="utf-8")
    except OSError as error:
        raise IKError(f"'{where}' cannot be written: {error.strerror}.") from error

# SPDX-License-Identifier: GPL-3.0-or-later
"""The shots of a list: a text file with the path of a .blend file on each line, relative to the list's folder."""

from __future__ import annotations

import os
import re
from argparse import ArgumentTypeError
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path, PureWindowsPath

from ..errors import IKError


@dataclass(frozen=True)
class ListedShot:
    """A line of the list: its name, the path with / between folders, and the reason why it cannot be baked, if any."""

    name: str
    reason: str = ""

    def at(self, folder: Path, suffix: str = ".blend") -> Path:
        """Return the file of this shot in a folder, with this suffix."""
        return folder.joinpath(*self.name.split("/")).with_suffix(suffix)


def line_numbers(text: str) -> set[int]:
    """Return the lines that an option names: 3, 1-20 or 1-9:2, several with commas between them."""
    found: set[int] = set()
    for part in text.split(","):
        span = re.fullmatch(r"(\d+)(?:-(\d+)(?::(\d+))?)?", part.strip())
        first, last, step = (int(number) if number else 0 for number in span.groups()) if span else (0, 0, 0)
        if first < 1 or (span and span[2] and last < first) or (span and span[3] == "0"):
            raise ArgumentTypeError(f"'{text}' names no lines. Write them as 7, 1-20 or 3-5,9.")
        found.update(range(first, max(first, last) + 1, step or 1))
    return found


def shots_of(
    listed: Path, lines: set[int] | None, names: Sequence[str] | None
) -> tuple[Path, list[ListedShot], list[ListedShot]]:
    """Return the folder, its shots to bake in order, and all shots of the list; of each shot once.

    To bake are those on these lines of the list, or of these names, or all. Raises IKError if the list cannot be read.
    """
    if names is not None:
        folder = listed if listed.is_dir() else listed.parent
        shots = list(_shots(enumerate(names, 1), "Shot {}"))
        return folder, shots, shots
    try:
        rows = listed.read_text(encoding="utf-8-sig").splitlines()
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or error
        raise IKError(f"The list of shots '{listed}' cannot be read: {reason}.") from error
    every = list(_shots(enumerate(rows, 1), f"Line {{}} of {listed.name}"))
    if lines is None:
        return listed.parent, every, every
    chosen = list(
        _shots(((number, row) for number, row in enumerate(rows, 1) if number in lines), f"Line {{}} of {listed.name}")
    )
    beyond = [number for number in sorted(lines) if number > len(rows)]
    chosen += [
        ListedShot(f"line {n}", f"{listed.name} has {len(rows)} lines, so there is no line {n}.") for n in beyond
    ]
    return listed.parent, chosen, every


def check_output_folder(folder: Path, output: Path, every: Sequence[ListedShot]) -> None:
    """Raise IKError if a shot would be written over a shot of the list."""
    inputs = {os.path.realpath(shot.at(folder)): shot.name for shot in every if not shot.reason}
    for shot in every:
        other = None if shot.reason else inputs.get(os.path.realpath(shot.at(output)))
        if other is not None:
            raise IKError(f"'{shot.name}' would be saved over the shot '{other}'. Choose another folder for --output.")


def _shots(rows: Iterator[tuple[int, str]], where: str) -> Iterator[ListedShot]:
    """Yield the shots of numbered rows. Empty rows, and those that begin with #, name none."""
    seen: dict[str, str] = {}
    for number, row in rows:
        text = row.strip()
        if not text or text.startswith("#"):
            continue
        path = PureWindowsPath(text)  # takes both / and \, whatever this runs on
        name = path.as_posix()
        if path.suffix != ".blend" or path.anchor or ".." in path.parts:
            yield ListedShot(text, f"{where.format(number)} is '{text}'. Name a .blend file in the folder of the list.")
        elif name.casefold() not in seen:
            seen[name.casefold()] = name
            yield ListedShot(name)
        elif seen[name.casefold()] != name:
            clash = f"there is '{seen[name.casefold()]}' as well, which on some disks is the same file. Rename one."
            yield ListedShot(name, f"{where.format(number)} is '{name}': {clash}")

# SPDX-License-Identifier: GPL-3.0-or-later
"""The files that the shots of a list use outside of their folder, so that AWS Deadline Cloud takes them along.

Source: Deadline Cloud, asset_references.json of a job bundle.
"""

from __future__ import annotations

import json
from argparse import SUPPRESS, Namespace
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import bpy

from ..errors import IKError
from .arguments import DONE, FAILED, add_command, add_quiet
from .blend import open_file
from .console import Console
from .shot_list import shots_of


def add_list_assets(commands: Any) -> None:
    """Add list-assets to the subparsers of the command line."""
    command = add_command(
        commands, "list-assets", "list the files that the shots of a list use outside of their folder"
    )
    command.add_argument(
        "list", type=Path, metavar="LIST", help="text file with a .blend file on each line, relative to its folder"
    )
    add_quiet(command, SUPPRESS)
    command.set_defaults(execute=list_assets)


def list_assets(arguments: Namespace, _: Sequence[str], console: Console) -> int:
    """Print the asset references of all shots; exit code 1 if a shot or a file that it uses is missing."""
    files: set[str] = set()
    folders: set[str] = set()
    wrong: list[str] = []
    try:
        folder, shots, _every = shots_of(arguments.list, None, None)
    except IKError as error:
        console.error(f"IK Triangulation: {error}")
        return FAILED
    for shot in shots:
        try:
            if shot.reason:
                raise IKError(shot.reason)
            open_file(shot.at(folder))
        except IKError as error:
            wrong.append(str(error))
            continue
        for path in map(Path, bpy.utils.blend_paths(absolute=True, packed=False)):
            used = path.resolve()
            if used.is_relative_to(folder.resolve()):
                continue
            if used.exists():
                (folders if used.is_dir() else files).add(str(used))
            elif "<" in used.name and used.parent.is_dir():  # the tiles of an image: name.<UDIM>.png
                folders.add(str(used.parent))
            else:
                wrong.append(f"{shot.name} uses '{used}', which is not there.")
    inputs = {"filenames": sorted(files), "directories": sorted(folders)}
    empty: dict[str, list[str]] = {"directories": []}
    references = {"assetReferences": {"inputs": inputs, "outputs": empty, "referencedPaths": []}}
    console.put(json.dumps(references, indent=2))
    for each in wrong:
        console.error(f"IK Triangulation: {each}")
    return FAILED if wrong else DONE

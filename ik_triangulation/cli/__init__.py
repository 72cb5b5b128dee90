# SPDX-License-Identifier: GPL-3.0-or-later
"""Command line, the same in Blender and with the bpy module.

    blender -b rig.blend --command ik_triangulation bake --tip hand.L --target Cup --overwrite
    python -m ik_triangulation bake rig.blend --tip hand.L --target Cup --output baked.blend

Exit codes: 0 done, 1 failed (the message says why, no file is changed), 2 wrong usage, 3 done but a target was missed.
"""

from __future__ import annotations

from argparse import ArgumentParser
from collections.abc import Sequence
from typing import Any, TextIO

import bpy

from . import blend


def main(argv: Sequence[str], out: TextIO | None = None) -> int:
    """Run the command line and return its exit code. Results go to `out`, by default standard output."""
    from .program import run_program  # loaded when it is used: Blender registers the command at each start

    return run_program(argv, out)


def parser() -> ArgumentParser:
    """Return the parser of the command line."""
    from .program import build_parser

    return build_parser()


_handles: list[Any] = []


def register() -> None:
    blend.register()
    _handles.append(bpy.utils.register_cli_command("ik_triangulation", main))


def unregister() -> None:
    while _handles:
        bpy.utils.unregister_cli_command(_handles.pop())
    blend.unregister()

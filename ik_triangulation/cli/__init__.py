# SPDX-License-Identifier: GPL-3.0-or-later
"""Command line, the same in Blender and with the bpy module.

    blender -b rig.blend --command ik_triangulation bake --tip hand.L --target Cup --overwrite
    python -m ik_triangulation bake rig.blend --tip hand.L --target Cup --output baked.blend

Exit codes: 0 done, 1 failed (the message says why, no file is changed), 2 wrong usage, 3 done but a target was missed.
"""

from __future__ import annotations

import sys
from argparse import ArgumentParser
from collections.abc import Sequence
from contextlib import redirect_stdout
from typing import Any, TextIO

import bpy

from . import blend


def main(argv: Sequence[str], out: TextIO | None = None) -> int:
    """Run the command line and return its exit code. Results go to `out`, by default standard output."""
    from .run import Console, execute  # loaded when it is used: Blender registers the command at each start

    try:
        with redirect_stdout(out or sys.stdout):
            arguments = parser().parse_args(argv)
    except SystemExit as left:  # argparse has printed the error or the help
        return int(left.code or 0)
    console = Console(out or sys.stdout, arguments.quiet)
    if "execute" in arguments:  # a command on many files
        return int(arguments.execute(arguments, argv, console))
    return execute(arguments, console)[0]


def parser() -> ArgumentParser:
    """Return the parser of the command line."""
    from .. import __version__
    from . import analysing, bake_list, copying, solving
    from .arguments import PROGRAM, add_quiet

    top = ArgumentParser(
        prog=PROGRAM,
        description="Inverse kinematics that keys plain rotations on the bones of a rig.",
        epilog="Exit codes: 0 done, 1 failed and no file changed, 2 wrong usage, 3 done but a target was missed.",
        allow_abbrev=False,
    )
    top.add_argument("--version", action="version", version=f"IK Triangulation {__version__}")
    add_quiet(top)
    top.set_defaults(accept_misses=False)
    commands = top.add_subparsers(dest="command", required=True)
    solving.add_solving_commands(commands)
    bake_list.add_bake_list(commands)
    analysing.add_list_assets(commands)
    solving.add_target_commands(commands)
    copying.add_copying_commands(commands)
    analysing.add_analysis_commands(commands)
    return top


_handles: list[Any] = []


def register() -> None:
    blend.register()
    _handles.append(bpy.utils.register_cli_command("ik_triangulation", main))


def unregister() -> None:
    while _handles:
        bpy.utils.unregister_cli_command(_handles.pop())
    blend.unregister()

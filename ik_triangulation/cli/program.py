# SPDX-License-Identifier: GPL-3.0-or-later
"""The commands of the command line, and their parser."""

from __future__ import annotations

import sys
from argparse import ArgumentParser
from collections.abc import Sequence
from contextlib import redirect_stdout
from typing import TextIO

from .. import __version__
from . import analysing, bake_list, copying, solving
from .arguments import PROGRAM, add_quiet
from .run import Console, execute


def run_program(argv: Sequence[str], out: TextIO | None = None) -> int:
    """Run the command line and return its exit code. Results go to `out`, by default standard output."""
    try:
        with redirect_stdout(out or sys.stdout):
            arguments = build_parser().parse_args(argv)
    except SystemExit as left:  # argparse has printed the error or the help
        return int(left.code or 0)
    console = Console(out or sys.stdout, arguments.quiet)
    if "execute" in arguments:  # a command on many files
        return int(arguments.execute(arguments, argv, console))
    return execute(arguments, console)[0]


def build_parser() -> ArgumentParser:
    """Return the parser of the command line."""
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

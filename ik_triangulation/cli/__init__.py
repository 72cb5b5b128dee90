# SPDX-License-Identifier: GPL-3.0-or-later
"""The command line, the same in Blender and on the bpy module.

    blender -b rig.blend --command ik_triangulation bake --tip hand.L --target Cup --overwrite
    python -m ik_triangulation bake rig.blend --tip hand.L --target Cup --output baked.blend

Exit codes: 0 done, 1 failed (the message says why, nothing is written), 2 wrong usage, 3 done but out of tolerance.
"""

from __future__ import annotations

import sys
from argparse import ArgumentParser
from collections.abc import Sequence
from typing import Any

import bpy

from ..errors import IKError
from . import analysing, solving
from .words import DONE, FAILED, OUT_OF_TOLERANCE

COMMAND = "ik_triangulation"


def main(argv: Sequence[str]) -> int:
    """Run the command line and return its exit code."""
    try:
        arguments = parser().parse_args(argv)
    except SystemExit as left:  # argparse has said what is wrong, or shown the help
        return int(left.code or 0)
    try:
        in_tolerance = arguments.run(arguments)
    except IKError as error:
        print(f"IK Triangulation: {error}", file=sys.stderr)
        return FAILED
    return DONE if in_tolerance else OUT_OF_TOLERANCE


def parser() -> ArgumentParser:
    """All the words of the command line."""
    top = ArgumentParser(
        prog=COMMAND,
        description="Inverse kinematics that leaves rotation keys on the bones of the rig.",
        epilog="Exit codes: 0 done, 1 failed, 2 wrong usage, 3 done but out of tolerance.",
    )
    commands = top.add_subparsers(required=True)
    solving.add_commands(commands)
    analysing.add_commands(commands)
    return top


_handles: list[Any] = []


def register() -> None:
    _handles.append(bpy.utils.register_cli_command(COMMAND, main))


def unregister() -> None:
    while _handles:
        bpy.utils.unregister_cli_command(_handles.pop())

# SPDX-License-Identifier: GPL-3.0-or-later
"""The arguments that commands share."""

from __future__ import annotations

import re
from argparse import ArgumentParser, ArgumentTypeError
from pathlib import Path

from ..settings import (
    BendSettings,
    ChainSettings,
    ComfortSettings,
    FrameSettings,
    GoalSettings,
    KeySettings,
    PathSettings,
    ReachSettings,
    SolverSettings,
)
from ..solvers import SOLVERS
from .flags import add_settings

DONE, FAILED, USAGE, OUT_OF_TOLERANCE = 0, 1, 2, 3

_SAVED = "What is not given is taken from the settings saved on the tip bone."


def add_bones(command: ArgumentParser) -> None:
    """Which file, and which bones in it."""
    command.add_argument("file", nargs="?", type=Path, help=".blend file (default: the one that is open)")
    limb = command.add_argument_group("limb", _SAVED)
    limb.add_argument("--scene", help="scene to work in (default: the one that is active in the file)")
    limb.add_argument("--armature", help="armature object (default: the only one in the scene)")
    limb.add_argument("--tip", help="bone at the end of the limb, whose tail reaches the target")
    add_settings(limb, ChainSettings, only=["chain_count"])
    limb.add_argument("--bones", nargs="+", metavar="BONE", help="the bones to rotate, instead of tip and chain length")


def add_goal(command: ArgumentParser) -> None:
    """Target, shape, orientation, pole and comfort."""
    goal = command.add_argument_group("goal", _SAVED)
    add_settings(goal, ChainSettings, only=["target"])
    for each in (GoalSettings, BendSettings, ComfortSettings):
        add_settings(goal, each)


def add_solver(command: ArgumentParser, several: bool = False) -> None:
    """Solver settings, for one or `several` solvers."""
    solver = command.add_argument_group("solver", _SAVED)
    if several:
        solver.add_argument(
            "--solvers", nargs="+", type=str.upper, choices=SOLVERS, help="solvers to compare (default: all)"
        )
    add_settings(solver, SolverSettings, without=["solver", "angle_tolerance"] if several else [])


def add_range(command: ArgumentParser, about: str = "") -> None:
    """The frames of a bake; `about` says what else there is to know of them."""
    add_settings(command.add_argument_group("range", f"{about} {_SAVED}".strip()), FrameSettings)


def add_path(command: ArgumentParser) -> None:
    """Relation of each frame to those around it."""
    add_settings(command.add_argument_group("path", _SAVED), PathSettings)


def add_reach(command: ArgumentParser) -> None:
    """Frames, path and speed of a reach."""
    way = command.add_argument_group("reach", _SAVED)
    add_settings(way, ReachSettings)
    way.add_argument(
        "--stops",
        nargs="+",
        type=_stop,
        metavar="TARGET:FRAME[:HOLD]",
        help="several targets one after another, instead of --target, --frame-end and --hold",
    )


def add_keys(command: ArgumentParser) -> None:
    """The keys that a bake writes."""
    keys, reduction = command.add_argument_group("keys", _SAVED), ("reduce", "reduce_tolerance")
    add_settings(keys, KeySettings, without=reduction)
    add_settings(keys.add_mutually_exclusive_group(), KeySettings, only=reduction)


def add_saving(command: ArgumentParser) -> None:
    """Where the file goes that was changed."""
    result = command.add_argument_group("result")
    where = result.add_mutually_exclusive_group(required=True)
    where.add_argument("--output", type=Path, metavar="FILE", help="save to this .blend file")
    where.add_argument("--overwrite", action="store_true", help="save to the file that was read")
    where.add_argument("--discard", action="store_true", help="save nothing, only report")


def add_json(command: ArgumentParser) -> None:
    """Where the report goes."""
    command.add_argument(
        "--json", nargs="?", const="-", metavar="FILE", help="report as JSON (default: standard output)"
    )


def _stop(text: str) -> tuple[str, int, int]:
    # The shortest name that leaves numbers: with a hold given, even one that ends in a colon and a number is clear.
    match = re.fullmatch(r"(.+?):(-?\d+)(?::(\d+))?", text)
    if match is None:
        raise ArgumentTypeError(f"'{text}' is no target with a frame, such as Cup:20 or, held for 5 frames, Cup:20:5")
    name, frame, hold = match.groups()
    return name, int(frame), int(hold or 0)

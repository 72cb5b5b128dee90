# SPDX-License-Identifier: GPL-3.0-or-later
"""The words that commands share, and what they mean."""

from __future__ import annotations

from argparse import ArgumentParser, ArgumentTypeError
from math import isfinite, radians
from pathlib import Path

from ..properties import choices
from ..solvers import SOLVERS

DONE, FAILED, USAGE, OUT_OF_TOLERANCE = 0, 1, 2, 3

_SAVED = "What is not given is taken from the settings saved on the tip bone."


def add_bones(command: ArgumentParser) -> None:
    """Which file, and which bones in it."""
    command.add_argument("file", nargs="?", type=Path, help=".blend file (default: the one that is open)")
    limb = command.add_argument_group("limb", _SAVED)
    limb.add_argument("--scene", help="scene to work in (default: the one that is active in the file)")
    limb.add_argument("--armature", help="armature object (default: the only one in the scene)")
    limb.add_argument("--tip", help="bone whose tail shall reach the target")
    limb.add_argument("--chain-length", dest="chain_count", type=int, help="bones counted up from the tip, 0 for all")
    limb.add_argument("--bones", nargs="+", metavar="BONE", help="the bones to turn, instead of tip and chain length")


def add_goal(command: ArgumentParser) -> None:
    """What to reach, and what to be like."""
    goal = command.add_argument_group("goal", _SAVED)
    goal.add_argument("--target", help="object to reach for")
    goal.add_argument("--subtarget", help="bone of the target whose head is reached for")
    goal.add_argument("--shape", type=str.upper, choices=choices("shape"), help="what of the target is to be reached")
    goal.add_argument("--orientation", type=str.upper, choices=choices("orientation"), help="how the tip is turned")
    goal.add_argument("--orient-weight", type=_weight, help="how much the orientation counts beside the pole")
    goal.add_argument("--pole-target", help="object that the limb bends towards, '' for none")
    goal.add_argument("--pole-subtarget", help="bone of the pole target whose head counts")
    goal.add_argument("--pole-angle", type=_angle, metavar="DEGREES", help="turn of the bend away from the pole")
    goal.add_argument("--pole-weight", type=_weight, help="how much the pole counts beside the orientation")
    goal.add_argument("--influence", type=_share, help="0 to 1: how far to go from the animated pose to the solution")
    goal.add_argument("--effort-weight", type=_weight, help="how much it counts that the limb hangs low")
    goal.add_argument("--rest-weight", type=_weight, help="how much it counts that joints are near the rest pose")
    goal.add_argument("--rest-pose", type=str.upper, choices=choices("rest_pose"), help="the pose to be near to")
    goal.add_argument("--obstacles", metavar="COLLECTION", help="objects to stay out of, '' for none")
    goal.add_argument("--obstacle-margin", type=_weight, help="distance to keep from them, in Blender units")
    goal.add_argument("--obstacle-weight", type=_weight, help="how much staying out of them counts")


def add_solver(command: ArgumentParser) -> None:
    """How to solve."""
    solver = command.add_argument_group("solver")
    solver.add_argument("--solver", type=str.upper, choices=SOLVERS)
    solver.add_argument("--tolerance", type=_distance, help="distance that counts as reached, in Blender units")
    solver.add_argument("--iterations", type=int, help="most steps of the solver in a frame")
    solver.add_argument(
        "--no-finish", dest="finish", action="store_false", default=None, help="the bare method, no polish"
    )
    solver.add_argument("--seed", type=int, help="another seed makes the polish try other poses")


def add_keys(command: ArgumentParser) -> None:
    """What is keyed, and how."""
    keys = command.add_argument_group("keys", _SAVED)
    keys.add_argument(
        "--only-target-keys", action="store_true", default=None, help="key the limb only where the target has keys"
    )
    keys.add_argument(
        "--interpolation", type=str.upper, choices=choices("interpolation"), help="what keys do until the next one"
    )
    keys.add_argument(
        "--mark-misses", action="store_true", default=None, help="markers on the timeline at frames that miss"
    )
    keys.add_argument("--destination", type=str.upper, choices=choices("destination"), help="where the keys go")


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


def _number(text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        raise ArgumentTypeError(f"'{text}' is not a number") from None
    if not isfinite(value):
        raise ArgumentTypeError(f"{text} is not finite")
    return value


def _distance(text: str) -> float:
    value = _number(text)
    if not value > 0.0:
        raise ArgumentTypeError(f"{text} is not a distance above zero")
    return value


def _angle(text: str) -> float:
    return radians(_number(text))


def _weight(text: str) -> float:
    value = _number(text)
    if not value >= 0.0:
        raise ArgumentTypeError(f"{text} is not a weight from 0 up")
    return value


def _share(text: str) -> float:
    value = _number(text)
    if not 0.0 <= value <= 1.0:
        raise ArgumentTypeError(f"{text} is not from 0 to 1")
    return value

# SPDX-License-Identifier: GPL-3.0-or-later
"""The words that commands share, and what they mean."""

from __future__ import annotations

import re
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


def add_solver(command: ArgumentParser, several: bool = False) -> None:
    """How to solve, by one or by `several` solvers."""
    solver = command.add_argument_group("solver")
    if several:
        solver.add_argument("--solvers", nargs="+", type=str.upper, choices=SOLVERS, help="these only (default: all)")
    else:
        solver.add_argument("--solver", type=str.upper, choices=SOLVERS)
    solver.add_argument("--tolerance", type=_distance, help="distance that counts as reached, in Blender units")
    solver.add_argument("--iterations", type=int, help="most steps of the solver in a frame")
    solver.add_argument(
        "--no-finish", dest="finish", action="store_false", default=None, help="the bare method, no polish"
    )
    solver.add_argument("--seed", type=int, help="another seed makes the polish try other poses")


def add_path(command: ArgumentParser) -> None:
    """How a frame goes with those around it."""
    path = command.add_argument_group("path")
    path.add_argument(
        "--start-from", type=str.upper, choices=choices("start_from"), help="where a frame is solved from"
    )
    path.add_argument(
        "--no-smooth", dest="smooth", action="store_false", default=None, help="leave jumps of joints that need not be"
    )
    path.add_argument("--smoothing", type=_share, help="0 to 1: how much to smooth the joints' curves")


def add_reach(command: ArgumentParser) -> None:
    """When and how to go to the target, and back."""
    way = command.add_argument_group("reach", _SAVED)
    way.add_argument("--frame-start", type=int, help="frame of the pose to reach from")
    way.add_argument("--frame-end", type=int, help="frame at which the target is reached")
    way.add_argument("--hold", type=int, help="for how many frames more to stay with the target")
    way.add_argument("--return", dest="return_frames", type=int, help="frames to come back in, 0 for not at all")
    way.add_argument(
        "--stops",
        nargs="+",
        type=_stop,
        metavar="TARGET:FRAME[:HOLD]",
        help="several targets one after the other, instead of --target, --frame-end and --hold",
    )
    way.add_argument("--path", type=str.upper, choices=choices("reach_path"), help="how the tip goes there")
    way.add_argument("--onset", type=_share, help="0 to 1: how much earlier the joints near the root begin on an arc")
    way.add_argument("--timing", type=str.upper, choices=choices("reach_timing"), help="how fast the tip goes when")
    way.add_argument("--easing", type=str.upper, choices=choices("reach_easing"), help="where the timing is slow")


def add_reduction(command: ArgumentParser) -> None:
    """Whether a bake drops keys."""
    keys = command.add_mutually_exclusive_group()
    keys.add_argument(
        "--reduce",
        dest="reduce_tolerance",
        nargs="?",
        const=0.0,
        type=_distance,
        metavar="DISTANCE",
        help="drop keys while the tip stays this near to the full bake, in Blender units (default: 0.5%% of the reach)",
    )
    keys.add_argument("--no-reduce", dest="reduce", action="store_false", default=None, help="keep every key")


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
    result.add_argument(
        "--overwrite-newer", action="store_true", help="let --overwrite replace even a file that a newer Blender saved"
    )


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


def _stop(text: str) -> tuple[str, int, int]:
    # The shortest name that leaves numbers: with a hold given, even one that ends in a colon and a number is clear.
    match = re.fullmatch(r"(.+?):(-?\d+)(?::(\d+))?", text)
    if match is None:
        raise ArgumentTypeError(f"'{text}' is no target with a frame, such as Cup:20 or, held for 5 frames, Cup:20:5")
    name, frame, hold = match.groups()
    return name, int(frame), int(hold or 0)


def _share(text: str) -> float:
    value = _number(text)
    if not 0.0 <= value <= 1.0:
        raise ArgumentTypeError(f"{text} is not from 0 to 1")
    return value

# SPDX-License-Identifier: GPL-3.0-or-later
"""The commands that change nothing: compare the solvers, map what a chain reaches."""

from __future__ import annotations

import sys
from argparse import ArgumentTypeError, Namespace
from pathlib import Path
from typing import Any

from ..analyse import compare, map_chain, pose_of
from ..blender.checks import check_frames
from ..errors import IKError
from ..kinematics import Pose
from ..maps.colours import SCALES
from ..maps.metric_map import METRICS
from ..maps.volume import mapping_volume
from ..solvers import SOLVERS, SolverSettings
from ..solvers.compare import COSTS, table
from ..work import run_through
from .files import open_file, write_json
from .limbs import bones_of, limb_of, range_of, scene_of
from .newer import check_newer
from .words import add_bones, add_goal, add_json, add_solver


def add_commands(commands: Any) -> None:
    """Add compare and map to the subparsers of the command line."""
    comparing = commands.add_parser("compare", help="what each solver makes of a limb, changing nothing")
    add_bones(comparing)
    add_goal(comparing)
    add_solver(comparing, several=True)
    comparing.add_argument("--by", choices=COSTS, default="total_angle", help="cost to sort by (default: %(default)s)")
    comparing.add_argument("--frame", type=int, help="frame to compare at (default: the present one)")
    comparing.add_argument("--frame-start", type=int, help="first of several frames (then the last is as saved)")
    comparing.add_argument("--frame-end", type=int, help="last of several frames (then the first is as saved)")
    comparing.add_argument("--step", type=int, help="every so many of them")
    comparing.add_argument("--from-rest", action="store_true", help="begin with the joints at rest, not as posed")
    add_json(comparing)
    comparing.set_defaults(run=run_compare)
    mapping = commands.add_parser("map", help="an image of what it takes to reach each place round a chain")
    add_bones(mapping)
    mapping.add_argument("--frame", type=int, help="frame at which it is posed (default: the present one)")
    mapping.add_argument("--solver", type=str.upper, choices=SOLVERS, default="TRIANGULATION")
    mapping.add_argument("--finish", action="store_true", help="polish where the solver stops short; takes long")
    mapping.add_argument("--iterations", type=int, default=20, help="most steps of the solver (default: %(default)s)")
    mapping.add_argument("--tolerance", type=float, default=0.01, help="share of the reach (default: %(default)s)")
    mapping.add_argument("--size", type=_size, default=100, help="pixels a side (default: %(default)s)")
    mapping.add_argument("--metric", choices=METRICS, default="iterations", help="what to show (default: %(default)s)")
    mapping.add_argument("--scale", type=str.upper, choices=SCALES, default="HUE", help="colours")
    mapping.add_argument("--png", type=Path, metavar="FILE", help="write the picture to this file")
    mapping.add_argument("--npy", type=Path, metavar="FILE", help="write the numbers to this file")
    mapping.add_argument(
        "--volume", type=Path, metavar="FILE", help="write the places reached in space: rows of x, y, z and the metric"
    )
    mapping.add_argument("--resolution", type=_size, default=16, help="places across the volume (default: %(default)s)")
    mapping.set_defaults(run=run_map)


def run_compare(arguments: Namespace) -> bool:
    """Print a table of the solvers; whether one of them reached everything."""
    open_file(arguments.file)
    check_newer(arguments)
    scene = scene_of(arguments.scene)
    if arguments.frame is not None:
        scene.frame_set(arguments.frame)
    limb = limb_of(arguments, scene)
    frames = None
    if (arguments.frame_start, arguments.frame_end, arguments.step) != (None, None, None):
        start, end, step = range_of(arguments, limb, scene)
        check_frames(start, end, step)
        frames = range(start, end + 1, step)
    solvers = arguments.solvers or tuple(SOLVERS)
    rows = compare(limb, frames, solvers, arguments.by, arguments.from_rest, scene, scene.view_layers[0])
    if arguments.json != "-":
        print(table(rows))
    write_json([row._asdict() for row in rows], arguments.json)
    return any(row.reached == row.tasks for row in rows)


def run_map(arguments: Namespace) -> bool:
    """Write a metric map; always true, as a map has no tolerance to be out of."""
    open_file(arguments.file)
    check_newer(arguments)
    scene = scene_of(arguments.scene)
    if arguments.frame is not None:
        scene.frame_set(arguments.frame)
    armature, bones = bones_of(arguments, scene)
    if arguments.volume:
        return _run_volume(arguments, pose_of(armature, bones, scene.view_layers[0]))
    settings = arguments.size, arguments.tolerance, arguments.iterations, arguments.finish
    made = map_chain(armature, bones, arguments.solver, *settings, scene.view_layers[0])
    try:
        if arguments.png:
            made.save_png(arguments.png, arguments.metric, arguments.scale)
        if arguments.npy:
            made.save_npy(arguments.npy, arguments.metric)
    except OSError as error:
        raise IKError(f"'{error.filename}' cannot be written: {error.strerror}.") from error
    print(f"{made.coverage:.1f} % of the disc is reached", file=sys.stderr)
    return True


def _run_volume(arguments: Namespace, start: Pose) -> bool:
    settings = SolverSettings(solver=arguments.solver, iterations=arguments.iterations)
    how = {"resolution": arguments.resolution, "tolerance": arguments.tolerance}
    made = run_through(mapping_volume(start, settings, **how))
    try:
        made.save_npy(arguments.volume, arguments.metric)
    except OSError as error:
        raise IKError(f"'{error.filename}' cannot be written: {error.strerror}.") from error
    print(f"{len(made.places)} of {made.targets} places are reached ({made.coverage:.1f} %)", file=sys.stderr)
    return True


def _size(text: str) -> int:
    value = int(text) if text.isdecimal() else 0
    if not 1 <= value <= 4096:
        raise ArgumentTypeError(f"{text} is not a size from 1 to 4096")
    return value

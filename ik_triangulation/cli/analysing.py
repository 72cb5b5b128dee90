# SPDX-License-Identifier: GPL-3.0-or-later
"""Commands that change no file: compare the solvers, map the cost of reaching, list what shots use elsewhere.

The files that the shots of a list use outside of their folder, so that AWS Deadline Cloud takes them along. Source:
Deadline Cloud, asset_references.json of a job bundle.
"""

from __future__ import annotations

import json
from argparse import SUPPRESS, Namespace
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import bpy

from ..errors import IKError
from ..jobs.compare import compare
from ..kinematics import Pose
from ..maps.metric_map import map_chain, pose_of
from ..maps.properties import PlaneMapSettings, SpaceMapSettings
from ..maps.shell import map_volume
from ..rig.checks import check_frames
from ..solvers import SOLVERS, SolverSettings
from ..solvers.compare import COSTS, table
from .arguments import (
    DONE,
    FAILED,
    add_accept_misses,
    add_bones,
    add_command,
    add_file,
    add_goal,
    add_posture,
    add_quiet,
    add_range,
    add_reporting,
    add_settings,
    add_solver,
    frame,
    named_bones,
    named_limb,
    range_of,
)
from .bake_list import shots_of
from .blend import open_file
from .run import CommandResult, Console, Run


def add_analysis_commands(commands: Any) -> None:
    """Add compare and map to the subparsers of the command line."""
    comparing = add_command(
        commands, "compare", "solve a limb with every solver and compare the results, changing nothing"
    )
    add_file(comparing)
    add_bones(comparing)
    add_goal(comparing)
    add_posture(comparing)
    add_solver(comparing, several=True)
    comparing.add_argument(
        "--by", choices=COSTS, default="naturalness", help="measure to sort by (default: %(default)s)"
    )
    comparing.add_argument("--frame", type=frame, help="frame at which to compare (default: the current one)")
    add_range(comparing, "With any of these, compare over a range of frames instead of one.")
    comparing.add_argument(
        "--from-rest", action="store_true", help="start from the rest pose instead of the current pose"
    )
    add_accept_misses(comparing)
    add_reporting(comparing)
    comparing.set_defaults(run=run_compare)
    mapping = add_command(commands, "map", "map the effort or error of reaching each point around a limb")
    add_file(mapping)
    add_bones(mapping)
    mapping.add_argument("--frame", type=frame, help="frame whose pose is mapped (default: the current one)")
    add_settings(mapping, PlaneMapSettings, defaults=True)
    mapping.add_argument("--png", type=Path, metavar="FILE", help="write the map as a PNG image to this file")
    mapping.add_argument("--npy", type=Path, metavar="FILE", help="write the map's values to this NumPy file")
    mapping.add_argument(
        "--volume",
        type=Path,
        metavar="FILE",
        help="write the points reached in space to this NumPy file: rows of x, y, z and the metric",
    )
    add_settings(mapping, SpaceMapSettings, only=["resolution"], defaults=True)
    add_reporting(mapping)
    mapping.set_defaults(run=run_map)


def run_compare(arguments: Namespace, run: Run) -> CommandResult:
    """Compare the solvers; the result is reached if one of them reached every frame."""
    scene = run.open()
    if arguments.frame is not None:
        scene.frame_set(arguments.frame)
    limb = named_limb(arguments, scene)
    frames = None
    if (arguments.frame_start, arguments.frame_end, arguments.step) != (None, None, None):
        start, end, step = range_of(arguments, limb.armature, limb.tip, scene)
        check_frames(start, end, step)
        frames = range(start, end + 1, step)
    solvers = arguments.solvers or tuple(SOLVERS)
    rows = compare(limb, frames, solvers, arguments.by, arguments.from_rest, scene, scene.view_layers[0])
    return CommandResult(
        parts={"solvers": [row._asdict() for row in rows]},
        text=table(rows),
        reached=any(row.reached == row.tasks for row in rows),
    )


def run_map(arguments: Namespace, run: Run) -> CommandResult:
    """Make a metric map in the plane, or of the points reached in space."""
    scene = run.open()
    if arguments.frame is not None:
        scene.frame_set(arguments.frame)
    armature, bones = named_bones(arguments, scene)
    if arguments.volume:
        return _volume(arguments, pose_of(armature, bones, scene.view_layers[0]))
    settings = {name: getattr(arguments, name) for name in ("solver", "size", "tolerance", "iterations", "finish")}
    made = map_chain(armature, bones, **settings, view_layer=scene.view_layers[0])
    result = CommandResult(lines=[f"{made.coverage:.1f} % of the disc is reached"])
    result.parts["map"] = {**_asked(arguments), "size": arguments.size, "coverage": made.coverage}
    if arguments.png:
        how = {"scale": arguments.scale, "contours": arguments.contours}
        result.files[arguments.png] = lambda path: made.save_png(path, arguments.metric, **how)
    if arguments.npy:
        result.files[arguments.npy] = lambda path: made.save_npy(path, arguments.metric)
    return result


def _volume(arguments: Namespace, start: Pose) -> CommandResult:
    settings = SolverSettings(solver=arguments.solver, iterations=arguments.iterations)
    how = {"resolution": arguments.resolution, "tolerance": arguments.tolerance}
    made = map_volume(start, settings, **how)
    told = {"resolution": arguments.resolution, "targets": made.targets, "places": len(made.places)}
    return CommandResult(
        parts={"volume": {**_asked(arguments), **told, "coverage": made.coverage}},
        files={arguments.volume: lambda path: made.save_npy(path, arguments.metric)},
        lines=[f"{len(made.places)} of {made.targets} points are reached ({made.coverage:.1f} %)"],
    )


def _asked(arguments: Namespace) -> dict[str, str]:
    return {"solver": arguments.solver, "metric": arguments.metric}


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

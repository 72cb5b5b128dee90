# SPDX-License-Identifier: GPL-3.0-or-later
"""The commands that pose and key: solve, bake and reach."""

from __future__ import annotations

import sys
from argparse import ArgumentParser, Namespace
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from bpy.types import Scene

from ..bake import baking, solve_pose
from ..blender.limb import saved_reach
from ..presets import SUFFIX, apply_preset, find_preset, read_preset, shown_as
from ..reach import reach, reach_through, saved_stops
from ..report import Report
from ..summary import summary, summary_of_all
from ..work import run_through
from .files import destination_of, open_file, save_file, write_json
from .limbs import all_limbs, bones_of, limb_of, range_of, scene_of, stops_of
from .newer import check_newer
from .words import (
    add_bones,
    add_goal,
    add_json,
    add_keys,
    add_path,
    add_reach,
    add_reduction,
    add_saving,
    add_solver,
)


def add_commands(commands: Any) -> None:
    """Add solve, bake and reach to the subparsers of the command line."""
    solve = commands.add_parser("solve", help="pose a limb at one frame")
    _add_common(solve)
    solve.add_argument("--frame", type=int, help="frame to solve (default: the present one)")
    solve.add_argument("--key", action="store_true", help="key the pose at that frame")
    solve.set_defaults(run=run_solve)
    bake = commands.add_parser("bake", help="key a limb over a range of frames")
    _add_common(bake)
    bake.add_argument("--all", action="store_true", help="every limb of the armature that is enabled, as one")
    bake.add_argument("--frame-start", type=int, help="first frame (default: as saved, else that of the scene)")
    bake.add_argument("--frame-end", type=int, help="last frame (default: as saved, else that of the scene)")
    bake.add_argument("--step", type=int, help="key every so many frames (default: as saved, else 1)")
    add_path(bake)
    add_keys(bake)
    add_reduction(bake)
    bake.set_defaults(run=run_bake)
    reaching = commands.add_parser("reach", help="key the way from the pose at one frame to the target at another")
    _add_common(reaching)
    add_reach(reaching)
    reaching.set_defaults(run=run_reach)


def _add_common(command: ArgumentParser) -> None:
    add_bones(command)
    command.add_argument(
        "--preset", metavar="NAME", help=f"set the limb up by this preset first (a name, or a {SUFFIX} file)"
    )
    add_goal(command)
    add_solver(command)
    add_saving(command)
    add_json(command)


def run_solve(arguments: Namespace) -> bool:
    """Pose a limb; whether it reached."""
    source = open_file(arguments.file)
    check_newer(arguments)
    destination = destination_of(arguments, source)
    scene = scene_of(arguments.scene)
    if arguments.frame is not None:
        scene.frame_set(arguments.frame)
    _set_up(arguments, scene)
    limb = limb_of(arguments, scene)
    report = solve_pose(limb, scene, scene.view_layers[0], key=arguments.key)
    return _done([report], destination, scene, arguments.json)


def run_bake(arguments: Namespace) -> bool:
    """Key a limb over a range; whether it reached at every frame."""
    source = open_file(arguments.file)
    check_newer(arguments)
    destination = destination_of(arguments, source)
    scene = scene_of(arguments.scene)
    _set_up(arguments, scene)
    limbs = all_limbs(arguments, scene) if arguments.all else [limb_of(arguments, scene)]
    spans = [range_of(arguments, limb, scene) for limb in limbs]
    reports = run_through(baking(limbs, spans, scene, scene.view_layers[0]), _progress())
    return _done(reports, destination, scene, arguments.json, together=arguments.all)


def run_reach(arguments: Namespace) -> bool:
    """Key a reach; whether the tip was at its targets when it should be."""
    source = open_file(arguments.file)
    check_newer(arguments)
    destination = destination_of(arguments, source)
    scene = scene_of(arguments.scene)
    stops = stops_of(arguments, scene)
    if stops and arguments.target is None:
        arguments.target = arguments.stops[0][0]  # none need be saved
    _set_up(arguments, scene)
    limb = limb_of(arguments, scene)
    stored = limb.armature.pose.bones[limb.tip].ik_triangulation
    if (arguments.target, arguments.frame_end, arguments.hold) == (None, None, None):
        stops = saved_stops(stored)
    how = saved_reach(stored)
    how |= {name: value for name in how if (value := getattr(arguments, name)) is not None}
    where = {"scene": scene, "view_layer": scene.view_layers[0], "progress": _progress()}
    if stops:
        del how["frame_end"], how["hold"]
        report = reach_through(limb, stops, **how, **where)
    else:
        report = reach(limb, **how, **where)
    return _done([report], destination, scene, arguments.json)


def _set_up(arguments: Namespace, scene: Scene) -> None:
    """Give the bones that are named the preset that is."""
    if arguments.preset is None:
        return
    path = Path(arguments.preset) if arguments.preset.endswith(SUFFIX) else find_preset(arguments.preset)
    for note in apply_preset(*bones_of(arguments, scene), read_preset(path)).notes:
        print(f"{shown_as(path.name)}: {note}", file=sys.stderr)


def _done(
    reports: Sequence[Report], destination: Path | None, scene: Scene, json: str | None, together: bool = False
) -> bool:
    """Save and tell what was done, of each limb by its name if they were baked `together`."""
    if destination:
        save_file(destination)
    for report in reports:
        name = f"{report.tip}: " if together else ""
        for warning in report.warnings:
            print(f"Warning: {name}{warning}", file=sys.stderr)
        print(f"{name}{summary(report, scene)} ({report.seconds:.2f} s, {report.keys} keys)", file=sys.stderr)
    if together:
        print(summary_of_all(reports, scene), file=sys.stderr)
    values = [report.to_dict() for report in reports]
    write_json({"limbs": values} if together else values[0], json)
    return all(report.all_reached for report in reports)


def _progress() -> Callable[[int, int], None] | None:
    """Frames done, on one line of the terminal; nothing where standard error is no terminal."""
    if not sys.stderr.isatty():
        return None

    def show(done: int, of: int) -> None:
        if done % max(1, of // 100) == 0 or done == of:
            print(f"\r{done} of {of} frames", end="\n" if done == of else "", file=sys.stderr, flush=True)

    return show

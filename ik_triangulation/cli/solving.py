# SPDX-License-Identifier: GPL-3.0-or-later
"""The commands that pose and key: solve and bake."""

from __future__ import annotations

import sys
from argparse import ArgumentParser, Namespace
from collections.abc import Callable
from pathlib import Path
from typing import Any

from bpy.types import Scene

from ..bake import bake, solve_pose
from ..report import Report
from ..summary import summary
from .files import destination_of, open_file, save_file, write_json
from .limbs import limb_of, range_of, scene_of
from .words import add_bones, add_goal, add_json, add_keys, add_saving, add_solver


def add_commands(commands: Any) -> None:
    """Add solve and bake to the subparsers of the command line."""
    solve = commands.add_parser("solve", help="pose a limb at one frame")
    _add_common(solve)
    solve.add_argument("--frame", type=int, help="frame to solve (default: the present one)")
    solve.add_argument("--key", action="store_true", help="key the pose at that frame")
    solve.set_defaults(run=run_solve)
    baking = commands.add_parser("bake", help="key a limb over a range of frames")
    _add_common(baking)
    baking.add_argument("--frame-start", type=int, help="first frame (default: as saved, else that of the scene)")
    baking.add_argument("--frame-end", type=int, help="last frame (default: as saved, else that of the scene)")
    baking.add_argument("--step", type=int, help="key every so many frames (default: as saved, else 1)")
    add_keys(baking)
    baking.set_defaults(run=run_bake)


def _add_common(command: ArgumentParser) -> None:
    add_bones(command)
    add_goal(command)
    add_solver(command)
    add_saving(command)
    add_json(command)


def run_solve(arguments: Namespace) -> bool:
    """Pose a limb; whether it reached."""
    source = open_file(arguments.file)
    destination = destination_of(arguments, source)
    scene = scene_of(arguments.scene)
    if arguments.frame is not None:
        scene.frame_set(arguments.frame)
    limb = limb_of(arguments, scene)
    return _done(solve_pose(limb, scene, scene.view_layers[0], key=arguments.key), destination, scene, arguments.json)


def run_bake(arguments: Namespace) -> bool:
    """Key a limb over a range; whether it reached at every frame."""
    source = open_file(arguments.file)
    destination = destination_of(arguments, source)
    scene = scene_of(arguments.scene)
    limb = limb_of(arguments, scene)
    report = bake(limb, *range_of(arguments, limb, scene), scene, scene.view_layers[0], _progress())
    return _done(report, destination, scene, arguments.json)


def _done(report: Report, destination: Path | None, scene: Scene, json: str | None) -> bool:
    """Save and tell what was done."""
    if destination:
        save_file(destination)
    for warning in report.warnings:
        print(f"Warning: {warning}", file=sys.stderr)
    print(f"{summary(report, scene)} ({report.seconds:.2f} s, {report.keys} keys)", file=sys.stderr)
    write_json(report.to_dict(), json)
    return report.all_reached


def _progress() -> Callable[[int, int], None] | None:
    """Frames done, on one line of the terminal; nothing where standard error is no terminal."""
    if not sys.stderr.isatty():
        return None

    def show(done: int, of: int) -> None:
        if done % max(1, of // 100) == 0 or done == of:
            print(f"\r{done} of {of} frames", end="\n" if done == of else "", file=sys.stderr, flush=True)

    return show

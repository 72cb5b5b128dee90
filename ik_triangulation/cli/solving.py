# SPDX-License-Identifier: GPL-3.0-or-later
"""Commands that pose and key: solve, bake, reach, and target-from-animation."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from pathlib import Path
from typing import Any

from bpy.types import Scene

from ..errors import SettingError
from ..jobs.bake import bake_spans
from ..jobs.pose import solve_pose
from ..jobs.reach import reach, reach_through, saved_stops
from ..jobs.targets import target_from_animation
from ..presets import SUFFIX, find_preset, shown_as
from ..presets.file import read_preset
from ..presets.limb import apply_preset
from ..rig.limb import Limb, saved_reach
from ..settings import FrameSettings
from .arguments import (
    add_accept_misses,
    add_body,
    add_bones,
    add_command,
    add_file,
    add_goal,
    add_keys,
    add_posture,
    add_range,
    add_reach,
    add_reporting,
    add_saving,
    add_settings,
    add_solver,
    frame,
)
from .bodies import bake_one_body, bake_whole_scene, reach_one_body, result_of
from .limbs import all_limbs, named_bones, named_limb, range_of, stops_of
from .run import CommandResult, Run


def add_solving_commands(commands: Any) -> None:
    """Add solve, bake and reach to the subparsers of the command line."""
    solve = add_command(commands, "solve", "pose a limb at one frame")
    _add_common(solve)
    add_posture(solve)
    solve.add_argument("--frame", type=frame, help="frame to solve (default: the current one)")
    solve.add_argument("--key", action="store_true", help="key the pose at that frame")
    solve.set_defaults(run=run_solve)
    bake = add_command(commands, "bake", "key a limb over a range of frames")
    _add_common(bake)
    _add_bake(bake)
    bake.set_defaults(run=run_bake)
    reaching = add_command(commands, "reach", "key a movement from the pose at one frame to the target at another")
    _add_common(reaching)
    add_body(reaching, "--hold-tips", of_bake=False)  # --hold counts frames here
    add_posture(reaching)
    add_reach(reaching)
    reaching.set_defaults(run=run_reach)


def add_bake_options(command: ArgumentParser) -> None:
    """Add the options of bake: all but the files to read and to write."""
    _add_limb(command)
    _add_bake(command)
    command.set_defaults(run=run_bake)


def _add_bake(bake: ArgumentParser) -> None:
    bake.add_argument("--all", action="store_true", help="bake the enabled limbs of all armatures together")
    add_body(bake)
    add_range(bake)
    add_posture(bake, of_bake=True)
    add_keys(bake)


def _add_common(command: ArgumentParser) -> None:
    add_file(command)
    _add_limb(command)
    add_saving(command)
    add_reporting(command)


def _add_limb(command: ArgumentParser) -> None:
    add_bones(command)
    command.add_argument(
        "--preset", metavar="NAME", help=f"set the limb up by this preset first (a name, or a {SUFFIX} file)"
    )
    add_goal(command)
    add_solver(command)
    add_accept_misses(command)


def run_solve(arguments: Namespace, run: Run) -> CommandResult:
    """Pose a limb at one frame."""
    scene = run.open()
    if arguments.frame is not None:
        scene.frame_set(arguments.frame)
    notes = _set_up(arguments, scene)
    limb = named_limb(arguments, scene)
    return result_of([solve_pose(limb, scene, scene.view_layers[0], key=arguments.key)], scene, notes)


def run_bake(arguments: Namespace, run: Run) -> CommandResult:
    """Key a limb, or all limbs, over a frame range."""
    scene = run.open()
    if arguments.body or arguments.held or arguments.contacts:
        return bake_one_body(arguments, scene, run.progress())
    notes = _set_up(arguments, scene)
    if arguments.all:
        limbs, left_out = all_limbs(arguments, scene)
        notes += left_out
        whole = bake_whole_scene(arguments, limbs, scene, run.progress())
        if whole is not None:
            return result_of(whole, scene, notes, together=True)
    else:
        limbs = [named_limb(arguments, scene)]
    spans = [range_of(arguments, limb, scene) for limb in limbs]
    reports = bake_spans(limbs, spans, scene, scene.view_layers[0], progress=run.progress())
    return result_of(reports, scene, notes, together=arguments.all)


def run_reach(arguments: Namespace, run: Run) -> CommandResult:
    """Key a reach, to one target or through several stops."""
    scene = run.open()
    stops = stops_of(arguments, scene)
    if arguments.body or arguments.held:
        return reach_one_body(arguments, stops, scene, run.progress())
    if stops and arguments.target is None:
        arguments.target = arguments.stops[0][0]  # so that the limb needs no saved target
    notes = _set_up(arguments, scene)
    limb = named_limb(arguments, scene)
    stored = limb.armature.pose.bones[limb.tip].ik_triangulation
    if (arguments.target, arguments.frame_end, arguments.hold) == (None, None, None):
        stops = saved_stops(stored)
    how = saved_reach(stored)
    how |= {name: value for name in how if (value := getattr(arguments, name)) is not None}
    where = {"scene": scene, "view_layer": scene.view_layers[0], "progress": run.progress()}
    if stops:
        del how["frame_end"], how["hold"]
        report = reach_through(limb, stops, **how, **where)
    else:
        del how["prop_by"]  # of stops only
        report = reach(limb, **how, **where)
    return result_of([report], scene, notes)


def _set_up(arguments: Namespace, scene: Scene) -> list[str]:
    """Apply the preset given to the named bones; return its notes."""
    if arguments.preset is None:
        return []
    path = Path(arguments.preset) if arguments.preset.endswith(SUFFIX) else find_preset(arguments.preset)
    applied = apply_preset(*named_bones(arguments, scene), read_preset(path))
    return [f"{shown_as(path.name)}: {note}" for note in applied.notes]


def add_target_commands(commands: Any) -> None:
    """Add target-from-animation to the subparsers of the command line."""
    command = add_command(
        commands, "target-from-animation", "key the target where the animated limb goes, to edit its path and bake it"
    )
    add_file(command)
    add_bones(command)
    command.add_argument("--all", action="store_true", help="key the targets of the enabled limbs of all armatures")
    add_goal(command)
    frames = command.add_argument_group("range", "Defaults are the settings saved on the tip bone.")
    add_settings(frames, FrameSettings, only=["frame_start", "frame_end"])
    frames.add_argument(
        "--only-keys", action="store_true", help="key the target only where the limb, or its body, has keys"
    )
    add_saving(command)
    add_reporting(command)
    command.set_defaults(run=run_target_from_animation, step=None, obstacles=None)


def run_target_from_animation(arguments: Namespace, run: Run) -> CommandResult:
    """Key the target of a limb, or of all limbs, where the animation has the tips."""
    scene = run.open()
    limbs, left_out = all_limbs(arguments, scene) if arguments.all else ([named_limb(arguments, scene)], [])
    keyed = target_from_animation(
        limbs,
        *_range(arguments, limbs, scene),
        only_keys=arguments.only_keys,
        scene=scene,
        view_layer=scene.view_layers[0],
        progress=run.progress(),
    )
    return CommandResult(
        parts={"targets": [each._asdict() for each in keyed]},
        warnings=left_out,
        lines=[*left_out, *(f"{each.tip}: '{each.target}' keyed at {each.frames} frames" for each in keyed)],
    )


def _range(arguments: Namespace, limbs: list[Limb], scene: Scene) -> tuple[int, int]:
    """Return first and last frame: those given, else those saved on the tips. Raises SettingError if these differ."""
    spans = {range_of(arguments, limb, scene)[:2] for limb in limbs}
    if len(spans) > 1:
        raise SettingError("The limbs have different frame ranges. Give one with --frame-start and --frame-end.")
    return spans.pop()

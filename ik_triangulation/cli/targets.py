# SPDX-License-Identifier: GPL-3.0-or-later
"""Command target-from-animation: key targets where the animated limbs go, to edit these paths and bake them back."""

from __future__ import annotations

from argparse import Namespace
from typing import Any

from bpy.types import Scene

from ..errors import SettingError
from ..jobs.target_from_animation import target_from_animation
from ..rig.limb import Limb
from ..settings import FrameSettings
from .arguments import add_bones, add_command, add_file, add_goal, add_reporting, add_saving
from .envelope import CommandResult
from .flags import add_settings
from .limbs import all_limbs, named_limb, range_of
from .run import Run


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

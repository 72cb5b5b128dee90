# SPDX-License-Identifier: GPL-3.0-or-later
"""Commands that copy a motion: transfer, onto the IK or FK controls, and follow-rig, from another character."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from typing import Any

from bpy.types import Object, Scene

from ..errors import ChainError, RigError
from ..jobs.bake import bake_body
from ..jobs.follow_rig import follow_rig
from ..jobs.shots.keys import body_settings
from ..jobs.shots.problem import body_of
from ..jobs.transfer import transfer
from ..rig.armature import find_bone
from .arguments import add_accept_misses, add_command, add_file, add_reporting, add_saving, armature_of, frame
from .run import CommandResult, Run
from .solving import result_of


def add_copying_commands(commands: Any) -> None:
    """Add transfer and follow-rig to the subparsers of the command line."""
    copying = add_command(commands, "transfer", "give the motion that is shown to the IK or FK controls of limbs")
    _add_common(copying)
    copying.add_argument("--to", type=str.upper, choices=["IK", "FK"], required=True, help="controls that get it")
    copying.add_argument(
        "--keys",
        type=str.upper,
        choices=["SOURCE", "ALL"],
        default="SOURCE",
        help="keys where the other controls have them, or on every frame (default: source)",
    )
    copying.add_argument(
        "--bones", nargs="+", metavar="BONE", default=[], help="a bone or control of each limb (default: all limbs)"
    )
    copying.set_defaults(run=run_transfer)
    following = add_command(commands, "follow-rig", "key targets so that a body moves as another character does")
    _add_common(following)
    following.add_argument(
        "--source", metavar="ARMATURE", help="armature that moves (default: the only other one in the scene)"
    )
    following.add_argument("--bake", action="store_true", help="bake the body as well, so that its bones are keyed")
    following.add_argument(
        "--keys-on",
        type=str.upper,
        choices=["FK", "IK"],
        default="FK",
        help="controls of a generated rig that a bake keys (default: fk)",
    )
    add_accept_misses(following)
    following.set_defaults(run=run_follow_rig)


def _add_common(command: ArgumentParser) -> None:
    add_file(command)
    command.add_argument("--scene", help="scene to work in (default: the file's active scene)")
    command.add_argument("--armature", metavar="NAME", help="armature that gets the motion")
    frames = command.add_argument_group("range", "Defaults are the frames of the scene.")
    frames.add_argument("--frame-start", type=frame, help="first frame")
    frames.add_argument("--frame-end", type=frame, help="last frame")
    add_saving(command)
    add_reporting(command)


def run_transfer(arguments: Namespace, run: Run) -> CommandResult:
    """Key the controls of one side with the motion that is shown, and switch to them."""
    scene = run.open()
    armature = armature_of(arguments.armature, scene, arguments.bones)
    bones = [find_bone(armature, name).name for name in arguments.bones]
    span = _span(arguments, scene)
    where = {"scene": scene, "view_layer": scene.view_layers[0], "progress": run.progress()}
    done = transfer(armature, arguments.to, *span, arguments.keys, bones, **where)
    limbs = [each._asdict() for each in done.limbs]
    return CommandResult(
        parts={"transfer": {"armature": armature.name, "to": done.to, "limbs": limbs}},
        warnings=list(done.warnings),
        lines=[
            *(f"Warning: {warning}" for warning in done.warnings),
            *(f"{each.tip}: {each.keys} keys at {each.frames} frames of the {done.to} controls" for each in done.limbs),
        ],
    )


def run_follow_rig(arguments: Namespace, run: Run) -> CommandResult:
    """Key targets by another character's motion, and bake the body with --bake."""
    scene = run.open()
    armature, source = _pair(arguments, scene)
    span, layer = _span(arguments, scene), scene.view_layers[0]
    where = {"scene": scene, "view_layer": layer, "progress": run.progress()}
    followed = follow_rig(armature, source, *span, keys_on=arguments.keys_on, **where)
    lines = [f"'{armature.name}' follows '{source.name}' at {followed.frames} frames by {', '.join(followed.tips)}"]
    lines += [f"Warning: {doubt}" for doubt in followed.doubts]
    part = {
        "armature": armature.name,
        "source": source.name,
        "frames": followed.frames,
        "scale": followed.scale,
        "targets": list(followed.tips),
        "contacts": [each.to_dict() for each in followed.contacts],
    }
    result = CommandResult()
    if arguments.bake:
        rig = body_of(armature, followed.tips[0])
        if rig is None:
            raise ChainError(f"The limbs of '{armature.name}' are no body. Bake them with bake --all.")
        report = bake_body(rig, *span, scene=scene, view_layer=layer, settings=body_settings(rig, rig.tips[-1]))
        result = result_of([report], scene)
    result.parts["following"] = part
    result.warnings[:0], result.lines[:0] = followed.doubts, lines
    return result


def _pair(arguments: Namespace, scene: Scene) -> tuple[Object, Object]:
    """Return the armature that follows, and the one that is followed. Raises RigError if that is not clear."""
    armatures = [ob for ob in scene.objects if ob.type == "ARMATURE"]
    given = {each for each in (arguments.armature, arguments.source) if each is not None}
    others = [ob for ob in armatures if ob.name not in given]
    if len(given) == 1 and len(others) == 1:
        missing = others[0].name
        armature = armature_of(arguments.armature or missing, scene)
        return armature, armature_of(arguments.source or missing, scene)
    if arguments.armature is None or arguments.source is None:
        raise RigError(
            f"Scene '{scene.name}' has {len(armatures)} armatures. Name with --armature the one that is to follow, and "
            "with --source the one that moves."
        )
    return armature_of(arguments.armature, scene), armature_of(arguments.source, scene)


def _span(arguments: Namespace, scene: Scene) -> tuple[int, int]:
    """Return first and last frame: those given, else those of the scene."""
    given = arguments.frame_start, arguments.frame_end
    first, last = (
        there if here is None else here for here, there in zip(given, (scene.frame_start, scene.frame_end), strict=True)
    )
    return first, last

# SPDX-License-Identifier: GPL-3.0-or-later
"""The command line, the same in Blender and on the bpy module.

    blender -b rig.blend --command ik_triangulation bake --tip hand.L --target Cup --overwrite
    python -m ik_triangulation bake rig.blend --tip hand.L --target Cup --output baked.blend

Exit codes: 0 done, 1 failed (the message says why, nothing is written), 2 wrong usage, 3 done but out of tolerance.
"""

from __future__ import annotations

import json
import sys
from argparse import ArgumentParser, ArgumentTypeError, Namespace
from collections.abc import Callable, Sequence
from difflib import get_close_matches
from math import radians
from pathlib import Path
from typing import Any

import bpy
from bpy.types import Object, PoseBone, Scene

from .bake import bake, solve_pose
from .blender.limb import Limb, saved_range, saved_settings
from .errors import ChainError, IKError, RigError, TargetError
from .properties import choices
from .report import Report
from .solvers import SOLVERS
from .summary import summary

COMMAND = "ik_triangulation"
DONE, FAILED, USAGE, OUT_OF_TOLERANCE = 0, 1, 2, 3


def main(argv: Sequence[str]) -> int:
    """Run the command line and return its exit code."""
    try:
        arguments = parser().parse_args(argv)
    except SystemExit as left:  # argparse has said what is wrong, or shown the help
        return int(left.code or 0)
    try:
        report = _run(arguments)
    except IKError as error:
        print(f"IK Triangulation: {error}", file=sys.stderr)
        return FAILED
    return DONE if report.all_reached else OUT_OF_TOLERANCE


def parser() -> ArgumentParser:
    """All the words of the command line."""
    top = ArgumentParser(
        prog=COMMAND,
        description="Inverse kinematics that leaves rotation keys on the bones of the rig.",
        epilog="Exit codes: 0 done, 1 failed, 2 wrong usage, 3 done but out of tolerance.",
    )
    commands = top.add_subparsers(dest="command", required=True)
    solve = commands.add_parser("solve", help="pose a limb at one frame")
    _add_common(solve)
    solve.add_argument("--frame", type=int, help="frame to solve (default: the present one)")
    solve.add_argument("--key", action="store_true", help="key the pose at that frame")
    baking = commands.add_parser("bake", help="key a limb over a range of frames")
    _add_common(baking)
    baking.add_argument("--frame-start", type=int, help="first frame (default: as saved, else that of the scene)")
    baking.add_argument("--frame-end", type=int, help="last frame (default: as saved, else that of the scene)")
    baking.add_argument("--step", type=int, help="key every so many frames (default: as saved, else 1)")
    return top


def _add_common(command: ArgumentParser) -> None:
    command.add_argument("file", nargs="?", type=Path, help=".blend file (default: the one that is open)")
    limb = command.add_argument_group("limb", "What is not given is taken from the settings saved on the tip bone.")
    limb.add_argument("--scene", help="scene to work in (default: the one that is active in the file)")
    limb.add_argument("--armature", help="armature object (default: the only one in the scene)")
    limb.add_argument("--tip", help="bone whose tail shall reach the target")
    limb.add_argument("--chain-length", dest="chain_count", type=int, help="bones counted up from the tip, 0 for all")
    limb.add_argument("--bones", nargs="+", metavar="BONE", help="the bones to turn, instead of tip and chain length")
    limb.add_argument("--target", help="object to reach for")
    limb.add_argument("--subtarget", help="bone of the target whose head is reached for")
    limb.add_argument("--shape", type=str.upper, choices=choices("shape"), help="what of the target is to be reached")
    limb.add_argument("--orientation", type=str.upper, choices=choices("orientation"), help="how the tip is turned")
    limb.add_argument("--orient-weight", type=float, help="how much the orientation counts beside the pole")
    limb.add_argument("--pole-target", help="object that the limb bends towards")
    limb.add_argument("--pole-subtarget", help="bone of the pole target whose head counts")
    limb.add_argument("--pole-angle", type=_angle, metavar="DEGREES", help="turn of the bend away from the pole")
    limb.add_argument("--pole-weight", type=float, help="how much the pole counts beside the orientation")
    limb.add_argument("--influence", type=_share, help="0 to 1: how far to go from the animated pose to the solution")
    solver = command.add_argument_group("solver")
    solver.add_argument("--solver", type=str.upper, choices=SOLVERS)
    solver.add_argument("--tolerance", type=_distance, help="distance that counts as reached, in Blender units")
    solver.add_argument("--iterations", type=int, help="most steps of the solver in a frame")
    solver.add_argument(
        "--no-finish", dest="finish", action="store_false", default=None, help="the bare method, no polish"
    )
    solver.add_argument("--seed", type=int, help="another seed makes the polish try other poses")
    result = command.add_argument_group("result")
    where = result.add_mutually_exclusive_group(required=True)
    where.add_argument("--output", type=Path, metavar="FILE", help="save to this .blend file")
    where.add_argument("--overwrite", action="store_true", help="save to the file that was read")
    where.add_argument("--discard", action="store_true", help="save nothing, only report")
    result.add_argument(
        "--json", nargs="?", const="-", metavar="FILE", help="report as JSON (default: standard output)"
    )


def _distance(text: str) -> float:
    value = float(text)
    if not 0.0 < value < float("inf"):
        raise ArgumentTypeError(f"{text} is not a distance above zero")
    return value


def _angle(text: str) -> float:
    return radians(float(text))


def _share(text: str) -> float:
    value = float(text)
    if not 0.0 <= value <= 1.0:
        raise ArgumentTypeError(f"{text} is not from 0 to 1")
    return value


def _run(arguments: Namespace) -> Report:
    source = _open(arguments.file)
    destination = source if arguments.overwrite else arguments.output
    if arguments.output and source and arguments.output.resolve() == source.resolve():
        raise IKError(f"'{source}' is the input. Choose another output, or say --overwrite.")
    if arguments.overwrite and source is None:
        raise IKError("There is no file to overwrite. Name one to read, or say --output FILE.")
    scene = _scene(arguments.scene)
    view_layer = scene.view_layers[0]
    if arguments.command == "solve" and arguments.frame is not None:
        scene.frame_set(arguments.frame)
    limb = _limb(arguments, scene)
    if arguments.command == "solve":
        report = solve_pose(limb, scene, view_layer, key=arguments.key)
    else:
        report = bake(limb, *_range(arguments, limb, scene), scene, view_layer, _progress())
    if destination:
        _save(destination)
    _tell(report, scene, arguments.json)
    return report


def _open(file: Path | None) -> Path | None:
    """Open a file if one is named; the path of the open file, None if it was never saved."""
    if file is not None:
        if not file.is_file():
            raise IKError(f"There is no file '{file}'. Name a .blend file.")
        try:
            bpy.ops.wm.open_mainfile(filepath=str(file.resolve()))
        except RuntimeError as error:
            raise IKError(f"'{file}' cannot be opened: {str(error).strip()}") from error
    return Path(bpy.data.filepath) if bpy.data.filepath else None


def _save(destination: Path) -> None:
    try:
        bpy.ops.wm.save_as_mainfile(filepath=str(destination.resolve()), copy=True)
    except RuntimeError as error:
        raise IKError(f"'{destination}' cannot be written: {str(error).strip()}") from error
    print(f"Saved {destination}", file=sys.stderr)


def _scene(name: str | None) -> Scene:
    if name is None:
        return bpy.context.scene
    return _named(bpy.data.scenes, name, "Scene", RigError)


def _range(arguments: Namespace, limb: Limb, scene: Scene) -> tuple[int, int, int]:
    """First frame, last frame and step: what is given, else what is saved on the tip bone."""
    stored = limb.armature.pose.bones[limb.tip].ik_triangulation
    given = arguments.frame_start, arguments.frame_end, arguments.step
    saved = saved_range(stored, scene, preview=False)
    start, end, step = (there if here is None else here for here, there in zip(given, saved, strict=True))
    return start, end, step


def _limb(arguments: Namespace, scene: Scene) -> Limb:
    armature = _armature(arguments.armature, scene)
    if arguments.tip is None and arguments.bones is None:
        raise ChainError("No bones are named. Say --tip BONE, or --bones with all of them.")
    tip = _lowest(armature, arguments.bones) if arguments.bones else arguments.tip
    if arguments.tip not in {None, tip}:
        raise ChainError(f"'{arguments.tip}' is not the lowest of the bones named. Say either --tip or --bones.")
    bone: PoseBone = _named(armature.pose.bones, tip, "Bone", ChainError)
    stored = bone.ik_triangulation
    settings = saved_settings(stored) | {"chain_count": stored.chain_count}
    settings |= {name: value for name in settings if (value := getattr(arguments, name, None)) is not None}
    target = _named(scene.objects, arguments.target, "Target", TargetError) if arguments.target else stored.target
    if arguments.target and arguments.subtarget is None:
        settings["subtarget"] = ""
    if arguments.pole_target:
        settings["pole_target"] = _named(scene.objects, arguments.pole_target, "Pole target", TargetError)
        settings["pole_subtarget"] = arguments.pole_subtarget or ""
    if arguments.bones:
        del settings["chain_count"]
        return Limb.from_bones(armature, arguments.bones, target, **settings)
    return Limb.from_tip(armature, tip, target, **settings)


def _lowest(armature: Object, names: Sequence[str]) -> str:
    bones = [_named(armature.data.bones, name, "Bone", ChainError) for name in names]
    return str(max(bones, key=lambda bone: len(bone.parent_recursive)).name)


def _armature(name: str | None, scene: Scene) -> Object:
    armatures = [ob for ob in scene.objects if ob.type == "ARMATURE"]
    if name is not None:
        return _named({ob.name: ob for ob in armatures}, name, "Armature", RigError)
    if len(armatures) != 1:
        found = ", ".join(f"'{ob.name}'" for ob in armatures) or "none"
        raise RigError(
            f"Scene '{scene.name}' has {len(armatures)} armatures ({found}). Say which with --armature NAME."
        )
    return armatures[0]


def _named(things: Any, name: str, what: str, error: type[IKError]) -> Any:
    thing = things.get(name)
    if thing is None:
        names = list(things.keys())
        likely = get_close_matches(name, names, n=6, cutoff=0.5) or names[:12]
        raise error(f"{what} '{name}' is not there. Choose one of {', '.join(map(repr, likely)) or 'none'}.")
    return thing


def _tell(report: Report, scene: Scene, where: str | None) -> None:
    for warning in report.warnings:
        print(f"Warning: {warning}", file=sys.stderr)
    print(f"{summary(report, scene)} ({report.seconds:.2f} s, {report.keys} keys)", file=sys.stderr)
    if where is None:
        return
    text = json.dumps(report.to_dict(), indent=2)
    if where == "-":
        print(text)
        return
    try:
        Path(where).write_text(text + "\n", encoding="utf-8")
    except OSError as error:
        raise IKError(f"'{where}' cannot be written: {error.strerror}.") from error


def _progress() -> Callable[[int, int], None] | None:
    """Frames done, on one line of the terminal; nothing where standard error is no terminal."""
    if not sys.stderr.isatty():
        return None

    def show(done: int, of: int) -> None:
        if done % max(1, of // 100) == 0 or done == of:
            print(f"\r{done} of {of} frames", end="\n" if done == of else "", file=sys.stderr, flush=True)

    return show


_handles: list[Any] = []


def register() -> None:
    _handles.append(bpy.utils.register_cli_command(COMMAND, main))


def unregister() -> None:
    while _handles:
        bpy.utils.unregister_cli_command(_handles.pop())

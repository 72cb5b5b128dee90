# SPDX-License-Identifier: GPL-3.0-or-later
"""Commands that pose and key limbs and whole bodies: solve, bake, reach, and target-from-animation."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from bpy.types import Object, Scene

from ..cooperative import Progress
from ..errors import ChainError, SettingError
from ..jobs.bake import BodyBake, bake_bodies, bake_spans
from ..jobs.find_contacts import feet_of, find_contacts, named_meshes
from ..jobs.pose import solve_pose
from ..jobs.reach import Stop, body_stop, reach, reach_through, reach_with_body, saved_stops
from ..jobs.shots.keys import body_settings
from ..jobs.shots.problem import bodies_and_tips, body_of
from ..jobs.shots.report import Report, summary, summary_of_all
from ..jobs.targets import target_from_animation
from ..presets import SUFFIX, find_preset, shown_as
from ..presets.file import read_preset
from ..presets.limb import apply_preset
from ..rig.armature import find_bone
from ..rig.body import RigBody
from ..rig.limb import Limb, has_limbs, saved_reach
from ..settings import (
    BendSettings,
    ChainSettings,
    Flag,
    FrameSettings,
    GoalSettings,
    KeySettings,
    MethodSettings,
    PostureSettings,
    settings_of,
)
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
    all_limbs,
    armature_of,
    collection_of,
    frame,
    named_bones,
    named_limb,
    range_of,
    stops_of,
)
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
    spans = [range_of(arguments, limb.armature, limb.tip, scene) for limb in limbs]
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
    spans = {range_of(arguments, limb.armature, limb.tip, scene)[:2] for limb in limbs}
    if len(spans) > 1:
        raise SettingError("The limbs have different frame ranges. Give one with --frame-start and --frame-end.")
    return spans.pop()


_OF_A_LIMB = ("bones", "preset", "all")
_OF_ALL = (
    "tolerance",
    "angle_tolerance",
    "influence",
    "soft_edge",
    "effort_weight",
    "rest_weight",
    "rest_pose",
    "obstacles",
    "obstacle_margin",
    "obstacle_weight",
)  # settings of limbs that are given to all that reach


def bake_one_body(arguments: Namespace, scene: Scene, progress: Progress | None) -> CommandResult:
    """Bake the body of an armature over a frame range; report a part for each tip."""
    if arguments.contacts:
        _check_options(arguments)
        armature = _given_armature(arguments, scene)
        feet = feet_of(armature)
        start, end, _ = range_of(arguments, armature, feet[0] if feet else armature.pose.bones[0].name, scene)
        supports = None if arguments.supports is None else named_meshes(arguments.supports, scene)
        find_contacts(armature, start, end, (), scene, scene.view_layers[0], supports)
    elif arguments.supports is not None:
        raise SettingError("--on names what hands and feet touch. Give --contacts as well.")
    bake = _with_given(arguments, _given_body(arguments, scene), scene, arguments.tip)
    (report,), _ = bake_bodies([bake], (), (), scene, scene.view_layers[0], progress=progress)
    return result_of([report], scene)


def result_of(
    reports: Sequence[Report], scene: Scene, notes: Sequence[str] = (), together: bool = False
) -> CommandResult:
    """Return the result of a command for bodies and limbs; messages name the limb if limbs were baked `together`."""
    bodies, limbs = ([each for each in reports if bool(each.hips) is whole] for whole in (True, False))
    lines, several = [*notes], len({report.armature for report in limbs}) > 1
    for report in [*bodies, *limbs]:
        of = f"{report.armature}, {report.tip}" if several else report.tip
        name = f"{of}: " if together and not report.hips else ""
        lines += [f"Warning: {name}{warning}" for warning in report.warnings]
        lines.append(f"{name}{summary(report, scene)} ({report.seconds:.2f} s, {report.keys} keys)")
    if together and limbs:
        lines.append(summary_of_all(limbs, scene))
    parts = [report.to_dict() for report in bodies]
    return CommandResult(
        [report.to_dict() for report in limbs],
        {"bodies": parts} if parts and together else {"body": parts[0]} if parts else {},
        tips=[tip for report in [*bodies, *limbs] for tip in report.tips.values()],
        warnings=[*notes, *(warning for report in bodies for warning in report.warnings)],
        lines=lines,
        reached=all(report.reached if report.hips else report.all_reached for report in reports),
    )


def reach_one_body(
    arguments: Namespace, stops: Sequence[Stop], scene: Scene, progress: Progress | None
) -> CommandResult:
    """Reach with a body through `stops`, or to the targets saved in the file; report a part for each tip."""
    rig = _with_all(arguments, _given_body(arguments, scene))
    tip = arguments.tip or rig.limbs[0].tip
    stored = rig.armature.pose.bones[tip].ik_triangulation
    if not stops and (arguments.frame_end, arguments.hold) == (None, None):
        stops = saved_stops(stored)
    how = saved_reach(stored)
    how |= {name: value for name in how if (value := getattr(arguments, name)) is not None}
    last, hold, _ = how.pop("frame_end"), how.pop("hold"), how.pop("prop_by")  # a body takes no props
    report = reach_with_body(
        rig,
        stops or [body_stop(rig, tip, last, hold)],
        **how,
        tip="" if tip in rig.held else tip,
        scene=scene,
        view_layer=scene.view_layers[0],
        progress=progress,
    )
    return result_of([report], scene)


def bake_whole_scene(
    arguments: Namespace, limbs: Sequence[Limb], scene: Scene, progress: Progress | None
) -> list[Report] | None:
    """Bake all limbs of a scene with the bodies that some are of, and return the reports; None without any body."""
    armatures = {limb.armature.name: limb.armature for limb in limbs}
    found = [(armature, *bodies_and_tips(armature)) for armature in armatures.values()]
    if not any(rigs for _, rigs, _ in found):
        return None
    alone = {(armature.name, tip) for armature, _, tips in found for tip in tips}
    others = [limb for limb in limbs if (limb.armature.name, limb.tip) in alone]
    bakes = [_with_given(arguments, rig, scene) for _, rigs, _ in found for rig in rigs]
    spans = [range_of(arguments, limb.armature, limb.tip, scene) for limb in others]
    where = scene, scene.view_layers[0]
    bodies, reports = bake_bodies(bakes, others, spans, *where, progress=progress)
    return [*bodies, *reports]


def _given_body(arguments: Namespace, scene: Scene) -> RigBody:
    """Return the body of the armature that is named, set as given."""
    _check_options(arguments)
    return _body(arguments, _given_armature(arguments, scene))


def _given_armature(arguments: Namespace, scene: Scene) -> Object:
    """Return the armature that is named, with its body set as given."""
    named = [*(arguments.held or []), *([arguments.tip] if arguments.tip else [])]
    armature = armature_of(arguments.armature, scene, named)
    _set(arguments, armature)
    return armature


def _check_options(arguments: Namespace) -> None:
    """Raise SettingError for options that single limbs have and bodies do not."""
    groups = settings_of(ChainSettings, GoalSettings, BendSettings, MethodSettings, PostureSettings)
    flags = {name: row.flag.name for name, row in groups.items() if isinstance(row.flag, Flag)}
    taken = ("smoothing", *_OF_ALL)
    for name in (*_OF_A_LIMB, *flags):
        if getattr(arguments, name, None) not in (None, False) and name not in taken:
            flag = flags.get(name, f"--{name.replace('_', '-')}")
            raise SettingError(f"{flag} is for single limbs. A body reaches for the targets saved in the file.")


def _with_given(arguments: Namespace, rig: RigBody, scene: Scene, tip: str | None = None) -> BodyBake:
    """Return the bake of a body by the settings saved on a tip, by default of the last, and those given."""
    tip = tip or rig.tips[-1]
    rig = _with_all(arguments, rig)
    names = (*settings_of(KeySettings), "smoothing")
    given = {name: value for name in names if (value := getattr(arguments, name, None)) is not None}
    if "reduce_tolerance" in given:
        given |= {"reduce": True, "within": dict.fromkeys(rig.tips, given["reduce_tolerance"])}
    span = range_of(arguments, rig.armature, tip, scene)
    return BodyBake(rig, span, replace(body_settings(rig, tip), **given))


def _with_all(arguments: Namespace, rig: RigBody) -> RigBody:
    """Return a body whose limbs all have the settings that are given."""
    some = {name: value for name in _OF_ALL if (value := getattr(arguments, name, None)) is not None}
    if "obstacles" in some:
        some["obstacles"] = collection_of(some["obstacles"])
    return replace(rig, limbs=tuple(replace(limb, **some) for limb in rig.limbs)) if some else rig


def _set(arguments: Namespace, armature: Object) -> None:
    """Store what is given about the body in the armature."""
    for name in arguments.held or ():
        armature.pose.bones[find_bone(armature, name).name].ik_triangulation.hold = True
    body = armature.ik_triangulation
    for name in ("hips", "hips_motion", "balance", "floor", "heels", "look_at_hands", "swing_arms", "thickness"):
        value = getattr(arguments, name)
        if value is not None:
            setattr(body, name, value)
    if body.hips:
        find_bone(armature, body.hips)


def _body(arguments: Namespace, armature: Object) -> RigBody:
    """Return the body of the named tip, by default of the first limb that is part of one."""
    if arguments.tip:
        tips = [find_bone(armature, arguments.tip).name]
    else:
        has_limbs(armature)
        stored = ((bone.name, bone.ik_triangulation) for bone in armature.pose.bones)
        tips = [name for name, limb in stored if limb.hold or (limb.target and limb.enabled)]
    found = next((body for tip in tips if (body := body_of(armature, tip)) is not None), None)
    if found is None:
        raise ChainError(f"No limbs of '{armature.name}' are solved together. Name held tips with --hold.")
    return found

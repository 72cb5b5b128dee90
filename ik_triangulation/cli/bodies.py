# SPDX-License-Identifier: GPL-3.0-or-later
"""Commands bake and reach for a whole body: the limbs of an armature that are solved together."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Sequence
from dataclasses import replace

from bpy.types import Object, Scene

from ..cooperative import Progress
from ..errors import ChainError, SettingError
from ..jobs.bake import BodyBake, bake_bodies
from ..jobs.find_contacts import feet_of, find_contacts, named_meshes
from ..jobs.keys import body_settings
from ..jobs.problem import bodies_and_tips, body_of
from ..jobs.reach import Stop, body_stop, reach_with_body, saved_stops
from ..jobs.report import Report, summary, summary_of_all
from ..rig.armature import find_bone
from ..rig.body import RigBody
from ..rig.limb import Limb, has_limbs, saved_range, saved_reach
from ..settings import (
    BendSettings,
    Flag,
    GoalSettings,
    KeySettings,
    MethodSettings,
    PostureSettings,
    settings_of,
)
from .limbs import armature_of, range_of
from .run import CommandResult

_OF_A_LIMB = ("bones", "target", "preset", "chain_count", "all")
_OF_ALL = (
    "tolerance",
    "angle_tolerance",
    "influence",
    "soft_edge",
)  # settings of limbs that are given to all that reach


def bake_one_body(arguments: Namespace, scene: Scene, progress: Progress | None) -> CommandResult:
    """Bake the body of an armature over a frame range; report a part for each tip."""
    if arguments.contacts:
        _check_options(arguments)
        armature = _given_armature(arguments, scene)
        feet = feet_of(armature)
        start, end, _ = _range(arguments, armature, feet[0] if feet else armature.pose.bones[0].name, scene)
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
    rig = _given_body(arguments, scene)
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
    spans = [range_of(arguments, limb, scene) for limb in others]
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
    groups = settings_of(GoalSettings, BendSettings, MethodSettings, PostureSettings)
    flags = {name: row.flag.name for name, row in groups.items() if isinstance(row.flag, Flag)}
    taken = ("smoothing", *_OF_ALL)
    for name in (*_OF_A_LIMB, *flags):
        if getattr(arguments, name, None) not in (None, False) and name not in taken:
            flag = flags.get(name, f"--{name.replace('_', '-')}")
            raise SettingError(f"{flag} is for single limbs. A body reaches for the targets saved in the file.")


def _with_given(arguments: Namespace, rig: RigBody, scene: Scene, tip: str | None = None) -> BodyBake:
    """Return the bake of a body by the settings saved on a tip, by default of the last, and those given."""
    tip = tip or rig.tips[-1]
    some = {name: value for name in _OF_ALL if (value := getattr(arguments, name, None)) is not None}
    limbs = tuple(replace(limb, **some) for limb in rig.limbs) if some else rig.limbs
    names = (*settings_of(KeySettings), "smoothing")
    given = {name: value for name in names if (value := getattr(arguments, name, None)) is not None}
    if "reduce_tolerance" in given:
        given |= {"reduce": True, "within": dict.fromkeys(rig.tips, given["reduce_tolerance"])}
    span = _range(arguments, rig.armature, tip, scene)
    return BodyBake(replace(rig, limbs=limbs), span, replace(body_settings(rig, tip), **given))


def _set(arguments: Namespace, armature: Object) -> None:
    """Store what is given about the body in the armature."""
    for name in arguments.held or ():
        armature.pose.bones[find_bone(armature, name).name].ik_triangulation.hold = True
    body = armature.ik_triangulation
    for name in ("hips", "hips_motion", "balance", "floor", "heels", "thickness"):
        value = getattr(arguments, name)
        if value is not None:
            setattr(body, name, value)
    if body.hips:
        find_bone(armature, body.hips)


def _range(arguments: Namespace, armature: Object, tip: str, scene: Scene) -> tuple[int, int, float]:
    """Return first frame, last frame and step: those given, else those saved on a tip."""
    given = arguments.frame_start, arguments.frame_end, arguments.step
    saved = saved_range(armature.pose.bones[tip].ik_triangulation, scene, preview=False)
    start, end, step = (there if here is None else here for here, there in zip(given, saved, strict=True))
    return start, end, step


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

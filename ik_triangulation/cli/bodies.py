# SPDX-License-Identifier: GPL-3.0-or-later
"""Command bake for a whole body: the limbs of an armature that are solved together."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Callable
from typing import Any

from bpy.types import Object, Scene

from ..errors import ChainError, SettingError
from ..jobs.bodies import bake_body_as_set, body_of
from ..jobs.body_report import BodyReport
from ..jobs.body_text import body_summary
from ..jobs.contacts import feet_of, find_contacts
from ..rig.armature import find_bone
from ..rig.body import RigBody
from ..rig.limb import has_limbs, saved_range
from ..rig.units import scale_of
from .envelope import CommandResult
from .limbs import armature_of

_OF_A_LIMB = ("bones", "target", "preset", "all")


def bake_one_body(arguments: Namespace, scene: Scene, progress: Callable[[int, int], None] | None) -> CommandResult:
    """Bake the body of an armature over a frame range; report a part for each tip."""
    for name in _OF_A_LIMB:
        if getattr(arguments, name):
            raise SettingError(f"--{name} is for single limbs. A body is baked to the targets saved in the file.")
    named = [*(arguments.held or []), *([arguments.tip] if arguments.tip else [])]
    armature = armature_of(arguments.armature, scene, named)
    _set(arguments, armature)
    if arguments.contacts:
        feet = feet_of(armature)
        start, end, _ = _range(arguments, armature, feet[0] if feet else armature.pose.bones[0].name, scene)
        find_contacts(armature, start, end, feet, scene, scene.view_layers[0])
    rig = _body(arguments, armature)
    start, end, step = _range(arguments, armature, rig.tips[-1], scene)
    report = bake_body_as_set(rig, (start, end, step), scene, scene.view_layers[0], progress=progress)
    warnings = list(report.warnings)
    lines = [f"Warning: {warning}" for warning in warnings]
    summary = body_summary(report, scene, scale_of(armature))
    lines.append(f"{summary} ({report.seconds:.2f} s, {report.keys} keys)")
    return CommandResult(parts={"body": _to_dict(report, rig)}, warnings=warnings, lines=lines, reached=report.reached)


def _set(arguments: Namespace, armature: Object) -> None:
    """Store what is given about the body in the armature."""
    for name in arguments.held or ():
        armature.pose.bones[find_bone(armature, name).name].ik_triangulation.hold = True
    body = armature.ik_triangulation
    for name in ("hips", "hips_motion", "balance"):
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


def _to_dict(report: BodyReport, rig: RigBody) -> dict[str, Any]:
    """Return plain values for JSON: angles [rad], distances in Blender units, world space."""
    scale = scale_of(rig.armature)
    return {
        "armature": rig.armature.name,
        "hips": rig.hips,
        "frames": len(report.frames),
        "keys": report.keys,
        "contacts": [contact._asdict() for contact in rig.contacts],
        "centre_of_mass_outside": None if report.outside is None else report.outside * scale,
        "seconds": report.seconds,
        "tips": [
            {
                "tip": name,
                "held": tip.held,
                "reached": not tip.missed,
                "largest_distance": tip.error * scale,
                "largest_angle": tip.angle,
                "missed": list(tip.missed),
            }
            for name, tip in report.tips.items()
        ],
    }

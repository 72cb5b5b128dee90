# SPDX-License-Identifier: GPL-3.0-or-later
"""The jobs for programs that speak JSON, such as agents: ten calls, of which those that write verify what they wrote.

    call({"call": "bake", "armature": "Rig", "frame_start": 1, "frame_end": 60})

A call takes names and numbers and returns plain values. It raises nothing that a request can cause: what cannot be
carried out is in `error`, with its remedy, and has changed nothing.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from difflib import get_close_matches
from inspect import Parameter, signature
from math import isfinite
from typing import Any

import bpy
from bpy.types import Object, bpy_prop_array
from mathutils import Euler, Quaternion, Vector

from .. import __version__
from ..errors import ChainError, IKError, SettingError
from ..rig.anatomy.limbs import ARM, FIN, FINGER, LEG, NECK, SPINE, TAIL, WING, Anatomy
from ..rig.armature import find_bone
from ..rig.checks import check_armature
from ..rig.controls import Controls
from ..rig.limb import LIMB_SETTINGS, Limb, enabled_tips, has_limbs
from ..rig.targets.untouched import is_waiting
from ..rig.units import distance_text
from ..settings import check_registered
from .bake import BodyBake, bake_bodies, delete_generated
from .pose import verify as verify_tips
from .reach import reach as reach_with_limb
from .removal import remove_everything
from .setup import add_limbs, doubts_about, set_up_body
from .shots.keys import body_settings
from .shots.problem import bodies_and_tips
from .shots.report import Report, TipReport, missed_frames_of
from .targets import key_place

_VECTORS = bpy_prop_array, Vector, Euler, Quaternion  # values that change with the property
_KINDS = (ARM, LEG, NECK, SPINE, TAIL, WING, FIN, FINGER)


@dataclass
class _Answer:
    """Answer of a call: what is particular to it, and the tips and warnings as in a report."""

    result: Any = None
    tips: list[TipReport] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)


def call(request: Mapping[str, Any] | str) -> dict[str, Any]:
    """Carry out one request, a mapping or its JSON text, and return what came of it as plain values.

    The request has the name of a call in `call`, and its arguments. The answer has `result`, what differs from call to
    call; `reached`, `missed`, `tips` and `warnings` as a report has them; and `error`, None or what was wrong.
    """
    try:
        loaded = json.loads(request) if isinstance(request, str) else request
    except ValueError as error:
        return _answer("", _Answer(), f"The request is no JSON object: {error}.")
    if not isinstance(loaded, Mapping):
        return _answer("", _Answer(), "The request is no JSON object. Give it a 'call' and its arguments by name.")
    given = dict(loaded)
    name = str(given.pop("call", ""))
    try:
        check_registered()
        answer = _CALLS[_known(name, _CALLS, "call")](**_checked(name, given))
    except IKError as error:
        return _answer(name, _Answer(), str(error))
    return _answer(name, answer)


def _describe() -> _Answer:
    """Return the calls, with their arguments, types and defaults."""
    return _Answer({name: _description(job) for name, job in _CALLS.items()})


def _list() -> _Answer:
    """Return the armatures of the scene with their limbs, bodies and targets, as they are set up."""
    return _Answer([_armature_as_set_up(ob) for ob in bpy.context.scene.objects if ob.type == "ARMATURE"])


def _propose(armature: str) -> _Answer:
    """Return the limbs that are recognized in an armature, whether they are set up or not, and what is in doubt."""
    rig = _rig(armature)
    anatomy = Anatomy(rig, Controls(rig))
    found = [limb for kind in _KINDS for limb in anatomy.limbs(kind)]
    limbs = [
        {
            "tip": limb.bones[-1],
            "kind": limb.kind.name,
            "side": limb.side,
            "bones": list(limb.bones),
            "is_set_up": rig.pose.bones[limb.bones[-1]].ik_triangulation.target is not None,
        }
        for limb in found
    ]
    return _Answer({"limbs": limbs, "doubts": list(doubts_about(anatomy, found))})


def _set_up(armature: str, tips: Sequence[str] = (), target: str = "", relax_arms: bool = True) -> _Answer:
    """Set up a limb for each of the tips, or without any a body of hands, feet and head, whose arms hang if spread."""
    rig = _rig(armature)
    if tips:
        made = add_limbs(rig, list(tips), _object(target) if target else None)
        return _Answer({"limbs": made, "targets": {tip: _target_of(rig, tip) for tip in made}})
    body = set_up_body(rig, relax_arms=relax_arms)
    targets = {tip: _target_of(rig, tip) for tip in (*body.reach, *body.looking)}
    return _Answer({**body._asdict(), "targets": targets}, warnings=list(body.doubts))


def _settings(armature: str, tip: str, values: Mapping[str, Any] = {}) -> _Answer:
    """Change settings of a limb, and return all that are numbers, words or yes and no."""
    stored = _rig(armature).pose.bones[_tip(armature, tip)].ik_triangulation
    for name in values:
        _known(name, LIMB_SETTINGS, "setting")
    before = {name: getattr(stored, name) for name in values}
    before = {name: value[:] if isinstance(value, _VECTORS) else value for name, value in before.items()}
    try:
        for name, value in values.items():
            setattr(stored, name, value)
    except (TypeError, ValueError, AttributeError) as error:
        for old, value in before.items():
            setattr(stored, old, value)
        raise SettingError(f"A setting cannot have this value: {' '.join(str(error).split())}.") from error
    shown = {name: getattr(stored, name) for name in LIMB_SETTINGS}
    return _Answer({name: value for name, value in shown.items() if isinstance(value, bool | int | float | str)})


def _place(target: str, frame: float, location: Sequence[float], rotation: Sequence[float] = ()) -> _Answer:
    """Key the place of a target at a frame: location in world space, rotation as a quaternion w, x, y, z."""
    ob = _object(target)
    is_turn = not rotation or (len(rotation) == 4 and any(rotation))
    if len(location) != 3 or not is_turn or not all(map(isfinite, (*location, *rotation))):
        raise SettingError(
            "A location is three finite numbers, a rotation a quaternion of w, x, y, z that are not all 0."
        )
    key_place(ob, frame, Vector(location), Quaternion(rotation) if rotation else None)
    return _Answer({"target": ob.name, "frame": frame})


def _bake(armature: str, frame_start: int, frame_end: int, step: float = 1) -> _Answer:
    """Bake all limbs and bodies of an armature that are enabled, and verify what is shown then."""
    rig = _rig(armature)
    bodies, tips = bodies_and_tips(rig)
    span = frame_start, frame_end, step
    bakes = [BodyBake(body, span, body_settings(body, body.tips[-1])) for body in bodies]
    limbs = [Limb.of(rig.pose.bones[tip]) for tip in tips]
    of_bodies, of_limbs = bake_bodies(bakes, limbs, [span] * len(limbs))
    return _verified(rig, [*of_bodies, *of_limbs], span)


def _reach(armature: str, tip: str, frame_start: int, frame_end: int, hold: int = 0) -> _Answer:
    """Key a movement of a limb from its pose at the first frame to its target at the last, and verify the arrival."""
    rig = _rig(armature)
    limb = Limb.of(rig.pose.bones[_tip(armature, tip)])
    report = reach_with_limb(limb, frame_start, frame_end, hold=hold)
    return _verified(rig, [report], (frame_end, frame_end + hold, 1))


def _verify(armature: str, frame_start: int, frame_end: int, step: float = 1) -> _Answer:
    """Measure where the tips are against their targets, on what Blender shows, without changing anything."""
    tips = verify_tips(_rig(armature), frame_start, frame_end, step)
    return _Answer({"frames": [frame_start, frame_end, step]}, list(tips.values()))


def _undo(armature: str, everything: bool = False) -> _Answer:
    """Delete the baked keys and put back those that they replaced; or remove everything that was made for the rig."""
    rig = _rig(armature)
    if everything:
        return _Answer(remove_everything(rig)._asdict())
    notes = list[str]()
    keys = delete_generated(rig, [bone.name for bone in rig.pose.bones], notes=notes)
    return _Answer({"keys": keys}, warnings=notes)


_CALLS: dict[str, Callable[..., _Answer]] = {
    "describe": _describe,
    "list": _list,
    "propose": _propose,
    "set_up": _set_up,
    "settings": _settings,
    "place": _place,
    "bake": _bake,
    "reach": _reach,
    "verify": _verify,
    "undo": _undo,
}


def _answer(name: str, answer: _Answer, error: str | None = None) -> dict[str, Any]:
    """Return the answer to a call as plain values, with the names of a report."""
    return {
        "version": __version__,
        "call": name,
        "reached": error is None and all(tip.reached for tip in answer.tips),
        "missed": missed_frames_of(answer.tips),
        "tips": [tip.to_dict() for tip in answer.tips],
        "warnings": answer.warnings,
        "error": error,
        "result": answer.result,
    }


def _description(job: Callable[..., _Answer]) -> dict[str, Any]:
    """Return what a call does and its arguments, each with its type and, if it may be left out, its default."""
    arguments = {}
    for name, parameter in signature(job).parameters.items():
        arguments[name] = {"type": _JSON[str(parameter.annotation)][1]}
        if parameter.default is not Parameter.empty:
            default = parameter.default
            arguments[name]["default"] = list(default) if isinstance(default, tuple) else default
    return {"does": str(job.__doc__), "arguments": arguments}


# What Python calls a type, by its annotation: the classes that JSON's values have, and what JSON calls them.
_JSON: dict[str, tuple[type | tuple[type, ...], str]] = {
    "str": (str, "string"),
    "bool": (bool, "boolean"),
    "int": (int, "whole number"),
    "float": ((int, float), "number"),
    "Sequence[str]": ((list, tuple), "list of strings"),
    "Sequence[float]": ((list, tuple), "list of numbers"),
    "Mapping[str, Any]": (Mapping, "JSON object"),
}


def _checked(name: str, given: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the arguments of a call. Raises SettingError for unknown, missing or mistyped ones."""
    parameters = signature(_CALLS[name]).parameters
    for argument, value in given.items():
        parameter = parameters[_known(str(argument), parameters, f"argument of '{name}'")]
        classes, word = _JSON[str(parameter.annotation)]
        is_number = isinstance(value, bool) and classes is not bool  # to Python yes and no are numbers
        inside = (str,) if "str]" in str(parameter.annotation) else (int, float)
        if (
            not isinstance(value, classes)
            or is_number
            or (isinstance(value, list | tuple) and not all(isinstance(each, inside) for each in value))
        ):
            raise SettingError(f"'{argument}' of '{name}' is a {word}, not {value!r:.40}.")
    for argument, parameter in parameters.items():
        if parameter.default is Parameter.empty and argument not in given:
            raise SettingError(f"'{name}' needs '{argument}', a {_JSON[str(parameter.annotation)][1]}.")
    return given


def _known(name: str, names: Collection[str], kind: str) -> str:
    """Return a name that is among these. Raises SettingError that says which one may be meant."""
    if name not in names:
        near = get_close_matches(name, names, 1)
        remedy = f"Is '{near[0]}' meant?" if near else f"There are {', '.join(names)}."
        raise SettingError(f"There is no {kind} '{name}'. {remedy}")
    return name


def _object(name: str) -> Object:
    return bpy.data.objects[_known(name, bpy.data.objects.keys(), "object")]


def _rig(name: str) -> Object:
    """Return the armature of that name. Raises SettingError or RigError if it cannot be posed."""
    rig = _object(name)
    check_armature(rig, bpy.context.view_layer)
    return rig


def _tip(armature: str, tip: str) -> str:
    """Return the name of the bone that a limb ends in. Raises ChainError if there is none."""
    rig = _object(armature)
    bone = rig.pose.bones[find_bone(rig, tip).name]
    if bone.ik_triangulation.target is None and not bone.ik_triangulation.hold:
        raise ChainError(f"No limb of '{armature}' ends in '{tip}'. Call set_up with this tip first.")
    return str(bone.name)


def _target_of(rig: Object, tip: str) -> str:
    target = rig.pose.bones[tip].ik_triangulation.target
    return target.name if target else ""


def _armature_as_set_up(rig: Object) -> dict[str, Any]:
    """Return the limbs of an armature as they are set up."""
    limbs = [
        {
            "tip": bone.name,
            "target": _target_of(rig, bone.name),
            "is_held": bone.ik_triangulation.hold,
            "is_enabled": bone.ik_triangulation.enabled,
            "is_waiting": is_waiting(bone),
            "chain_count": bone.ik_triangulation.chain_count,
        }
        for bone in rig.pose.bones
        if bone.ik_triangulation.target or bone.ik_triangulation.hold
    ]
    return {"armature": rig.name, "bones": len(rig.pose.bones), "limbs": limbs}


def _verified(rig: Object, reports: Sequence[Report], span: tuple[int, int, float]) -> _Answer:
    """Return the answer for reports of what was written, and beside it what a second look at the frames shows."""
    tips = [tip for report in reports for tip in report.tips.values()]
    warnings = [warning for report in reports for warning in report.warnings]
    shown: dict[str, TipReport] = {}
    for name in dict.fromkeys([*(enabled_tips(rig) if has_limbs(rig) else ()), *(tip.tip for tip in tips)]):
        bone = rig.pose.bones[name]
        if bone.ik_triangulation.target is None or is_waiting(bone):  # one that is held, or asks for nothing
            continue
        try:
            shown |= verify_tips(rig, *span, tips=[name])
        except IKError as error:  # the keys are there
            warnings.append(f"'{name}' was not measured a second time: {error}")
    for tip in tips:
        seen = shown.get(tip.tip)
        if seen is not None and tip.reached and not seen.reached:
            away = distance_text(seen.largest_distance, bpy.context.scene)
            warnings.append(f"'{tip.tip}' was reported to reach, but is {away} away as shown.")
    return _Answer(
        {"reports": [report.to_dict() for report in reports], "shown": [each.to_dict() for each in shown.values()]},
        tips,
        warnings,
    )

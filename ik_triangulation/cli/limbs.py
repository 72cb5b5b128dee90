# SPDX-License-Identifier: GPL-3.0-or-later
"""Scenes, armatures, bones and targets named on the command line."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Sequence
from difflib import get_close_matches
from typing import Any

import bpy
from bpy.types import Object, PoseBone, Scene

from ..errors import ChainError, IKError, RigError, SettingError, TargetError
from ..jobs.reach import Stop
from ..rig.armature import bones_from_tip
from ..rig.checks import check_armature
from ..rig.limb import Limb, enabled_tips, has_limbs, saved_range, saved_settings


def scene_of(name: str | None) -> Scene:
    """Return the scene of that name, by default the active one."""
    if name is None:
        return bpy.context.scene
    return _named(bpy.data.scenes, name, "Scene", RigError)


def range_of(arguments: Namespace, limb: Limb, scene: Scene) -> tuple[int, int, int]:
    """Return first frame, last frame and step: as given, by default as saved on the tip bone."""
    stored = limb.armature.pose.bones[limb.tip].ik_triangulation
    given = arguments.frame_start, arguments.frame_end, arguments.step
    saved = saved_range(stored, scene, preview=False)
    start, end, step = (there if here is None else here for here, there in zip(given, saved, strict=True))
    return start, end, step


def named_bones(arguments: Namespace, scene: Scene) -> tuple[Object, tuple[str, ...]]:
    """Return the armature and the names of the bones to rotate."""
    armature, bone = _tip(arguments, scene)
    if arguments.bones:
        return armature, tuple(arguments.bones)
    count = arguments.chain_count
    return armature, bones_from_tip(armature, bone.name, bone.ik_triangulation.chain_count if count is None else count)


def named_limb(arguments: Namespace, scene: Scene) -> Limb:
    """Return the named limb, with the settings given and, by default, those saved on its tip bone."""
    return _limb(arguments, scene, *_tip(arguments, scene))


def all_limbs(arguments: Namespace, scene: Scene) -> tuple[list[Limb], list[str]]:
    """Return the enabled limbs of all armatures that have a target, and a message on each armature left out.

    A named armature must be one that can be baked. Raises ChainError if a limb is named, or there are no limbs.
    """
    if arguments.tip or arguments.bones or arguments.target:
        raise ChainError("--all bakes every limb to its own target. Leave out --tip, --bones and --target.")
    named = arguments.armature
    armatures, left_out = ([armature_of(named, scene)], list[str]()) if named else _with_limbs(scene)
    tips = [(armature, armature.pose.bones[name]) for armature in armatures for name in enabled_tips(armature)]
    return [_limb(arguments, scene, *tip) for tip in tips], left_out


def _with_limbs(scene: Scene) -> tuple[list[Object], list[str]]:
    """Return the armatures whose limbs can be baked, and a message on each other. Raises ChainError if none can."""
    armatures, left_out = [], []
    for armature in (ob for ob in scene.objects if ob.type == "ARMATURE" and has_limbs(ob)):
        try:
            check_armature(armature, scene.view_layers[0])
            armatures.append(armature)
        except RigError as error:
            left_out.append(f"Left out: {error}")
    if not armatures:
        why = "".join(f" {line}" for line in left_out) or " Choose a target for one."
        raise ChainError(f"No limb in scene '{scene.name}' is enabled, has a target and can be baked.{why}")
    return armatures, left_out


def _limb(arguments: Namespace, scene: Scene, armature: Object, bone: PoseBone) -> Limb:
    stored = bone.ik_triangulation
    settings = saved_settings(stored) | {"chain_count": stored.chain_count}
    given = {name: value for name in settings if (value := getattr(arguments, name, None)) is not None}
    settings |= given
    settings["left_open"] = {name: value for name, value in settings["left_open"].items() if name not in given}
    if getattr(arguments, "reduce_tolerance", None) is not None:
        settings["reduce"] = True
    target = _named(scene.objects, arguments.target, "Target", TargetError) if arguments.target else stored.target
    if arguments.target and arguments.subtarget is None:
        settings["subtarget"] = ""
    if arguments.pole_target is not None:  # an empty name means no pole target
        name = arguments.pole_target
        settings["pole_target"] = _named(scene.objects, name, "Pole target", TargetError) if name else None
        settings["pole_subtarget"] = arguments.pole_subtarget or ""
    if arguments.obstacles is not None:
        name = arguments.obstacles
        settings["obstacles"] = _named(bpy.data.collections, name, "Collection", TargetError) if name else None
    if arguments.bones:
        del settings["chain_count"]
        return Limb.from_bones(armature, arguments.bones, target, **settings)
    return Limb.from_tip(armature, bone.name, target, **settings)


def stops_of(arguments: Namespace, scene: Scene) -> list[Stop]:
    """Return the stops named for a reach; empty if it goes to the limb's own target."""
    stops = arguments.stops or []
    if stops and (arguments.frame_end, arguments.hold) != (None, None):
        raise SettingError("Each of the --stops has its own frame and hold. Leave out --frame-end and --hold.")
    return [
        Stop(_named(scene.objects, name, "Target", TargetError), frame, hold, take=take)
        for name, frame, hold, take in stops
    ]


def _tip(arguments: Namespace, scene: Scene) -> tuple[Object, PoseBone]:
    """Return the armature, and the last of the bones named."""
    if arguments.tip is None and arguments.bones is None:
        raise ChainError("No bones are named. Use --tip BONE, or --bones with all of them.")
    named = [*(arguments.bones or []), *([arguments.tip] if arguments.tip else [])]
    armature = armature_of(arguments.armature, scene, named)
    tip = _lowest(armature, arguments.bones) if arguments.bones else arguments.tip
    if arguments.tip not in {None, tip}:
        raise ChainError(f"'{arguments.tip}' is not the last of the bones named. Use either --tip or --bones.")
    return armature, _named(armature.pose.bones, tip, "Bone", ChainError)


def _lowest(armature: Object, names: Sequence[str]) -> str:
    bones = [_named(armature.data.bones, name, "Bone", ChainError) for name in names]
    return str(max(bones, key=lambda bone: len(bone.parent_recursive)).name)


def armature_of(name: str | None, scene: Scene, bones: Sequence[str] = ()) -> Object:
    """Return the armature of that name, by default the only one, or the only one that has all these bones."""
    armatures = [ob for ob in scene.objects if ob.type == "ARMATURE"]
    if name is not None:
        return _named({ob.name: ob for ob in armatures}, name, "Armature", RigError)
    having = [ob for ob in armatures if bones and all(bone in ob.pose.bones for bone in bones)]
    for found in (armatures, having):
        if len(found) == 1:
            return found[0]
    wanted = ", ".join(map(repr, bones))
    those = f", {len(having)} with {wanted}" if armatures and bones else ""
    listed = ", ".join(repr(ob.name) for ob in having or armatures) or "none"
    raise RigError(
        f"Scene '{scene.name}' has {len(armatures)} armatures{those} ({listed}). Name one with --armature NAME."
    )


def _named(things: Any, name: str, what: str, error: type[IKError]) -> Any:
    thing = things.get(name)
    if thing is None:
        names = list(things.keys())
        likely = get_close_matches(name, names, n=6, cutoff=0.5) or names[:12]
        raise error(f"{what} '{name}' does not exist. Choose one of {', '.join(map(repr, likely)) or 'none'}.")
    return thing

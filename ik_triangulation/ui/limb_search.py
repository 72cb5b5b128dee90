# SPDX-License-Identifier: GPL-3.0-or-later
"""Search of the scene for the limbs that reach for an object or a bone, and for those that a bone is part of.

Panels and poll() ask many times per redraw, so the last answer is kept until Blender evaluates the scene again: it
does so after every change to a setting, also before an operator that a script calls.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import bpy
from bpy.types import Context, Object, PoseBone, PropertyGroup

from ..errors import ChainError, IKError
from ..jobs.bodies import body_of
from ..rig.armature import bones_from_tip
from ..rig.limb import bone_of
from .overlay.updates import updates

Found = list[tuple[str, int, str]]  # name and session uid of the armature, name of the tip bone

_when: tuple | None = None  # the state of the scene in which these answers were found
_answers: dict[tuple[str, int, str], Found] = {}


def limbs_using(context: Context, ob: Object, bone: str = "") -> list[PoseBone]:
    """Return the tip bones of the limbs that have this object, or a bone of it, as target, stop or pole, in this order.

    A bone also stands for its whole armature, if that has no limbs.
    """
    return _answer(context, ("users", ob.session_uid, bone), lambda: _users(context, ob, bone))


def limbs_around(context: Context, bone: PoseBone) -> list[PoseBone]:
    """Return the tip bones of the limbs of its armature that rotate this bone."""
    return _answer(context, ("around", bone.id_data.session_uid, bone.name), lambda: _around(bone))


def is_limb(bone: PoseBone) -> bool:
    """Tell whether a bone is the tip of a limb: it has a target or is held."""
    limb = bone.ik_triangulation
    return limb.target is not None or limb.hold


def is_in_body(bone: PoseBone) -> bool:
    """Tell whether the limb that ends in a bone is solved with others as a body; also where that cannot be done."""
    uid, name = bone.id_data.session_uid, bone.name
    return bool(_answer(bpy.context, ("in a body", uid, name), lambda: _itself_in_body(bone)))


def _itself_in_body(bone: PoseBone) -> Found:
    """Return the bone itself if its limb is part of a body."""
    try:
        part = body_of(bone.id_data, bone.name) is not None
    except IKError:
        part = True
    return [(bone.id_data.name, bone.id_data.session_uid, bone.name)] if part else []


def has_limb(armature: Object) -> bool:
    """Tell whether a bone of the armature is the tip of a limb."""
    return any(map(is_limb, armature.pose.bones))


def _answer(context: Context, question: tuple[str, int, str], search: Callable[[], Found]) -> list[PoseBone]:
    """Return the tip bones of the last answer, or search anew; answers hold names, as an undo replaces objects."""
    global _when
    when = updates(), context.scene.session_uid, context.view_layer.name
    if when != _when:
        _when = when
        _answers.clear()
    if question not in _answers:
        _answers[question] = search()
    tips = (_bone(context, *found) for found in _answers[question])
    return [tip for tip in tips if tip is not None]


def _bone(context: Context, name: str, uid: int, tip: str) -> PoseBone | None:
    """Return a bone of a named armature; a linked one can have the same name as one of the file."""
    armature = context.view_layer.objects.get(name)
    if armature is not None and armature.session_uid != uid:
        armature = next((ob for ob in context.view_layer.objects if ob.session_uid == uid), None)
    return armature.pose.bones.get(tip) if armature is not None and armature.pose else None


def _users(context: Context, ob: Object, bone: str) -> Found:
    """Search all armatures of the view layer."""
    wanted = {bone, ""} if bone and not has_limb(ob) else {bone}
    ranked = []
    for armature in context.view_layer.objects:
        for tip in armature.pose.bones if armature.type == "ARMATURE" and armature.pose else ():
            ranks = [rank for rank, used, of in _uses(tip.ik_triangulation) if used == ob and of in wanted]
            if ranks:
                ranked.append((min(ranks), (armature.name, armature.session_uid, tip.name)))
    return [found for _, found in sorted(ranked, key=lambda each: each[0])]


def _uses(limb: PropertyGroup) -> Iterator[tuple[int, Object, str]]:
    """Yield rank, object and bone of what a limb reaches for or bends towards."""
    if limb.target is not None:
        yield 0, limb.target, bone_of(limb.target, limb.subtarget)
    for stop in limb.reach_stops:
        if stop.target is not None:
            yield 1, stop.target, bone_of(stop.target, stop.subtarget)
    if limb.pole_target is not None:
        yield 2, limb.pole_target, bone_of(limb.pole_target, limb.pole_subtarget)


def _around(bone: PoseBone) -> Found:
    """Search the armature of a bone."""
    armature, found = bone.id_data, []
    for tip in armature.pose.bones:
        limb = tip.ik_triangulation
        if not is_limb(tip) or limb.use_selected:
            continue
        try:
            if bone.name in bones_from_tip(armature, tip.name, limb.chain_count):
                found.append((armature.name, armature.session_uid, tip.name))
        except ChainError:  # a chain that is longer than what is above its tip
            continue
    return found

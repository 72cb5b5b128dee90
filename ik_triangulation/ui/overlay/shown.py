# SPDX-License-Identifier: GPL-3.0-or-later
"""The limbs that the overlay shows: that of the active bone, or those that follow what is active."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from typing import NamedTuple

from bpy.types import Context, Object, PoseBone

from ...errors import IKError
from ..context import chain_below

_MOST = 4  # limbs at once


class ShownLimb(NamedTuple):
    """A limb by its armature and its tip bone, and the name of its bone that is active; empty if none is."""

    armature: Object
    tip: PoseBone
    active: str


def shown_limbs(context: Context) -> list[ShownLimb]:
    """Return the limbs to show, hidden ones as well.

    They are the limb that ends in the active bone; without one those that the bone is part of; otherwise those that
    follow the active object or bone. A limb without a target counts if joints of it were set up.
    """
    ob, name = context.active_object, ""
    if ob is None:
        return []
    if ob.type == "ARMATURE" and ob.pose:
        bone = ob.pose.bones.get(ob.data.bones.active.name) if ob.data.bones.active else None
        if bone is None:
            return []
        own, name = ShownLimb(ob, bone, bone.name), bone.name
        if bone.ik_triangulation.target is not None:
            return [own]
        around = [ShownLimb(ob, tip, name) for tip in _tips(ob) if name in _bones(tip)]
        if around or _is_set_up(bone):
            return around[:_MOST] or [own]
    rigs = (rig for rig in context.view_layer.objects if rig.type == "ARMATURE" and rig.pose)
    return [ShownLimb(rig, tip, "") for rig in rigs for tip in _tips(rig) if _follows(tip, ob, name)][:_MOST]


def _tips(armature: Object) -> Iterator[PoseBone]:
    return (bone for bone in armature.pose.bones if bone.ik_triangulation.target is not None)


def _follows(tip: PoseBone, ob: Object, bone: str) -> bool:
    """Tell whether the target of a limb is an object, or this bone of it."""
    stored = tip.ik_triangulation
    return bool(stored.target == ob) and (not bone or stored.subtarget == bone)


def _is_set_up(tip: PoseBone) -> bool:
    """Tell whether a joint of the limb that would end here has limits of the extension's own."""
    bones = tip.id_data.pose.bones
    return any(bones[name].ik_triangulation_joint.source == "OWN" for name in _bones(tip))


def _bones(tip: PoseBone) -> list[str]:
    with suppress(IKError):
        return chain_below(tip)
    return []

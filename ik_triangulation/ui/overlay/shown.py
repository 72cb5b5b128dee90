# SPDX-License-Identifier: GPL-3.0-or-later
"""The limbs that the overlay shows: that of the active bone, or those that follow the active object."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from typing import NamedTuple

from bpy.types import Context, Object, PoseBone

from ...errors import IKError
from ..context import active_armature, active_bone, chain_below

_MOST = 4  # limbs at once


class ShownLimb(NamedTuple):
    """A limb by its armature and its tip bone, and the name of its bone that is active; empty if none is."""

    armature: Object
    tip: PoseBone
    active: str


def shown_limbs(context: Context) -> list[ShownLimb]:
    """Return the limbs to show, hidden ones as well.

    They are the limb that ends in the active bone; without one those that the bone is part of; and if the active object
    is not an armature, those that follow it. A limb without a target counts if joints of it were set up.
    """
    armature, active = active_armature(context), context.active_object
    if armature is not None:
        bone = active_bone(context)
        if bone is None:
            return []
        own = ShownLimb(armature, bone, bone.name)
        if bone.ik_triangulation.target is not None:
            return [own]
        others = [ShownLimb(armature, tip, bone.name) for tip in _tips(armature) if bone.name in _bones(tip)]
        return others[:_MOST] or [own] * _is_set_up(bone)
    if active is None:
        return []
    armatures = (ob for ob in context.view_layer.objects if ob.type == "ARMATURE" and ob.pose)
    return [ShownLimb(ob, tip, "") for ob in armatures for tip in _tips(ob) if tip.ik_triangulation.target == active][
        :_MOST
    ]


def _tips(armature: Object) -> Iterator[PoseBone]:
    return (bone for bone in armature.pose.bones if bone.ik_triangulation.target is not None)


def _is_set_up(tip: PoseBone) -> bool:
    """Tell whether a joint of the limb that would end here has limits of the extension's own."""
    bones = tip.id_data.pose.bones
    return any(bones[name].ik_triangulation_joint.source == "OWN" for name in _bones(tip))


def _bones(tip: PoseBone) -> list[str]:
    with suppress(IKError):
        return chain_below(tip)
    return []

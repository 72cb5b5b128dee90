# SPDX-License-Identifier: GPL-3.0-or-later
"""The body that a limb belongs to, as it is set up: limbs with targets and held tips that share bones with it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from bpy.types import Object, PoseBone

from ..settings import check_registered
from .armature import bones_from_tip, find_bone
from .body import RigBody
from .contacts import stored_contacts
from .held_tips import planted_tips
from .limb import Limb


def stored_body(armature: Object, tip: str) -> RigBody | None:
    """Return the body of the limb that ends in `tip`; None for a limb that is alone.

    A limb is a bone whose target is set and that is enabled, or that is held. Two limbs are of one body if they share
    bones, or if one hangs on a bone that the other turns. Raises what RigBody does.
    """
    check_registered()
    find_bone(armature, tip)
    chains = {bone.name: _chain(bone) for bone in armature.pose.bones if _is_limb(bone)}
    if tip not in chains:
        return None
    members = _connected(armature, chains, tip)
    bones, settings = armature.pose.bones, armature.ik_triangulation
    reaching = tuple(Limb.of(bones[name]) for name in members if not bones[name].ik_triangulation.hold)
    held = tuple(name for name in members if bones[name].ik_triangulation.hold)
    contacts = tuple(contact for contact in stored_contacts(armature) if contact.tip in held)
    if len(members) < 2 and not contacts:
        return None
    solved = frozenset(name for member in members for name in chains[member])
    rig = RigBody(
        armature,
        reaching,
        held,
        settings.hips,
        settings.hips_motion,
        settings.balance and not contacts,  # a recorded motion has its own
        solved,
        contacts,
        settings.contact_fade,
        settings.floor,
    )
    return replace(rig, planted=planted_tips(rig)) if held else rig


def _is_limb(bone: PoseBone) -> bool:
    stored = bone.ik_triangulation
    return bool(stored.hold or (stored.target and stored.enabled and not stored.use_selected))


def _chain(bone: PoseBone) -> tuple[str, ...]:
    """Return the bones that a limb turns, as far as there are so many."""
    line = len(bone.parent_recursive) + 1
    return bones_from_tip(bone.id_data, bone.name, min(bone.ik_triangulation.chain_count, line))


def _connected(armature: Object, chains: Mapping[str, tuple[str, ...]], tip: str) -> list[str]:
    """Return the tips of the limbs that move with each other, in the order of the bones."""
    bones = armature.pose.bones
    lines = {name: {name, *(above.name for above in bones[name].parent_recursive)} for name in chains}
    found, turned = {tip}, set(chains[tip])
    while True:
        # A limb that hangs on what is turned, or that turns what a limb found hangs on.
        more = {
            name
            for name, chain in chains.items()
            if name not in found and (lines[name] & turned or any(lines[other] & set(chain) for other in found))
        }
        if not more:
            return [name for name in chains if name in found]
        found |= more
        turned.update(*(chains[name] for name in more))

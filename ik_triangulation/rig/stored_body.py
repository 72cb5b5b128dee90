# SPDX-License-Identifier: GPL-3.0-or-later
"""The body that a limb belongs to, as it is set up, and its held tips: those planted at one place, and others."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from bpy.types import ActionChannelbag, Object, PoseBone

from ..settings import check_registered
from .armature import bones_from_tip, find_bone
from .body import RigBody, stored_contacts
from .by_hand.keys import keys_by_hand
from .dependencies import Node, live_constraints, sources_of
from .keyframes import generated
from .keyframes.arrays import get_keys
from .keyframes.channelbags import channelbag_of, find_curves, is_muted
from .keyframes.reading import replaced_in
from .limb import Limb
from .rotation import channel
from .timeline import moving_curves, strips_of


@dataclass(frozen=True)
class _Leg:
    """The bones that lead to a held tip alone, below the hips and below what it shares with other tips, as a spine."""

    armature: Object
    bones: Sequence[str]


def planted_tips(rig: RigBody) -> tuple[str, ...]:
    """Return the held tips of a body that are set to stay at one place.

    With *Automatic* these are the ones whose own bones, below hips and trunk, nothing animates by hand: no keys but
    baked ones, no strips, drivers or constraints other than limits and those by which generated rigs let a leg follow
    the root. A body with contacts is a recorded motion, which is planted in these alone.
    """
    bones, above = rig.armature.pose.bones, _above(rig)
    modes = {tip: bones[tip].ik_triangulation.hold_where for tip in rig.held}
    return tuple(
        tip
        for tip, mode in modes.items()
        if mode == "PLACE" or (mode == "AUTO" and not rig.contacts and not _is_animated(_leg(rig, tip), above))
    )


def is_moved_above(rig: RigBody) -> bool:
    """Tell whether a bone above the hips may move: by keys, strips, drivers or constraints."""
    above = rig.armature.pose.bones[rig.hips].parent_recursive
    paths = tuple(f"{bone.path_from_id()}." for bone in above)
    return any(len(bone.constraints) for bone in above) or (
        bool(paths) and any(curve.data_path.startswith(paths) for curve in moving_curves(rig.armature))
    )


def _leg(rig: RigBody, tip: str) -> _Leg:
    lines = {name: rig.line(name) for name in rig.tips}
    own = lines.pop(tip)
    beside = [line for name, line in lines.items() if name not in own and tip not in line]
    shared = {rig.hips}.union(*beside)
    count = next(number for number, name in enumerate(own) if name in shared)
    return _Leg(rig.armature, own[:count])


def _above(rig: RigBody) -> frozenset[str]:
    """Return the bones that the hips hang on: those above them, those that these follow by constraints, and so on."""
    bones, found = rig.armature.pose.bones, set[str]()
    waiting = list(bones[rig.hips].parent_recursive)
    while waiting:
        bone = waiting.pop()
        if bone.name in found:
            continue
        found.add(bone.name)
        own = [bones[node.bone] for node in sources_of(bone.constraints) if _is_bone(node, rig.armature)]
        waiting += [each for one in own for each in (one, *one.parent_recursive)]
    return frozenset(found)


def _is_bone(node: Node, armature: Object) -> bool:
    return node.object == armature and node.bone in armature.pose.bones


def _is_animated(leg: _Leg, above: Collection[str]) -> bool:
    """Tell whether anything made by hand animates the bones of a leg of a body that hangs on the bones `above`."""
    bones, animation = [leg.armature.pose.bones[name] for name in leg.bones], leg.armature.animation_data
    carried = {*above, *leg.bones}
    for constraint in live_constraints(leg):
        followed = list(sources_of([constraint]))
        own = all(_is_bone(node, leg.armature) and node.bone in carried for node in followed)
        if not constraint.type.startswith("LIMIT_") and not (followed and own):
            return True
    if animation is None:
        return False
    paths = {f"{bone.path_from_id()}.{prop}" for bone in bones for prop in ("location", channel(bone)[0], "scale")}
    if any(curve.data_path in paths and not curve.mute for curve in animation.drivers):
        return True
    return any(_has_hand_keys(bag, path) for bag in _bags(leg.armature) for path in paths)


def _bags(armature: Object) -> Iterator[ActionChannelbag]:
    """Yield the channelbags of the active action and of all strips that are played."""
    animation = armature.animation_data
    active = channelbag_of(armature)
    if active:
        yield active
    for strip in strips_of(animation) if animation.use_nla else ():
        if strip.action and strip.action_slot and not strip.mute:
            found = (each.channelbag(strip.action_slot) for layer in strip.action.layers for each in layer.strips)
            yield from (bag for bag in found if bag)


def _has_hand_keys(bag: ActionChannelbag, path: str) -> bool:
    """Tell whether a property has keys made by hand, or had them before a bake; keys amid baked ones correct these."""
    known = replaced_in(bag, path)
    for index, curve in find_curves(bag, path).items():
        if is_muted(curve):
            continue
        baked = generated(curve)
        if not baked.any():
            return True
        times = get_keys(curve, ["co"])["co"][baked, 0]
        if len(keys_by_hand(curve, ~baked, known, index, (times.min(), times.max()))["co"]):
            return True
    return False


class StoredLimbs:
    """The limbs of an armature as they are set up now: the bones that each of them turns, and what moves together.

    A limb is a bone whose target is set and that is enabled, or that is held. Two limbs are of one body if they share
    bones, if one hangs on a bone that the other turns, or is in contact with such a bone.
    """

    def __init__(self, armature: Object) -> None:
        check_registered()
        self._armature, self._bones = armature, armature.pose.bones
        self.chains = {bone.name: _chain(bone) for bone in self._bones if _is_limb(bone)}

    def members(self, tip: str) -> list[str]:
        """Return the tips of the limbs that move with one of them, in the order of the bones."""
        return self._members[tip]

    @cached_property
    def _members(self) -> dict[str, list[str]]:
        turning = defaultdict[str, list[str]](list)  # the limbs that turn a bone
        for name, chain in self.chains.items():
            for bone in chain:
                turning[bone].append(name)
        beside = {name: set[str]() for name in self.chains}
        hangs = [(name, name) for name in self.chains]
        hangs += [(each.tip, each.bone) for each in stored_contacts(self._armature) if each.support == self._armature]
        for name, on in hangs:
            if name not in self.chains or on not in self._bones:
                continue
            for bone in (on, *(above.name for above in self._bones[on].parent_recursive)):
                for other in turning.get(bone, ()):
                    beside[name].add(other)
                    beside[other].add(name)
        groups = dict[str, set[str]]()
        for name in self.chains:
            if name not in groups:
                group, waiting = {name}, [name]
                while waiting:
                    more = beside[waiting.pop()] - group
                    group |= more
                    waiting += more
                groups |= dict.fromkeys(group, group)
        place = {name: number for number, name in enumerate(self.chains)}
        return {name: sorted(group, key=place.__getitem__) for name, group in groups.items()}


def stored_body(armature: Object, tip: str, limbs: StoredLimbs | None = None) -> RigBody | None:
    """Return the body of the limb that ends in `tip`; None for a limb that is alone.

    `limbs` are those of the armature, if they are known. Raises what RigBody does.
    """
    limbs = limbs or StoredLimbs(armature)
    find_bone(armature, tip)
    chains = limbs.chains
    if tip not in chains:
        return None
    members = limbs.members(tip)
    bones, settings = armature.pose.bones, armature.ik_triangulation
    held = tuple(name for name in members if bones[name].ik_triangulation.hold)
    contacts = tuple(contact for contact in stored_contacts(armature) if contact.tip in held)
    if len(members) < 2 and not contacts:
        return None
    reaching = tuple(Limb.of(bones[name]) for name in members if not bones[name].ik_triangulation.hold)
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
    looking, others = _free_tips(rig)
    heads, arms = looking if settings.look_at_hands else (), others if settings.swing_arms else ()
    rig = replace(rig, thickness=settings.thickness, free_heads=heads, may_swing=arms)
    return replace(rig, planted=planted_tips(rig), heels=settings.heels)


def _free_tips(rig: RigBody) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the tips of a body that nothing made by hand animates, nor what they copy: those that look, and others.

    A body with contacts is a recorded motion, in which all of them are.
    """
    settings = rig.armature.ik_triangulation
    if rig.contacts or not (settings.look_at_hands or settings.swing_arms):
        return (), ()
    legs = {tip: _leg(rig, tip) for tip in rig.tips}
    trunk = {name for tip in rig.tips for name in rig.line(tip)}.difference(*(leg.bones for leg in legs.values()))
    trunk |= _above(rig)
    free = [limb for limb in rig.limbs if _is_free(legs[limb.tip], trunk)]
    looking = tuple(limb.tip for limb in free if limb.orientation == "LOOK")
    return looking, tuple(limb.tip for limb in free if limb.tip not in looking)


def _is_free(leg: _Leg, trunk: Collection[str]) -> bool:
    """Tell whether nothing made by hand animates a leg, nor controls on the bones `trunk` that it copies.

    Limbs of generated rigs copy a control of the shoulder, or the rotation of the hips.
    """
    armature, carried = leg.armature, {*trunk, *leg.bones}
    copying = [each for each in live_constraints(leg) if each.type not in {"IK", "SPLINE_IK"}]
    if any(not each.type.startswith("LIMIT_") for each in live_constraints(_Leg(armature, leg.bones[:1]))):
        return False  # the tip itself is turned by that
    found = set()
    for bone in {node.bone for node in sources_of(copying) if _is_bone(node, armature)} - carried:
        line = [bone, *(parent.name for parent in armature.pose.bones[bone].parent_recursive)]
        count = next((number for number, name in enumerate(line) if name in carried), 0)
        if count and _is_free(_Leg(armature, line[:count]), carried):
            found.add(bone)
    return not _is_animated(leg, carried | found)


def _is_limb(bone: PoseBone) -> bool:
    stored = bone.ik_triangulation
    return bool(stored.hold or (stored.target and stored.enabled and not stored.use_selected))


def _chain(bone: PoseBone) -> tuple[str, ...]:
    """Return the bones that a limb turns, fewer where its chain is cut short."""
    line = len(bone.parent_recursive) + 1
    return bones_from_tip(bone.id_data, bone.name, min(bone.ik_triangulation.chain_count, line))

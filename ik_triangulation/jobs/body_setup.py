# SPDX-License-Identifier: GPL-3.0-or-later
"""Set up a body: arms that reach, feet that are held, a head that looks, ranges for the trunk, and balance."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace
from typing import NamedTuple

from bpy.types import Object

from ..errors import ChainError
from ..presets import apply_preset, find_preset, read_preset
from ..rig.anatomy.limbs import ARM, LEG, NECK, SPINE, Anatomy, BodyLimb
from ..rig.armature import find_bone
from ..rig.body import hindrance
from ..rig.controls import Controls
from ..rig.stance import stance_of
from ..rig.targets.untouched import let_wait, put_at_tip, remember_rotation
from ..settings import check_registered
from ..settings.edition import stamp
from .limb_tools import give_limits, keep_orientation, new_target
from .writing import all_or_nothing

_BALL = 0.25  # of the length of a head: radius of the ball it looks at
MOST_TIPS = 6  # of selected bones that are limbs of their own; more are those of a whole rig
_FEWEST = 2  # tips of a body
_PLURALS = {"ARM": "arms", "LEG": "legs"}
_LOW = 0.15  # of the armature's height: a chosen bone that ends below is a foot


class NewBody(NamedTuple):
    """The tips of a body that was set up: those that `reach`, those that are `held` and those that look; its `hips`.

    `doubts` are sentences for the user: what was recognised by shape alone, and what was not found.
    """

    reach: tuple[str, ...]
    held: tuple[str, ...]
    hips: str
    looking: tuple[str, ...] = ()
    doubts: tuple[str, ...] = ()


@all_or_nothing
def set_up_body(armature: Object, bones: Sequence[str] = ()) -> NewBody:
    """Make the limbs of a body: arms that reach from the hips up, feet held, a head that looks, and balance.

    The tips are those of the `bones`, of which feet and what ends near the ground are held and heads look; without any,
    the hands, feet and head that are recognised. An animal that stands on all its feet has only held ones. Bones
    without limits get the ranges of their presets. Hands and head get new empties, which wait until they are moved
    (rig.targets.untouched). Limbs keep their targets and settings but for their length. Raises ChainError where no feet
    are found, or only one and no hand, or where they hang on no common bone that can move; then nothing has changed.
    """
    check_registered()
    anatomy = Anatomy(armature, Controls(armature))
    tips = _tips(armature, anatomy, bones)
    held = [name for name, limb in tips.items() if _is_foot(armature, name, limb)]
    looking = [name for name, limb in tips.items() if limb is not None and limb.kind is NECK]
    reach = [name for name in tips if name not in held and name not in looking]
    if not held or len(tips) < _FEWEST:
        missing = "feet" if not held else "hands"
        raise ChainError(f"No {missing} are found. Select the tip bones: those of the hands, and those of the feet.")
    hips = _hips(armature, list(tips))
    stamp(armature)
    limbs = [limb for limb in tips.values() if limb is not None]
    presets = {name: read_preset(find_preset(name)) for name in {SPINE.preset, *(limb.preset for limb in limbs)}}
    for name, limb in tips.items():
        stored = armature.pose.bones[name].ik_triangulation
        stored.use_selected, stored.enabled, stored.hold = False, True, name in held
        line = [name, *(above.name for above in armature.pose.bones[name].parent_recursive)]
        stored.chain_count = line.index(hips) + (name in reach or not reach)  # the hips tie the limbs together
        if limb is not None and name in looking:
            stored.chain_count = 1 + line.index(limb.bones[0])
        if limb is not None:
            stored.body_part = limb.kind.name
            give_limits(armature, _with_clavicle(armature, anatomy, limb), presets[limb.preset])
        if name not in held and stored.target is None:
            _give_target(armature, name, limb)
    trunk = _trunk(armature, anatomy, hips)
    if trunk:
        apply_preset(armature, trunk, presets[SPINE.preset], keep_limits=True)
    armature.ik_triangulation.balance = True
    armature.update_tag()
    return NewBody(tuple(reach), tuple(held), hips, tuple(looking), () if bones else _doubts(anatomy, limbs))


def _doubts(anatomy: Anatomy, limbs: Sequence[BodyLimb]) -> tuple[str, ...]:
    """Return what the user may have to look at: limbs by shape alone, sides that differ, a head that is missing."""
    doubts = []
    for kind in (ARM, LEG):
        sides = {side: [len(limb.bones) for limb in limbs if limb.kind is kind and limb.side == side] for side in "LR"}
        if sides["L"] != sides["R"]:
            doubts.append(f"the {_PLURALS[kind.name]} of the two sides differ: select the right tips and set up again")
        elif kind.name in anatomy.by_shape and sides["L"]:
            doubts.append(f"{_PLURALS[kind.name]} were recognized by shape")
    if not any(limb.kind is NECK for limb in limbs):
        doubts.append("no head was found")
    return tuple(doubts)


def lowest_of(armature: Object, bones: Collection[str]) -> list[str]:
    """Return those of the bones that have none of the others below them."""
    above = {parent.name for name in bones for parent in armature.pose.bones[name].parent_recursive}
    return [name for name in bones if name not in above]


def is_whole_rig(armature: Object, bones: Collection[str]) -> bool:
    """Tell whether bones were selected as a whole, not as limbs: more than six tips, or several of most bones.

    Fingers are limbs however many there are.
    """
    ends = lowest_of(armature, bones)
    if len(ends) <= MOST_TIPS:
        return len(ends) > 1 and 2 * len(bones) > len(armature.pose.bones)
    anatomy = Anatomy(armature, Controls(armature))
    return not all(anatomy.part(name) == "finger" for name in ends)


def _give_target(armature: Object, name: str, limb: BodyLimb | None) -> None:
    """Give a tip a new empty, that of a head in front of its face, which waits to be moved."""
    bone, looks = armature.pose.bones[name], limb is not None and limb.kind is NECK
    stored, target = bone.ik_triangulation, new_target(armature, name, limb is not None and not looks)
    stored.target, stored.subtarget = target, ""
    if looks:
        stored.orientation = "LOOK"
        put_at_tip(target, bone, bone.matrix, looks=True)
        target.empty_display_type = "SPHERE"
        target.empty_display_size *= _BALL
    elif limb is not None:
        keep_orientation(armature, name, target)
        if limb.kind is ARM:
            remember_rotation(target)
    let_wait(bone)


def _tips(armature: Object, anatomy: Anatomy, bones: Sequence[str]) -> dict[str, BodyLimb | None]:
    """Return the tips of the limbs to make, each with the arm, leg or neck that it was recognised as."""
    if not bones:
        found = [limb for kind in (ARM, LEG, NECK) for limb in anatomy.limbs(kind)]
        return {limb.bones[-1]: limb for limb in found if limb.kind is not NECK or _is_head(anatomy, limb)}
    tips: dict[str, BodyLimb | None] = {}
    for name in bones:
        limb = anatomy.limb_with(find_bone(armature, name).name)
        known = limb is not None and (limb.kind in (ARM, LEG) or _is_head(anatomy, limb))
        tips[limb.bones[-1] if limb is not None and known else name] = limb if known else None
    return tips


def _is_head(anatomy: Anatomy, limb: BodyLimb) -> bool:
    """Tell whether a limb is a neck that ends in a head."""
    return limb.kind is NECK and anatomy.part(limb.bones[-1]) == "head"


def _is_foot(armature: Object, name: str, limb: BodyLimb | None) -> bool:
    """Tell whether a tip is held: that of a leg, or another one that ends near the ground, such as a front paw."""
    if limb is not None and limb.kind is not ARM:
        return limb.kind is LEG
    _, up = stance_of(armature)
    heights = [end.dot(up) for bone in armature.data.bones for end in (bone.head_local, bone.tail_local)]
    low = min(heights) + _LOW * (max(heights) - min(heights))
    return bool(armature.data.bones[name].tail_local.dot(up) < low)


def _hips(armature: Object, tips: Sequence[str]) -> str:
    """Return the lowest bone above all tips that can move, or the one that is set."""
    bones = armature.pose.bones
    lines = [[above.name for above in bones[name].parent_recursive] for name in tips]
    common = [name for name in lines[0] if all(name in line for line in lines)]
    chosen = armature.ik_triangulation.hips
    if chosen in common:
        return str(chosen)
    if not common:
        raise ChainError(f"'{tips[0]}' and '{tips[-1]}' hang on no common bone. Select the tips of one body.")
    free = next((name for name in common if not hindrance(bones[name])), None)
    if free is None:
        raise ChainError(f"No bone above all tips can move: '{common[0]}' is connected, or its location is locked.")
    return free


def _with_clavicle(armature: Object, anatomy: Anatomy, limb: BodyLimb) -> BodyLimb:
    """Return an arm with the clavicle that it hangs on, and other limbs as they are."""
    above = [bone.name for bone in armature.pose.bones[limb.bones[0]].parent_recursive]
    clavicle = next((name for name in above if anatomy.part(name) == "clavicle"), None)
    if limb.kind is not ARM or clavicle is None:
        return limb
    return replace(limb, bones=(clavicle, *limb.bones))


def _trunk(armature: Object, anatomy: Anatomy, hips: str) -> list[str]:
    """Return the bones of the spine above the hips."""
    bones = armature.pose.bones
    spines = [limb.bones for limb in anatomy.limbs(SPINE)]
    line = spines[0] if spines else ()
    return [name for name in line if name != hips and bones[hips] in bones[name].parent_recursive]

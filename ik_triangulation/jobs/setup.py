# SPDX-License-Identifier: GPL-3.0-or-later
"""Setting up of limbs and bodies, and of the targets that they reach for."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from typing import NamedTuple

import bpy
from bpy.types import Object, PoseBone
from mathutils import Matrix, Quaternion, Vector

from ..errors import ChainError
from ..kinematics import Locked
from ..kinematics.rotation import orientation, rotation_angle
from ..presets import find_preset
from ..presets.file import Preset, read_preset
from ..presets.limb import apply_preset
from ..rig.anatomy.limbs import ARM, LEG, NECK, SPINE, WING, Anatomy, BodyLimb
from ..rig.anatomy.names import is_eye, turned_eye
from ..rig.armature import bones_in_line, find_bone
from ..rig.body import hindrance
from ..rig.controls import Controls
from ..rig.dependencies import live_constraints
from ..rig.freedom import can_turn, freedom_of, is_unlimited, store
from ..rig.rotation import channel, rotation_of, set_rotation, values_for
from ..rig.stance import look_of, relaxed_arm, stance_of
from ..rig.targets.made import keep_target
from ..rig.targets.untouched import let_wait, put_at_tip, remember_made, remember_rotation
from ..rig.timeline import moving_curves
from ..rig.units import scale_of
from ..settings import check_registered
from ..settings.edition import stamp
from .shots.writing import Undo, all_or_nothing

_SIZE = 1.0  # of a new target, as a share of the tip bone's length
_AHEAD = 20.0  # of an eye's length: distance to the ball it looks at
_SAME = 1e-4  # [rad]


@dataclass(frozen=True)
class _Plan:
    """Bones of a new limb: its chain length, and the limb that it was recognised as with the preset of its ranges.

    An eye `looks`.
    """

    count: int
    limb: BodyLimb | None
    preset: Preset | None
    looks: bool = False


@all_or_nothing
def add_limbs(armature: Object, bones: Sequence[str], target: Object | None = None) -> list[str]:
    """Make a limb of every line of these bones, and of a single one the limb it belongs to; return their tips' names.

    A single bone of an arm, leg, finger, spine, neck or tail, or beside it, stands for the whole of that; one that is
    not recognised for itself with the bones above it. An eye is alone and looks at its target, which it shares with the
    other eye and the head. Deform, helper and IK bones of generated rigs are replaced by the
    FK controls that move the same. Limbs that are recognised get the ranges of their preset on bones that have no
    limits. Each limb gets the `target`, or a new empty at its tip, displayed as arrows if the tip turns with it; that
    of a finger, or whatever hangs on the tip of a limb, waits to be moved. A limb that has a target keeps it and all
    its settings. Raises ChainError if there are no bones, if a line has gaps, or if all have been limbs before,
    SettingError for a preset that cannot be read; then nothing has changed.
    """
    check_registered()
    if not bones:
        raise ChainError("No bones are selected. Select the bones of the limb, or the one at its end.")
    plans = _plans(armature, [find_bone(armature, name).name for name in bones])
    new = {tip: plan for tip, plan in plans.items() if armature.pose.bones[tip].ik_triangulation.target is None}
    if not new:
        raise ChainError(f"'{next(iter(plans))}' ends a limb already. Select other bones.")
    stamp(armature)
    for tip, plan in new.items():
        turns = plan.limb is not None and plan.limb.turns
        if plan.looks:
            reached = target or _looked_at(armature) or new_ball(armature, tip)
            armature.pose.bones[tip].ik_triangulation.orientation = "LOOK"
        else:
            reached = target or new_target(armature, tip, turns)
        stored = armature.pose.bones[tip].ik_triangulation
        stored.chain_count, stored.use_selected = plan.count, False
        stored.body_part = plan.limb.kind.name if plan.limb else "NONE"
        stored.target, stored.subtarget = reached, ""
        if target is None and not plan.looks:
            hangs = any(above.ik_triangulation.target for above in armature.pose.bones[tip].parent_recursive)
            (let_wait if hangs else remember_made)(armature.pose.bones[tip])
        if turns and target is None:
            keep_orientation(armature, tip, reached)
            if plan.limb.kind is ARM:
                remember_rotation(reached)
        if plan.limb and plan.preset:
            give_limits(armature, plan.limb, plan.preset)
    return list(new)


def new_target(armature: Object, tip: str, turns: bool = False) -> Object:
    """Create an empty at the tail of the bone `tip` as it is shown, with its rotation, in the collection of targets.

    With `turns` it is displayed as arrows, so that the tip turns with it. Raises ChainError for no such bone.
    """
    bone = armature.pose.bones[find_bone(armature, tip).name]
    empty = bpy.data.objects.new(f"{tip} Target", None)
    empty.empty_display_type = "ARROWS" if turns else "PLAIN_AXES"
    place = armature.matrix_world @ Matrix.Translation(bone.tail - bone.head) @ bone.matrix
    empty.empty_display_size = _SIZE * bone.length * scale_of(armature)
    empty.matrix_world = place.normalized()
    empty.show_in_front = True  # it is inside the character
    keep_target(armature, empty, bpy.context.scene, bpy.context.view_layer)
    return empty


def new_ball(armature: Object, tip: str) -> Object:
    """Create a ball straight ahead of an eye, or between it and the other one; returns that empty."""
    bones, ball = armature.pose.bones, new_target(armature, tip)
    both = [bones[name] for name in dict.fromkeys((tip, bpy.utils.flip_name(tip))) if name in bones]
    places = []
    for bone in both:
        look = look_of(armature, bone.name)
        ahead = look.origin + look.axis * (_AHEAD * bones[tip].bone.length)
        places.append(armature.matrix_world @ bone.matrix @ (Vector((0.0, bone.bone.length, 0.0)) + ahead))
    ball.location = sum(places, Vector()) / len(places)
    ball.empty_display_type = "SPHERE"
    return ball


def _looked_at(armature: Object) -> Object | None:
    """Return what a head or an eye of the armature looks at already; None if none does."""
    limbs = (bone.ik_triangulation for bone in armature.pose.bones)
    return next((limb.target for limb in limbs if limb.orientation == "LOOK" and limb.target is not None), None)


def give_new_target(armature: Object, tip: str) -> Object:
    """Make a new empty the target of the limb that ends in `tip`, as Add Limb does, and return it.

    Raises ChainError for no such bone.
    """
    limb = _limb_at(armature, find_bone(armature, tip).name)
    turns = limb is not None and limb.turns
    empty = new_target(armature, tip, turns)
    stored = armature.pose.bones[tip].ik_triangulation
    stored.target, stored.subtarget = empty, ""
    if limb is not None and turns and limb.kind is ARM:
        remember_rotation(empty)
    return empty


def _limb_at(armature: Object, tip: str) -> BodyLimb | None:
    """Return the limb that ends in `tip` as it is recognised."""
    line = _turning(armature.pose.bones[tip], armature.pose.bones[tip].ik_triangulation.chain_count)
    return Anatomy(armature, Controls(armature)).limb_of(line)


def _plans(armature: Object, names: Sequence[str]) -> dict[str, _Plan]:
    """Return the limbs to make of these bones, by their tips."""
    bones, controls = armature.pose.bones, Controls(armature)
    anatomy = Anatomy(armature, controls)
    alone = [name for name in names if not _in_line(armature, name, names)]
    eyes = {
        name: turned_eye(name, bones) for name in alone if is_eye(name) and can_turn(bones[turned_eye(name, bones)])
    }
    plans = {tip: _Plan(1, None, None, looks=True) for tip in eyes.values()}
    alone, names = ([name for name in some if name not in eyes] for some in (alone, names))
    known = {name: limb for name in alone if (limb := anatomy.limb_with(name))}
    for limb in known.values():
        tip = bones[limb.bones[-1]]
        if _has_length(tip):
            count = tip.ik_triangulation.chain_count
            plans[tip.name] = _plan(armature, count, anatomy.limb_of(_turning(tip, count)))
        else:
            plans[tip.name] = _plan(armature, _length(bones, limb), limb)
    chosen = _controls(armature, [name for name in names if name not in known], controls)
    found = [bones[name] for name in chosen]
    for tip in found:
        if tip.name not in plans and not any(below.name in chosen for below in tip.children_recursive):
            count = _count(tip, chosen, controls)
            plans[tip.name] = _plan(armature, count, anatomy.limb_of(_turning(tip, count)))
    return plans


def _plan(armature: Object, count: int, limb: BodyLimb | None) -> _Plan:
    able = limb is not None and any(can_turn(armature.pose.bones[name]) for name in limb.bones)
    return _Plan(count, limb, read_preset(find_preset(limb.preset)) if limb and able else None)


def give_limits(armature: Object, limb: BodyLimb, preset: Preset) -> None:
    """Give the bones of a limb the ranges of a preset, and lock those between them, unless they have limits."""
    apply_preset(armature, limb.bones, preset, keep_limits=True)
    for name in bones_in_line(armature, limb.bones):
        if name not in limb.bones and is_unlimited(bone := armature.pose.bones[name]):
            store(Locked(), 0.0, bone.ik_triangulation_joint)


def keep_orientation(armature: Object, tip: str, empty: Object) -> None:
    """Store the offset that keeps the tip turned as it is where no empty can be turned like it, by uneven scale."""
    bone = armature.pose.bones[tip]
    told = orientation((armature.matrix_world.inverted_safe() @ empty.matrix_basis).to_3x3())
    turned = orientation(bone.matrix.to_3x3())
    stored = bone.ik_triangulation
    stored.use_offset = rotation_angle(told, turned) > _SAME
    if stored.use_offset:
        stored.offset_location, stored.offset_rotation = (0.0, 0.0, 0.0), told.conjugated() @ turned


def _in_line(armature: Object, name: str, names: Sequence[str]) -> bool:
    """Tell whether a bone is above or below another one of these."""
    bones = armature.pose.bones
    above = {bone.name for bone in bones[name].parent_recursive}
    return any(other in above or bones[name] in bones[other].parent_recursive for other in names if other != name)


def _has_length(tip: PoseBone) -> bool:
    return bool(tip.ik_triangulation.is_property_set("chain_count"))


def _length(bones: bpy.types.bpy_prop_collection, limb: BodyLimb) -> int:
    """Return the number of bones from the first to the last one of a limb, with those between."""
    line = [bones[limb.bones[-1]], *bones[limb.bones[-1]].parent_recursive]
    return 1 + line.index(bones[limb.bones[0]])


def _turning(tip: PoseBone, count: int) -> list[str]:
    """Return the names of the bones that can rotate of the `count` ones that end in `tip`, 0 for all, from the root."""
    line = [tip, *tip.parent_recursive][: count or None]
    return [bone.name for bone in reversed(line) if can_turn(bone)]


def _to_branch(line: Sequence[PoseBone]) -> int:
    """Return the number of bones from the tip up to the one that branches off."""
    branches = (number for number, above in enumerate(line[1:], 1) if sum(map(_carries, above.children)) > 1)
    return next(branches, len(line))


def _carries(bone: PoseBone) -> bool:
    """Tell whether a bone is more than a helper: other bones hang on it, or skin does."""
    return bool(bone.children) or bone.bone.use_deform


def _controls(armature: Object, names: Sequence[str], controls: Controls) -> dict[str, None]:
    """Return the bones to make limbs of: FK controls instead of others, and for the first of a limb the last one."""
    found = {name: controls.control(name) for name in names}
    lines = {name: {name, *(b.name for b in armature.pose.bones[name].parent_recursive)} for name in found.values()}
    ends: dict[str, None] = {}
    for name, control in found.items():
        others = lines.keys() - {control}
        single = not others & lines[control] and not any(control in lines[other] for other in others)
        ends[controls.end(control) if single and control != name else control] = None
    return ends


def _count(tip: PoseBone, chosen: Collection[str], controls: Controls) -> int:
    """Return the length of the chain from this tip up to the last chosen bone; the default length for a single bone.

    Bones that cannot rotate, such as helpers between controls, count only between two bones that can. Raises ChainError
    if bones between the chosen ones are not chosen.
    """
    line = [tip, *tip.parent_recursive]
    wanted = [bone.name in chosen for bone in line]
    if sum(wanted) == 1:
        whole = controls.count(tip.name)
        if whole and not _has_length(tip):
            return whole
        if not _has_length(tip):
            line = line[: _to_branch(line)]
        turning = [number for number, bone in enumerate(line, 1) if can_turn(bone)]
        most = tip.ik_triangulation.chain_count if _has_length(tip) else 0
        return turning[: most or None][-1] if turning else 1
    count = len(line) - wanted[::-1].index(True)
    gap = next((bone for bone in line[:count] if bone.name not in chosen and can_turn(bone)), None)
    if gap is not None:
        raise ChainError(
            f"'{gap.name}' is not selected, but lies between others that are. Select it as well, or only '{tip.name}'."
        )
    return count


_BALL = 0.25  # of the length of a head: radius of the ball it looks at
MOST_TIPS = 6  # of selected bones that are limbs of their own; more are those of a whole rig
_FEWEST = 2  # tips of a body
_PLURALS = {"ARM": "arms", "LEG": "legs"}
_LOW = 0.15  # of the armature's height: a chosen bone that ends below is a foot


class NewBody(NamedTuple):
    """The tips of a body that was set up: those that `reach`, those that are `held` and those that look; its `hips`.

    `doubts` are sentences for the user: what was recognised by shape alone, and what was not found. The arms of the
    tips in `relaxed` hang now, as nobody had posed them and they are spread at rest.
    """

    reach: tuple[str, ...]
    held: tuple[str, ...]
    hips: str
    looking: tuple[str, ...] = ()
    doubts: tuple[str, ...] = ()
    relaxed: tuple[str, ...] = ()


@all_or_nothing
def set_up_body(armature: Object, bones: Sequence[str] = (), relax_arms: bool = True) -> NewBody:
    """Make the limbs of a body: arms that reach from the hips up, feet held, a head that looks, and balance.

    The tips are those of the `bones`, of which feet and what ends near the ground are held and heads look; without any,
    the hands, feet and head that are recognised. Until its own target is moved a head looks where hands go. An animal
    that stands on all its feet has only held ones. Bones without limits get the ranges of their presets. Hands and head
    get new empties, which wait until they are moved (rig.targets.untouched). With `relax_arms` the arms of new limbs
    hang where nobody has posed or animated them and the rest pose spreads them. Limbs keep their targets and settings
    but for their length. Raises ChainError where no feet are found, or only one and no hand, or where they hang on no
    common bone that can move; then nothing has changed.
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
            whole, preset = _with_clavicle(armature, anatomy, limb), presets[limb.preset]
            if whole is not limb:  # from the clavicle on, also where there is no hand
                preset = replace(preset, joints=preset.joints[: len(whole.bones)])
            give_limits(armature, whole, preset)
    trunk = _trunk(armature, anatomy, hips)
    if any(can_turn(armature.pose.bones[name]) for name in trunk):
        apply_preset(armature, trunk, presets[SPINE.preset], keep_limits=True)
    lacking = [name for name in tips if name not in held and armature.pose.bones[name].ik_triangulation.target is None]
    with Undo() as undo:
        relaxed = _relax(armature, {name: tips[name] for name in lacking}, undo) if relax_arms else ()
        for name in lacking:
            _give_target(armature, name, tips[name])
        undo.pop_all()
    settings = armature.ik_triangulation
    settings.balance = settings.look_at_hands = settings.swing_arms = True
    armature.update_tag()
    doubts = () if bones else doubts_about(anatomy, limbs)
    return NewBody(tuple(reach), tuple(held), hips, tuple(looking), doubts, relaxed)


def doubts_about(anatomy: Anatomy, limbs: Sequence[BodyLimb]) -> tuple[str, ...]:
    """Return what the user may have to look at: limbs by shape alone, sides that differ, a head that is missing.

    Only a pair of legs, without arms or wings, may be that of an animal whose front legs were not found.
    """
    doubts = []
    if sum(limb.kind is LEG for limb in limbs) <= _FEWEST and not any(map(anatomy.limbs, (ARM, WING))):
        doubts.append("only two legs were found, and no arms")
    for kind in (ARM, LEG):
        sides = {side: [len(limb.bones) for limb in limbs if limb.kind is kind and limb.side == side] for side in "LR"}
        if sides["L"] != sides["R"]:
            doubts.append(f"the {_PLURALS[kind.name]} of the two sides differ")
        elif kind.name in anatomy.by_shape and sides["L"]:
            doubts.append(f"{_PLURALS[kind.name]} were recognized by shape")
    if not any(limb.kind is NECK for limb in limbs):
        doubts.append("no head was found")
    return tuple(doubts)


class _Arm(NamedTuple):  # as live_constraints() asks for
    armature: Object
    bones: Sequence[str]


def _relax(armature: Object, tips: Mapping[str, BodyLimb | None], undo: ExitStack) -> tuple[str, ...]:
    """Let arms hang whose only pose is a spread one at rest; return their tips. Closing `undo` raises them again."""
    bones, relaxed = armature.pose.bones, []
    moving = {curve.data_path for curve in moving_curves(armature)}
    for tip, limb in tips.items():
        if limb is None or limb.kind is not ARM or _is_posed(_Arm(armature, limb.bones), moving):
            continue
        turns = relaxed_arm(armature, limb)
        for name, turn in turns.items():
            bone, freedom = bones[name], freedom_of(bones[name])
            before = tuple(getattr(bone, channel(bone)[0]))
            undo.callback(set_rotation, bone, before)
            set_rotation(bone, values_for(turn, bone.rotation_mode, freedom, before))
        relaxed += [tip] if turns else []
    if relaxed:
        bpy.context.view_layer.update()
    return tuple(relaxed)


def _is_posed(arm: _Arm, moving: Collection[str]) -> bool:
    """Tell whether an arm is not at rest, or animated: by channels that are `moving`, or by constraints."""
    for bone in (arm.armature.pose.bones[name] for name in arm.bones):
        paths = {bone.path_from_id(prop) for prop in ("location", channel(bone)[0])}
        if rotation_angle(rotation_of(bone), Quaternion()) > _SAME or not paths.isdisjoint(moving):
            return True
    return any(not constraint.type.startswith("LIMIT_") for constraint in live_constraints(arm))


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
    bones, spines = armature.pose.bones, [limb.bones for limb in anatomy.limbs(SPINE)]
    line = spines[0] if spines else ()
    return [name for name in line if name != hips and bones[hips] in bones[name].parent_recursive]

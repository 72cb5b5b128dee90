# SPDX-License-Identifier: GPL-3.0-or-later
"""Creation of limbs from selected bones, with new targets if none is given."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass

import bpy
from bpy.types import Object, PoseBone
from mathutils import Matrix, Vector

from ..errors import ChainError
from ..kinematics import Locked
from ..kinematics.rotation import orientation, rotation_angle
from ..presets import Preset, apply_preset, find_preset, read_preset
from ..rig.anatomy.limbs import ARM, Anatomy, BodyLimb
from ..rig.anatomy.names import is_eye, turned_eye
from ..rig.armature import bones_in_line, find_bone
from ..rig.controls import Controls
from ..rig.freedom import can_turn, is_unlimited, store
from ..rig.map_objects import home
from ..rig.stance import look_of
from ..rig.targets.untouched import remember_made, remember_rotation
from ..rig.units import scale_of
from ..settings import check_registered
from ..settings.edition import stamp
from .writing import all_or_nothing

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
    limits. Each limb gets the `target`, or a new empty at its tip, displayed as arrows if the tip turns with it; a limb
    that has a target keeps it and all its settings. Raises ChainError if there are no bones, if a line has gaps, or if
    all have been limbs before, SettingError for a preset that cannot be read; then nothing has changed.
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
            remember_made(armature.pose.bones[tip])
        if turns and target is None:
            keep_orientation(armature, tip, reached)
            if plan.limb.kind is ARM:
                remember_rotation(reached)
        if plan.limb and plan.preset:
            give_limits(armature, plan.limb, plan.preset)
    return list(new)


@all_or_nothing
def remove_limb(armature: Object, tip: str) -> None:
    """Clear the target of the limb that ends in `tip`, let go of it and reset its length; its other settings stay.

    Raises ChainError for no such bone.
    """
    check_registered()
    stored = armature.pose.bones[find_bone(armature, tip).name].ik_triangulation
    for name in ("target", "hold", "chain_count", "body_part"):
        stored.property_unset(name)
    armature.update_tag()  # of a value that is unset Blender tells nobody


def new_target(armature: Object, tip: str, turns: bool = False) -> Object:
    """Create an empty at the tail of the bone `tip` as it is shown, with its rotation, in the armature's collection.

    With `turns` it is displayed as arrows, so that the tip turns with it. Raises ChainError for no such bone.
    """
    bone = armature.pose.bones[find_bone(armature, tip).name]
    empty = bpy.data.objects.new(f"{tip} Target", None)
    empty.empty_display_type = "ARROWS" if turns else "PLAIN_AXES"
    place = armature.matrix_world @ Matrix.Translation(bone.tail - bone.head) @ bone.matrix
    empty.empty_display_size = _SIZE * bone.length * scale_of(armature)
    empty.matrix_world = place.normalized()
    empty.show_in_front = True  # it is inside the character
    home(armature, bpy.context.scene, bpy.context.view_layer).objects.link(empty)
    return empty


def new_ball(armature: Object, tip: str) -> Object:
    """Create a ball straight ahead of an eye, or between it and the other one; returns that empty."""
    bones, ball = armature.pose.bones, new_target(armature, tip)
    both = [bones[name] for name in dict.fromkeys((tip, bpy.utils.flip_name(tip))) if name in bones]
    places = []
    for bone in both:
        look = look_of(armature, bone.name)
        ahead = look.origin + look.axis * (_AHEAD * bones[tip].length)
        places.append(armature.matrix_world @ bone.matrix @ (Vector((0.0, bone.length, 0.0)) + ahead))
    ball.location = sum(places, Vector()) / len(places)
    ball.empty_display_type = "SPHERE"
    return ball


def _looked_at(armature: Object) -> Object | None:
    """Return what a head or an eye of the armature looks at already; None if none does."""
    limbs = (bone.ik_triangulation for bone in armature.pose.bones)
    return next((limb.target for limb in limbs if limb.orientation == "LOOK" and limb.target is not None), None)


def tip_turns(armature: Object, tip: str) -> bool:
    """Tell whether the limb that ends in `tip` ends in a hand, foot, chest or head, which turns with a new target."""
    limb = _limb_at(armature, tip)
    return limb is not None and limb.turns


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
        bone = armature.pose.bones[name]
        if name not in limb.bones and is_unlimited(bone):
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

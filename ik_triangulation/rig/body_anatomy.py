# SPDX-License-Identifier: GPL-3.0-or-later
"""The anatomy of a body of an armature: the part of each bone, its arms and legs, and how their elbows and knees flex.

Bones are known by their names, or by their shape; limbs that are not, by what they were set up as and by the lengths
of their bones. Flexion comes from the stance of the character, never from the roll of a bone.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise

from bpy.types import Object
from mathutils import Vector

from ..kinematics import Body
from ..kinematics.body_anatomy import ARM_PARTS, LEG_PARTS, BodyAnatomy, LimbLine, Part, TwoPartLimb, parts_of_limbs
from ..kinematics.flexion import anatomical_flexion
from .anatomy.limbs import ARM, LEG, LimbKind
from .anatomy.names import BESIDE, BodyPart
from .anatomy.reading import rest_body
from .stance import Stance, has_hinge, outwards_of, stance_of

_PARTS = {
    "hips": Part.TRUNK,
    "spine": Part.TRUNK,
    "trunk": Part.TRUNK,
    "clavicle": Part.GIRDLE,
    "hip": Part.GIRDLE,
    "neck": Part.SIMPLE,
    "head": Part.SIMPLE,
}


def body_anatomy(armature: Object, body: Body) -> BodyAnatomy:
    """Return the anatomy of a body whose joints and tips have the names of bones."""
    known = rest_body(armature)
    parts = [known.part(joint.name) for joint in body.joints]
    guess, legs = body.tree.anatomy, set[TwoPartLimb]()
    found: dict[TwoPartLimb, Vector | None] = {}
    for tip, line in zip(body.tips, body.tree.lines, strict=True):
        kind, limb = _named_limb(parts, body.path(tip.joint))
        stored = getattr(armature.pose.bones[tip.name], "ik_triangulation", None)  # not there unless registered
        told = stored.body_part if stored else ""
        is_named = limb is not None
        if limb is None:
            limb = next((limb for limb in guess.limbs if limb.end in line.joints), None)
            guessed_leg = limb is not None and guess.parts[limb.upper] == Part.THIGH
            kind = LEG if told == LEG.name or (told != ARM.name and guessed_leg) else ARM
        if limb is not None:
            name = told if has_hinge(told) else kind.name if kind and is_named else ""
            found[limb] = _outwards(armature, body, name, limb, parts) if name else None
            legs |= {limb} if kind is LEG else set()
    limbs = tuple(found)
    stance = stance_of(armature)
    flexion = [_flexion(armature, body, stance, limb, limb in legs) for limb in limbs]
    return BodyAnatomy(_parts(body, parts, body.tree.lines, limbs, legs), limbs, tuple(flexion), tuple(found.values()))


def _named_limb(parts: Sequence[BodyPart | None], path: Sequence[int]) -> tuple[LimbKind | None, TwoPartLimb | None]:
    """Return the arm or leg that the joints from hips to tip are by their parts, and its kind."""
    for kind in (ARM, LEG):
        first: dict[str, int] = {}
        for joint in path:
            part = parts[joint]
            if part is not None and part.role != BESIDE:
                first.setdefault(part.part, joint)
        joints = [first.get(part, -1) for part in kind.parts]
        if joints[0] >= 0 and all(before < after for before, after in pairwise(joints)):
            return kind, TwoPartLimb(*joints)
    return None, None


def _outwards(armature: Object, body: Body, part: str, limb: TwoPartLimb, named: Sequence[BodyPart | None]) -> Vector:
    """Return the direction in which a limb's elbow or knee goes, in the axes of the bone above it."""
    first = named[limb.upper]
    names = [body.joints[joint].name for joint in body.path(limb.end) if joint >= limb.upper]
    return outwards_of(armature, part, names, first.side if first else "")


def _flexion(armature: Object, body: Body, stance: Stance, limb: TwoPartLimb, is_leg: bool) -> Vector | None:
    """Return the axis about which a limb's elbow or knee flexes, in the rest frame of its bone.

    A knee goes ahead when it bends; of an elbow it is the forearm that goes ahead.
    """
    upper, middle, end = (armature.data.bones[body.joints[joint].name] for joint in limb)
    towards = stance.front if is_leg else -stance.front
    links = middle.head_local - upper.head_local, end.head_local - middle.head_local
    axis = anatomical_flexion(towards, *links)
    return None if axis is None else middle.matrix_local.to_3x3().normalized().transposed() @ axis


def _parts(
    body: Body,
    named: Sequence[BodyPart | None],
    lines: Sequence[LimbLine],
    limbs: Sequence[TwoPartLimb],
    legs: set[TwoPartLimb],
) -> tuple[Part, ...]:
    """Return the part of each joint: of limbs by their joints, of the others by their names, else by their place."""
    parts, above = list(parts_of_limbs(len(body.joints), lines, limbs, legs)), body.tree.above
    names: Mapping[int, Part] = {
        joint: _PARTS[part.part] for joint, part in enumerate(named) if part is not None and part.part in _PARTS
    }
    for joint in range(1, len(parts)):
        limb = next((limb for limb in limbs if above[limb.upper, joint]), None)
        if limb is not None:
            own = LEG_PARTS if limb in legs else ARM_PARTS
            parts[joint] = own[int(above[limb.middle, joint]) + int(above[limb.end, joint])]
        else:
            parts[joint] = names.get(joint, parts[joint])
    return tuple(parts)

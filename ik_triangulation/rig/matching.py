# SPDX-License-Identifier: GPL-3.0-or-later
"""The place of a tip relative to its target: a stored offset, or the same place as a bone that is matched.

A bone that is matched has its head at the target's head and is turned alike. Where both are the same part of two
characters, or a bone and its control, alike is as their anatomy says, whatever axes the bones have: a hand by its
fingers and its palm, a foot by the ground and its toes, everything else by the stance of the character.
"""

from __future__ import annotations

from typing import NamedTuple

from bpy.types import Object
from mathutils import Matrix, Quaternion, Vector

from ..kinematics.rotation import orientation
from .anatomy.hands import hand_of
from .anatomy.limbs import RestBody, rest_body
from .stance import Stance, stance_of

_HEADS = 0.25  # of the tip's length: distance at rest of a bone that begins at the same place
_SIDEWAYS = 0.2  # least length of a direction that is seen from above


class Offset(NamedTuple):
    """Location and rotation of the tip in the target's space.

    The location of a bone that is `matched` is in the target's axes without their scale, in lengths of the limb's
    armature at rest.
    """

    location: Vector
    rotation: Quaternion
    matched: bool = False

    def place(self, target: Matrix, scale: float = 1.0) -> Vector:
        """Return the tip's place for the target's frame (4x4); `scale` is that of the limb's lengths in its space."""
        if not self.matched:
            return target @ self.location
        return target.translation + orientation(target.to_3x3()) @ (self.location * scale)


def matches(armature: Object, tip: str, target: Object, subtarget: str) -> bool:
    """Tell whether a tip and a target's bone correspond: then Automatic matches them, head to head.

    In one armature they do where they begin at one place at rest, as a bone and its control; those of two armatures
    where they are the same part of the body, or have the same name. All else is a target for the end of the limb.
    """
    bone, other = armature.data.bones.get(tip), target.data.bones.get(subtarget)
    if bone is None or other is None:
        return False
    if armature == target:
        return (bone.head_local - other.head_local).length <= _HEADS * bone.length
    part, same = rest_body(armature).part(tip), rest_body(target).part(subtarget)
    if part is None or same is None:
        return tip == subtarget
    if part.part == "finger":
        return (part.finger, part.number) == (same.finger, same.number)
    return part.part == same.part


def matched_offset(armature: Object, tip: str, target: Object, subtarget: str) -> Offset:
    """Return the offset of a tip whose bone has the place of a target's bone and is turned alike."""
    turn = _turned_alike(armature, tip, target, subtarget)
    length: float = armature.data.bones[tip].length
    return Offset(turn @ Vector((0.0, length, 0.0)), turn, matched=True)


def _turned_alike(armature: Object, tip: str, target: Object, subtarget: str) -> Quaternion:
    """Return the rotation of a tip in the frame of the bone that it matches."""
    bone, other = armature.data.bones[tip], target.data.bones[subtarget]
    own, theirs = (orientation(each.matrix_local.to_3x3()) for each in (bone, other))
    if armature == target:
        near = (bone.head_local - other.head_local).length <= _HEADS * bone.length
        return theirs.conjugated() @ own if near else Quaternion()
    bodies = rest_body(armature), rest_body(target)
    part, same = bodies[0].part(tip), bodies[1].part(subtarget)
    if part is None or same is None or part.part != same.part:
        return Quaternion()
    stances = map(stance_of, (armature, target))
    frames = [end_frames(*each) for each in zip(bodies, stances, (tip, subtarget), strict=True)]
    kind = next(kind for kind in frames[0] if kind in frames[1])
    return theirs.conjugated() @ frames[1][kind] @ frames[0][kind].conjugated() @ own


def end_frames(body: RestBody, stance: Stance, name: str) -> dict[str, Quaternion]:
    """Return the frames that anatomy gives a bone at rest, armature space, the most telling first.

    Those of two characters are comparable if they have the same key. That of the stance is always there.
    """
    part, found = body.part(name), dict[str, Quaternion]()
    if part is not None and part.part == "hand":
        hand = hand_of(body, name)
        if hand is not None:
            found["hand"] = frame_along(hand.along, hand.palm)
    elif part is not None and part.part == "foot":
        bone = body.bones[name]
        toe = next((n for n, each in body.bones.items() if each.parent == name and _is_toe(body, n)), None)
        along = Vector(body.bones[toe].head if toe else bone.tail) - Vector(bone.head)
        along -= stance.up * along.dot(stance.up)
        if along.length > _SIDEWAYS * bone.length:
            found["foot"] = frame_along(along, stance.up)
    found["stance"] = frame_along(stance.front, stance.up)
    return found


def _is_toe(body: RestBody, name: str) -> bool:
    part = body.part(name)
    return part is not None and part.part == "toe"


def frame_along(along: Vector, above: Vector) -> Quaternion:
    """Return the rotation whose Y axis is `along` and whose Z axis is as near to `above` as it can be."""
    return orientation(Matrix((along, along, above)).transposed())

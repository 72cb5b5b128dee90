# SPDX-License-Identifier: GPL-3.0-or-later
"""The stance of a character: front, up and left; how arms hang and heads look; the anatomy of a body; where tips match.

The stance of a character at rest: what is in front of it, up, and on its left, whatever axes its armature has. Every
direction that anatomy decides is taken from here. Programs with Y up write armatures that are upright along Y in an
object turned by 90 degrees; others face +X.

The anatomy of a body of an armature: the part of each bone, its arms and legs, and how their elbows and knees flex.
Bones are known by their names, or by their shape; limbs that are not, by what they were set up as and by the lengths of
their bones. Flexion comes from the stance of the character, never from the roll of a bone.

The place of a tip relative to its target is a stored offset, or that of a bone that is matched. Such a bone has its
head at the target's head and is turned alike. Where both are the same part of two characters, or a bone and its
control, alike is as their anatomy says, whatever axes the bones have: a hand by its fingers and its palm, a foot by the
ground and its toes, everything else by the stance of the character.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache
from math import radians
from typing import NamedTuple

from bpy.types import Object
from mathutils import Matrix, Quaternion, Vector

from ..errors import SettingError
from ..kinematics import Body
from ..kinematics.body_anatomy import ARM_PARTS, LEG_PARTS, BodyAnatomy, LimbLine, Part, TwoPartLimb, parts_of_limbs
from ..kinematics.framed import anatomical_flexion
from ..kinematics.rotation import orientation
from ..settings.goal import LOOK_AXES
from .anatomy.hands import hand_of
from .anatomy.limbs import ARM, LEG, NECK, SPINE, BodyLimb, LimbKind, RestBody, rest_body
from .anatomy.names import BESIDE, BodyPart
from .armature import find_bone
from .freedom import freedom_of

_AXES = tuple(sign * Vector(axis) for axis in ((1, 0, 0), (0, 1, 0), (0, 0, 1)) for sign in (1.0, -1.0))
# Cosines of the angles to an axis of the armature along which a body is meant to face and to be upright then.
_NEARLY, _UPRIGHT = 0.9994, 0.9  # hind legs that crouch at rest, as a cat's, lead up at a slant
# Cosines of the angle of such an axis to the left, which limbs tell exactly, but up by some degrees only: of a rig that
# is symmetric, and of one that is not quite.
_SQUARE, _ASKEW = 1e-3, 0.0175
_Y_UP = 0.96  # cosine of the angle of up to the Y axis of an armature without limbs
_KEPT = 8  # skeletons whose stance is kept
_FLAT = 0.1  # length of the product of two unit vectors that are too near to each other to tell a side
# Directions in which elbows and knees go, as shares of the left (on the left side), the front and up.
_SIDES = {"L": 1.0, "R": -1.0}
_OUTWARDS = {"ARM": (0.6, -0.6, -0.5), "LEG": (0.0, 1.0, 0.0)}
_FORE_LEG = (0.0, -1.0, 0.0)

_AHEAD = 0.7  # cosine of the angle to the front up to which a bone itself looks, as that of an eye
_BONE = Vector((0.0, 1.0, 0.0)).freeze()

_PARTS = {
    "hips": Part.TRUNK,
    "spine": Part.TRUNK,
    "trunk": Part.TRUNK,
    "clavicle": Part.GIRDLE,
    "hip": Part.GIRDLE,
    "neck": Part.SIMPLE,
    "head": Part.SIMPLE,
    # Of limbs without a hand or foot, as robots have them.
    "upper_arm": Part.UPPER_ARM,
    "forearm": Part.FOREARM,
    "thigh": Part.THIGH,
    "shin": Part.SHIN,
}


class Stance(NamedTuple):
    """Unit directions in armature space: in `front` of the body, and `up`, square to each other."""

    front: Vector
    up: Vector

    @property
    def left(self) -> Vector:
        """The direction to the body's own left."""
        return self.up.cross(self.front)

    def direction(self, left: float, front: float, up: float) -> Vector:
        """Return a direction in armature space from its shares of left, front and up."""
        return self.left * left + self.front * front + self.up * up

    def outwards(self, part: str, side: float, is_fore: bool = False) -> Vector:
        """Return the direction in which the elbow of an "ARM" or the knee of a "LEG" goes when the limb bends.

        `side` is 1 on the left of the body and -1 on its right. The elbow of a front leg goes backwards. Raises
        KeyError for other parts.
        """
        left, front, up = _FORE_LEG if is_fore and part == LEG.name else _OUTWARDS[part]
        return self.direction(side * left, front, up)


def has_hinge(part: str) -> bool:
    """Tell whether a part of the body bends at an elbow or knee."""
    return part in _OUTWARDS


def stance_of(armature: Object) -> Stance:
    """Return the stance of a body at rest, by its legs, or else its arms and its trunk.

    The front is square to the line between left and right limbs, and to the way up the legs. Without any of them it is
    -Y, as Blender has it, in an armature with Z up; one that its object turns to have Y up looks along Z.
    """
    body = rest_body(armature)
    above = armature.matrix_world.to_3x3().inverted_safe() @ Vector((0.0, 0.0, 1.0))
    return _stance(body, (above.normalized() if above.length else Vector((0.0, 0.0, 1.0))).freeze())


@lru_cache(maxsize=_KEPT)
def _stance(body: RestBody, world_up: Vector) -> Stance:
    """Return the stance of a skeleton, in an armature in which this unit direction is up in the world."""
    above = max((axis.copy() for axis in _AXES), key=world_up.dot)
    for kind in (LEG, ARM):
        left, right = ([_places(body, limb.bones) for limb in body.limbs(kind) if limb.side == side] for side in "LR")
        if left and right:
            side = (_middle(left, 0) - _middle(right, 0)).normalized()
            up = _up_legs(left, right) if kind is LEG else _up_trunk(body) or above
            up, is_written_so = _upright(up.normalized(), side, world_up)
            front = side.cross(up)
            if front.length > _FLAT:
                front = _squared(front.normalized(), _NEARLY, side, _ASKEW if is_written_so else 0.0)
                return Stance(front.freeze(), (up - front * up.dot(front)).normalized().freeze())
    front = Vector((0.0, 0.0, 1.0)) if above.y > _Y_UP else Vector((0.0, -1.0, 0.0))
    return Stance(front.freeze(), above.freeze())


def _places(body: RestBody, bones: Sequence[str]) -> list[Vector]:
    """Return the heads of a limb's bones and the tail of the last one."""
    return [*(Vector(body.bones[name].head) for name in bones), Vector(body.bones[bones[-1]].tail)]


def _middle(limbs: Sequence[Sequence[Vector]], place: int) -> Vector:
    """Return the mean of the joints of some limbs at a place of each."""
    return sum((limb[place] for limb in limbs), Vector()) / len(limbs)


def _up_legs(left: Sequence[Sequence[Vector]], right: Sequence[Sequence[Vector]]) -> Vector:
    """Return the direction up the legs; with several pairs, as a spider's spread, that square to the ground."""
    if min(len(left), len(right)) < 2:
        return _middle([*left, *right], 0) - _middle([*left, *right], -2)
    up = _middle([*left, *right], 0) - _middle([*left, *right], -1)
    along = _middle([left[0], right[0]], -1) - _middle([left[-1], right[-1]], -1)
    ground = along.cross(_middle(left, -1) - _middle(right, -1))
    return ground * ground.dot(up) if ground.length > 0.0 else up


def outwards_of(armature: Object, part: str, names: Sequence[str], side: str = "") -> Vector:
    """Return the direction in which elbow or knee of a limb goes when it bends, in the axes of the bone above at rest.

    `names` are its bones from the first one on, `side` is "L" or "R" where that is known.
    """
    stance, first = stance_of(armature), armature.data.bones[names[0]]
    is_fore = rest_body(armature).is_fore_leg(names[0])
    outwards = stance.outwards(part, _SIDES.get(side) or side_of(armature, stance, names), is_fore)
    return first.parent.matrix_local.to_3x3().transposed() @ outwards if first.parent else outwards


def side_of(armature: Object, stance: Stance, names: Sequence[str]) -> float:
    """Return 1 for bones on the left of an armature's origin at rest, else -1."""
    bones = [armature.data.bones[name] for name in names]
    return 1.0 if sum((bone.head_local + bone.tail_local).dot(stance.left) for bone in bones) >= 0.0 else -1.0


def _up_trunk(body: RestBody) -> Vector | None:
    """Return the direction from the first to the last bone of spine or neck; None without these."""
    for kind in (SPINE, NECK):
        for limb in body.limbs(kind):
            first, last = (Vector(body.bones[limb.bones[n]].head) for n in (0, -1))
            if (last - first).length > 0.0:
                return last - first
    return None


def _upright(way: Vector, left: Vector, world_up: Vector) -> tuple[Vector, bool]:
    """Return what is up for a body whose limbs tell a direction, and False where that is up in the world.

    That is an axis of the armature, or, if the body was drawn along none, up in the world. What is animated may lean
    with its object.
    """
    written = _squared(way, _UPRIGHT, left, _SQUARE)
    if written is way and world_up.dot(way) > _UPRIGHT and abs(world_up.dot(left)) < _SQUARE:
        return world_up.copy(), False
    return _squared(written, _UPRIGHT, left, _ASKEW), True


def _squared(way: Vector, least: float, left: Vector, most: float) -> Vector:
    """Return the armature's axis square to `left` whose cosine to a direction is at `least` this, or the direction.

    Feet are a little ahead of the hips, or behind them. An axis whose cosine to the body's left is not below `most`
    is not one along which the body was drawn.
    """
    nearest = max(_AXES, key=way.dot)
    is_meant = nearest.dot(way) > least and abs(nearest.dot(left)) < most
    return nearest.copy() if is_meant else way


# A relaxed arm: shares of left, front and up of the direction of its upper part; angles [rad] by which that is turned
# in, and by which the elbow is bent. People who stand hold it so that the hand is a little ahead of the hip.
_HANGING = (0.18, -0.05, -1.0)
_TURNED_IN, _RELAXED_BEND = radians(20.0), radians(21.0)
_HANGS = radians(20.0)  # angle to hanging up to which an arm hangs already


def relaxed_arm(armature: Object, limb: BodyLimb) -> dict[str, Quaternion]:
    """Return the turns of upper arm and forearm, from rest in their own axes, by which an arm hangs relaxed.

    Rest poses are made for modelling: arms are spread, in a T or an A. A relaxed arm hangs beside the body, a little
    bent and turned in, as far as limits allow. Empty for one that hangs at rest.
    """
    bones, stance = armature.data.bones, stance_of(armature)
    upper, lower = (bones[name] for name in limb.bones[:2])
    wrist = bones[limb.bones[2]].head_local if len(limb.bones) > 2 else lower.tail_local
    links = lower.head_local - upper.head_local, wrist - lower.head_local
    if min(link.length for link in links) == 0.0 or links[0].angle(-stance.up) < _HANGS:
        return {}
    side = _SIDES.get(limb.side) or side_of(armature, stance, limb.bones)
    left, front, up = _HANGING
    hanging = stance.direction(side * left, front, up).normalized()
    turns = {upper.name: Quaternion(hanging, side * _TURNED_IN) @ links[0].rotation_difference(hanging)}
    axis = anatomical_flexion(-stance.front, *links)
    if axis is not None:
        turns[lower.name] = Quaternion(axis, _RELAXED_BEND - links[0].angle(links[1]))
    for name, turn in turns.items():
        frame = orientation(bones[name].matrix_local.to_3x3())
        turns[name] = freedom_of(armature.pose.bones[name]).nearest(frame.conjugated() @ turn @ frame)
    return turns


class Look(NamedTuple):
    """The `axis` of a bone that looks, the `origin` of the look from its tail, and what is `up` for a face.

    All are in the bone's own axes.
    """

    axis: Vector
    origin: Vector
    up: Vector | None


def look_of(armature: Object, tip: str, chosen: str = "AUTO") -> Look:
    """Return the look of a bone along the `chosen` one of LOOK_AXES, from the middle of the bone.

    AUTO is the bone itself if it points to the front at rest, as that of an eye, and otherwise the front of the body:
    a face looks straight ahead at rest, however its bone leans. An eye may roll, as eyes do. Raises SettingError
    for an unknown axis.
    """
    bone = find_bone(armature, tip)
    middle, into = Vector((0.0, -0.5 * bone.length, 0.0)), bone.matrix_local.to_3x3().transposed()
    own, up = (into @ way for way in stance_of(armature))
    if chosen == "AUTO":
        is_eye = own.y >= _AHEAD
        return Look(_BONE.copy() if is_eye else own, middle, None if is_eye else up)
    if chosen not in LOOK_AXES:
        raise SettingError(f"Axis '{chosen}' is unknown. Choose one of {', '.join(('AUTO', *LOOK_AXES))}.")
    axis = Vector([1.0 if letter == chosen[-1] else 0.0 for letter in "XYZ"])
    axis = -axis if chosen.startswith("-") else axis
    return Look(axis, middle, up if abs(axis.dot(up)) < _AHEAD else None)


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
        if joints[-1] < 0:  # a robot's, without a hand or foot
            joints[-1] = joints[-2]
        if joints[0] >= 0 and joints[0] < joints[1] <= joints[2]:
            return kind, TwoPartLimb(*joints)
    return None, None


def _outwards(armature: Object, body: Body, part: str, limb: TwoPartLimb, named: Sequence[BodyPart | None]) -> Vector:
    """Return the direction in which a limb's elbow or knee goes, in the axes of the bone above it."""
    first = named[limb.upper]
    names = [body.joints[joint].name for joint in body.path(limb.end) if joint >= limb.upper]
    return outwards_of(armature, part, names, first.side if first else "")


def _flexion(armature: Object, body: Body, stance: Stance, limb: TwoPartLimb, is_leg: bool) -> Vector | None:
    """Return the axis about which a limb's elbow or knee flexes, in the rest frame of its bone.

    A knee goes ahead when it bends; of an elbow, of a front leg as well, it is the forearm that goes ahead.
    """
    upper, middle, end = (armature.data.bones[body.joints[joint].name] for joint in limb)
    wrist = end.head_local if limb.has_end else end.tail_local
    towards = stance.front if is_leg and not rest_body(armature).is_fore_leg(upper.name) else -stance.front
    links = middle.head_local - upper.head_local, wrist - middle.head_local
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
            parts[joint] = own[limb.part(bool(above[limb.middle, joint]), bool(above[limb.end, joint]))]
        else:
            parts[joint] = names.get(joint, parts[joint])
    return tuple(parts)


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

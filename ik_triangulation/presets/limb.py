# SPDX-License-Identifier: GPL-3.0-or-later
"""Applying a preset to the bones of a limb, and making a preset from them, whatever their rolls and directions are.

Limits of a preset are in the axes of the limb: at each joint Y leads to the next one, X is the axis of flexion. They
are stored in these axes; where they are the bone's own but for quarter turns about it, in the bone's. A finger flexes
towards the palm of its hand, a front leg like an arm: with its elbow behind.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import degrees, hypot, inf, radians

from bpy.types import Object
from mathutils import Matrix, Vector

from ..errors import ChainError
from ..kinematics import Cone, EulerLimits, Framed, Freedom, Hinge, framed, unframed
from ..kinematics.framed import bend_about, flexion_axis, mirrored, to_quarter, told_flexion, turn_to
from ..rig.anatomy.hands import closing_direction
from ..rig.anatomy.limbs import rest_body
from ..rig.armature import bones_in_line
from ..rig.freedom import can_turn, is_unlimited, limits_of, locked_axes, stiffness_of, store
from ..rig.stance import stance_of
from ..settings import check_registered
from .file import PRESET_SETTINGS, Preset, PresetJoint

_FLEXION = radians(20.0)  # deviation from the axis of flexion up to which limits count as about that
_SAME = radians(0.5)  # deviation up to which axes are parallel
_ALONG = 0.02  # [rad] angle to a direction up to which a link points there
_ROUNDED = radians(0.02)  # deviation from a bone's own axes that rounding explains: a larger one shows in the pose
_ONE_WAY = 0.3  # share of its flexion that a joint which bends one way extends at most
_MIDDLE = 0.02  # of a limb's length: within this distance from the plane of symmetry its middle is on neither side
_OFF = radians(60.0)  # bend of the end joint of a finger at rest from which on its bones do not point along it
_RIGHT = Matrix.Diagonal((1.0, -1.0, -1.0))  # from a rotation vector in one limb to that in its mirror image


@dataclass(frozen=True)
class Applied:
    """Result of apply_preset(): the name of the preset's joint for each bone, and notes."""

    joints: dict[str, str]
    notes: list[str]


def apply_preset(armature: Object, bones: Sequence[str], preset: Preset, *, keep_limits: bool = False) -> Applied:
    """Store the joints of a preset in the joint settings of these bones, and its settings in their limb.

    With `keep_limits` bones that somebody has limited or locked stay as they are, and so do the limb's settings. A limb
    of fewer or more bones gets the joints of Preset.for_bones(); bones beyond that, and those whose rotation is locked,
    stay as they are. Raises ChainError, and changes nothing, unless the bones are one line of descent and one of them
    can rotate.
    """
    bones, line = _in_order(armature, bones)
    limb, tip = _Rest(armature, bones, line), line[-1]
    joints = preset.for_bones(len(bones))
    towards = preset.towards and (closing_direction(rest_body(armature), tip) or limb.direction(preset.towards))
    straight = [n for n, joint in enumerate(joints) if joint.from_straight]
    axes = limb.axes(straight, towards, [n for n in straight if joints[n].is_against])
    stored, notes = [], []
    for number, joint in enumerate(joints):
        freedom = joint.freedom
        locked = any(locked_axes(armature.pose.bones[bones[number]]))
        if locked:
            off = abs(turn_to(limb.rests[number], axes[number]) - limb.turn(number, axes[number]))
            if off > _FLEXION:
                notes.append(f"{bones[number]}: a locked bone's ranges are about its own axes, {degrees(off):.0f}° off")
        if joint.from_straight and isinstance(freedom, EulerLimits):
            freedom = limb.less_bend(number, freedom, axes[number])
        freedom = limb.placed(number, freedom, axes[number], locked)
        if joint.from_straight and isinstance(freedom, Hinge):
            freedom = limb.from_rest(number, freedom)
        stored.append((freedom, joint.stiffness))
    found = [armature.pose.bones[name] for name in bones]
    for bone, values in zip(found, stored, strict=False):
        if not keep_limits or is_unlimited(bone):
            store(*values, bone.ik_triangulation_joint)
    settings = armature.pose.bones[tip].ik_triangulation
    for name, value in () if keep_limits else preset.settings.items():
        setattr(settings, name, value)
    left = [joint.name for joint in preset.joints if joint not in joints and not joint.repeats]
    if left:
        notes.append(f"Left out: {', '.join(left)}")
    if bones[len(joints) :]:
        notes.append(f"Left as they are: {', '.join(bones[len(joints) :])}")
    return Applied({bone: joint.name for bone, joint in zip(bones, joints, strict=False)}, notes)


def preset_of(armature: Object, bones: Sequence[str], name: str) -> Preset:
    """Return a preset with the limits of these bones, from any source, and the settings of their limb.

    Bones whose rotation is locked are left out, as in apply_preset(). Raises what that and limits_of() do.
    """
    bones, line = _in_order(armature, bones)
    limb, tip = _Rest(armature, bones, line), line[-1]
    freedoms = [limits_of(armature.pose.bones[bone]) for bone in bones]
    straight = [n for n, freedom in enumerate(freedoms) if limb.flexes(n, freedom)]
    towards = limb.towards(freedoms)
    axes = limb.axes(straight, towards and limb.direction(towards))
    joints = []
    for number, (bone, freedom) in enumerate(zip(bones, freedoms, strict=True)):
        if number in straight and isinstance(freedom, Hinge):
            freedom = limb.from_straight(number, freedom)
        said = limb.in_limb(number, freedom, axes[number])
        if number in straight and isinstance(said, EulerLimits):
            said = limb.less_bend(number, said, axes[number], -1.0)
        joints.append(
            PresetJoint(bone, said, stiffness_of(armature.pose.bones[bone]), number, from_straight=number in straight)
        )
    settings = armature.pose.bones[tip].ik_triangulation
    return Preset(name, joints, {setting: getattr(settings, setting) for setting in PRESET_SETTINGS}, towards)


def _in_order(armature: Object, bones: Sequence[str]) -> tuple[list[str], list[str]]:
    """Return the bones that can rotate, from the root on, and all of them. Raises ChainError if none can."""
    check_registered()
    line = [name for name in bones_in_line(armature, bones) if name in bones]
    able = [name for name in line if can_turn(armature.pose.bones[name])]
    if not able:
        raise ChainError("The rotations of all bones are locked. Unlock them, or choose other bones.")
    return able, line


class _Rest:
    """The rest pose of a limb's bones, armature space."""

    def __init__(self, armature: Object, names: Sequence[str], line: Sequence[str]) -> None:
        """Take the bones to set up, and the whole `line` that they are part of."""
        bones = [armature.data.bones[name] for name in names]
        places = [bone.head_local for bone in bones] + [bones[-1].tail_local]
        self.rests = [bone.matrix_local.to_3x3().normalized() for bone in bones]
        ends = {name: armature.data.bones[below].head_local for name, below in pairwise(line)}
        places[-1] = ends[line[-1]] = self._end(armature, line)
        self.links = [after - before for before, after in pairwise(places)]
        self._ways = [ends[bone.name] - bone.head_local for bone in bones]  # to the next joint, locked or not
        self._stance = stance_of(armature)
        middle = sum(place.dot(self._stance.left) for place in places) / len(places)
        self._right = middle < -_MIDDLE * sum(link.length for link in self.links)
        self._is_fore = rest_body(armature).is_fore_leg(names[0])

    @staticmethod
    def _end(armature: Object, line: Sequence[str]) -> Vector:
        """Return where a limb ends: at the tail of its last bone.

        A finger whose bones do not point to their next joints ends to the side where the bone before has its joint.
        """
        last, tail = armature.data.bones[line[-1]], armature.data.bones[line[-1]].tail_local.copy()
        part = rest_body(armature).part(line[-1])
        if len(line) < 2 or part is None or part.part != "finger":
            return tail
        before = armature.data.bones[line[-2]]
        link = last.head_local - before.head_local
        if link.length == 0.0 or link.angle(tail - last.head_local, 0.0) < _OFF:
            return tail
        way = before.matrix_local.to_3x3().normalized().transposed() @ link.normalized()
        return last.head_local + last.matrix_local.to_3x3().normalized() @ way * last.length

    def axes(
        self, straight: Collection[int], towards: Vector | None, against: Collection[int] = ()
    ) -> list[Vector | None]:
        """Return the axis of flexion of each joint, in armature space.

        It is that of the bend at rest of the joints measured from straight, unless that is small, or to another side
        than the limb bends `towards` (armature space): then it is that by which it bends there. Of these joints some
        bend `against` the others.
        """
        bend = flexion_axis(self.links, straight, against=against)
        if towards is None:
            return [bend] * len(self.links)
        found: list[Vector | None] = [self._square(link, towards) for link in self.links]
        number = next(iter(straight), 0)
        told = told_flexion(self.links, straight, found[number] or Vector(), against)
        return found if told is None else [told] * len(self.links)

    def _square(self, link: Vector, towards: Vector) -> Vector:
        """Return the axis about which a link bends towards a direction; across the body where it points there."""
        axis: Vector = link.cross(towards)
        return axis if axis.length > _ALONG * link.length else self._stance.left

    def direction(self, towards: Vector) -> Vector:
        """Return the direction in armature space in which a limb bends, from that `towards` of a preset."""
        ahead = abs(towards.y) if self._is_fore else -towards.y
        return self._stance.direction(-towards.x if self._right else towards.x, ahead, towards.z)

    def towards(self, freedoms: Sequence[Freedom]) -> Vector | None:
        """Return the direction in which a limb bends whose limits are in its own axes; None if none are."""
        found = Vector((0.0, 0.0, 0.0))
        for rest, way, freedom in zip(self.rests, self._ways, freedoms, strict=True):
            if isinstance(freedom, Framed):
                found += (rest @ freedom.frame.to_matrix().col[0]).cross(way).normalized()
        if found.length < _SAME:
            return None
        left, front, up = (found.normalized().dot(axis) for axis in (self._stance.left, *self._stance))
        return Vector((-left if self._right else left, -front, up))

    def placed(self, number: int, freedom: Freedom, axis: Vector | None, quarters: bool = False) -> Freedom:
        """Return a freedom that is in the axes of the limb as one of the bone; with `quarters` about its own axes."""
        own = mirrored(freedom, _RIGHT) if self._right else freedom
        if quarters:
            return mirrored(own, Matrix.Rotation(self.turn(number, axis), 3, "Y"))
        frame = self._frame(number, axis)
        if isinstance(freedom, Cone) and frame.col[1].y == 1.0:
            return own
        square = _squared(frame)
        if isinstance(freedom, EulerLimits) and square is not None:
            return mirrored(own, square)
        return framed(own, frame.to_quaternion())

    def in_limb(self, number: int, freedom: Freedom, axis: Vector | None) -> Freedom:
        """Return a bone's freedom in the axes of the limb. Raises FreedomError for limits in yet other axes."""
        into = self._frame(number, axis).transposed()
        if isinstance(freedom, Framed):
            found = mirrored(freedom.inner, into @ freedom.frame.to_matrix())
        elif isinstance(freedom, Hinge):
            found = mirrored(freedom, into)
        else:
            found = mirrored(freedom, Matrix.Rotation(-self.turn(number, axis), 3, "Y"))
        return mirrored(found, _RIGHT) if self._right else found

    def turn(self, number: int, axis: Vector | None) -> float:
        """Return the quarter turns about a bone [rad] from its own axes to those nearest to the limb's."""
        return to_quarter(turn_to(self.rests[number], axis))

    def _frame(self, number: int, axis: Vector | None) -> Matrix:
        """Return the axes of the limb at a joint, in those of its bone at rest (3x3)."""
        back = self.rests[number].transposed()
        along = (back @ self._ways[number]).normalized()
        is_own = along.y > 0.0 and hypot(along.x, along.z) < _ROUNDED
        if along.length < 0.5 or is_own:  # without a length, or as the bone
            along = Vector((0.0, 1.0, 0.0))
        flexion = Vector((1.0, 0.0, 0.0)) if axis is None else (back @ axis).normalized()
        flexion -= along * flexion.dot(along)
        if flexion.length < _SAME:
            flexion = along.orthogonal()
        flexion.normalize()
        return Matrix((flexion, along, flexion.cross(along))).transposed()

    def flexes(self, number: int, freedom: Freedom) -> bool:
        """Tell whether a joint bends one way, about the axis in which it is bent at rest: a hinge, or Euler limits."""
        axis, own = flexion_axis(self.links, [number]), unframed(freedom)
        if axis is None or not isinstance(own, (Hinge, EulerLimits)):
            return False
        if isinstance(own, Hinge):
            return bool(abs(axis.angle(self.rests[number] @ own.axis, inf)) <= _FLEXION)
        frame = freedom.frame.to_matrix() if isinstance(freedom, Framed) else Matrix.Identity(3)
        flexion = self.rests[number] @ frame.col[0]
        return bool(-own.lower[0] < _ONE_WAY * own.upper[0] and axis.angle(flexion, inf) <= _FLEXION)

    def less_bend(self, number: int, limits: EulerLimits, axis: Vector | None, sign: float = 1.0) -> EulerLimits:
        """Return limits in the limb's axes whose angles about X are measured from rest, not from the straight limb.

        With a `sign` of -1 it is the other way. Rest is always allowed.
        """
        if number == 0 or axis is None:
            return limits
        bend = sign * bend_about(axis.normalized(), self.links[number - 1], self.links[number])
        lower, upper = limits.lower[0] - bend, limits.upper[0] - bend
        if sign > 0.0:
            lower, upper = min(lower, 0.0), max(upper, 0.0)
        return EulerLimits(limits.order, (lower, *limits.lower[1:]), (upper, *limits.upper[1:]))

    def from_rest(self, number: int, hinge: Hinge) -> Hinge:
        """Convert a hinge's range from angles measured from straight to angles measured from rest."""
        bend = self._bend(number, hinge)
        # A range that begins at straight begins at rest for a limb that is bent the other way there.
        lower = min(hinge.lower, bend) if hinge.lower == 0.0 else hinge.lower
        return Hinge(hinge.axis, lower - bend, hinge.upper - bend)

    def from_straight(self, number: int, hinge: Hinge) -> Hinge:
        """Convert a hinge's range from angles measured from rest to angles measured from straight."""
        bend = self._bend(number, hinge)
        return Hinge(hinge.axis, hinge.lower + bend, hinge.upper + bend)

    def _bend(self, number: int, hinge: Hinge) -> float:
        if number == 0:
            return 0.0
        return bend_about(self.rests[number] @ hinge.axis, self.links[number - 1], self.links[number])


def _squared(frame: Matrix) -> Matrix | None:
    """Return the axes with which a frame coincides, but for little; None for a frame that is turned off them."""
    square = Matrix([[float(round(value)) for value in row] for row in frame])
    return square if max(abs(value) for row in frame - square for value in row) < _ROUNDED else None

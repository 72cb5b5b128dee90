# SPDX-License-Identifier: GPL-3.0-or-later
"""Applying a preset to the bones of a limb, and making a preset from them, whatever their rolls are.

A hinge is rotated exactly into each bone's own axes. If the axis of flexion is near one of these, as in rigs with good
rolls, that axis is used. Euler limits are only rotated by quarter turns, so that they stay about a bone's own axes.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import degrees, inf, radians

from bpy.types import Object
from mathutils import Matrix, Vector

from ..errors import ChainError
from ..kinematics import EulerLimits, Freedom, Hinge
from ..kinematics.flexion import bend_about, flexion_axis, to_quarter, turn_to
from ..kinematics.mirror import mirrored
from ..rig.armature import bones_in_line
from ..rig.freedom import can_turn, is_unlimited, limits_of, stiffness_of, store
from ..settings import check_registered
from .preset import PRESET_SETTINGS, Preset, PresetJoint

_OWN = radians(20.0)  # deviation up to which a bone's own axis is its axis of flexion; Rigify's elbow is 13 degrees off
_MIDDLE = 0.02  # of a limb's length: within this distance from the YZ plane its middle is on neither side
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
    bones, tip = _in_order(armature, bones)
    limb = _Rest(armature, bones)
    joints = preset.for_bones(len(bones))
    axes = limb.axes([n for n, joint in enumerate(joints) if joint.from_straight], preset.towards)
    stored, notes = [], []
    for number, joint in enumerate(joints):
        freedom = joint.freedom
        turn = limb.turn(number, axes[number], isinstance(freedom, EulerLimits))
        off = abs(turn_to(limb.rests[number], axes[number]) - turn)
        if off > _OWN:
            notes.append(f"{bones[number]}: its axes lie {degrees(off):.0f}° off the limb's, ranges are about its own")
        freedom = mirrored(freedom, limb.frame(turn))
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
    bones, tip = _in_order(armature, bones)
    limb = _Rest(armature, bones)
    freedoms = [limits_of(armature.pose.bones[bone]) for bone in bones]
    straight = [n for n, freedom in enumerate(freedoms) if limb.flexes(n, freedom)]
    axes = limb.axes(straight, None)
    joints = []
    for number, (bone, freedom) in enumerate(zip(bones, freedoms, strict=True)):
        if number in straight:
            freedom = limb.from_straight(number, freedom)
        turn = limb.turn(number, axes[number], isinstance(freedom, EulerLimits))
        said = mirrored(freedom, limb.frame(turn).transposed())
        joints.append(
            PresetJoint(bone, said, stiffness_of(armature.pose.bones[bone]), number, from_straight=number in straight)
        )
    settings = armature.pose.bones[tip].ik_triangulation
    return Preset(name, joints, {setting: getattr(settings, setting) for setting in PRESET_SETTINGS})


def _in_order(armature: Object, bones: Sequence[str]) -> tuple[list[str], str]:
    """Return the bones that can rotate, from the root on, and the last of all. Raises ChainError if none can."""
    check_registered()
    line = [name for name in bones_in_line(armature, bones) if name in bones]
    able = [name for name in line if can_turn(armature.pose.bones[name])]
    if not able:
        raise ChainError("The rotations of all bones are locked. Unlock them, or choose other bones.")
    return able, line[-1]


class _Rest:
    """The rest pose of a limb's bones, armature space."""

    def __init__(self, armature: Object, names: Sequence[str]) -> None:
        bones = [armature.data.bones[name] for name in names]
        places = [bone.head_local for bone in bones] + [bones[-1].tail_local]
        self.rests = [bone.matrix_local.to_3x3() for bone in bones]
        self.links = [after - before for before, after in pairwise(places)]
        middle = sum(place.x for place in places) / len(places)
        self._right = middle < -_MIDDLE * sum(link.length for link in self.links)

    def axes(self, straight: Collection[int], towards: Vector | None) -> list[Vector | None]:
        """Return the axis of flexion of each joint: that of the bend at rest of the joints measured from straight."""
        axis = flexion_axis(self.links, straight)
        if axis is None and towards is not None:
            return [link.cross(towards) for link in self.links]
        return [axis] * len(self.links)

    def turn(self, number: int, axis: Vector | None, quarters: bool) -> float:
        """Return the angle [rad] about a bone from its own axes to the axes of the limb's limits."""
        turn = turn_to(self.rests[number], axis)
        quarter = to_quarter(turn)
        return quarter if quarters or abs(turn - quarter) <= _OWN else turn

    def frame(self, turn: float) -> Matrix:
        """Return the matrix (3x3) from rotation vectors in the limb's axes to a bone's own, `turn` [rad] about it."""
        frame = Matrix.Rotation(turn, 3, "Y")
        return frame @ _RIGHT if self._right else frame

    def flexes(self, number: int, freedom: Freedom) -> bool:
        """Tell whether a joint is a hinge about the axis in which it is bent at rest."""
        axis = flexion_axis(self.links, [number])
        if axis is None or not isinstance(freedom, Hinge):
            return False
        return bool(abs(axis.angle(self.rests[number] @ freedom.axis, inf)) <= _OWN)

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

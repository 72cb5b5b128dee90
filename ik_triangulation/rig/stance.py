# SPDX-License-Identifier: GPL-3.0-or-later
"""The stance of a character at rest: what is in front of it, up, and on its left, whatever axes its armature has.

Every direction that anatomy decides is taken from here. Programs with Y up write armatures that stand along Y in an
object turned by 90 degrees; others face +X.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple

from bpy.types import Object
from mathutils import Vector

from .anatomy.body import RestPoint
from .anatomy.limbs import ARM, LEG, NECK, SPINE, RestBody
from .anatomy.reading import rest_body

_AXES = tuple(sign * Vector(axis) for axis in ((1, 0, 0), (0, 1, 0), (0, 0, 1)) for sign in (1.0, -1.0))
_NEARLY = 0.96  # cosine of the angle to an axis of the armature, along which a body is meant to stand then
_KEPT = 8  # skeletons whose stance is kept
_FLAT = 0.1  # length of the product of two unit vectors that are too near to each other to tell a side
# Directions in which elbows and knees go, as shares of the left (on the left side), the front and up.
_SIDES = {"L": 1.0, "R": -1.0}
_OUTWARDS = {"ARM": (0.6, -0.6, -0.5), "LEG": (0.0, 1.0, 0.0)}


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

    def outwards(self, part: str, side: float) -> Vector:
        """Return the direction in which the elbow of an "ARM" or the knee of a "LEG" goes when the limb bends.

        `side` is 1 on the left of the body and -1 on its right. Raises KeyError for other parts.
        """
        left, front, up = _OUTWARDS[part]
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
    return _stance(body, tuple(_up(armature)))


@lru_cache(maxsize=_KEPT)
def _stance(body: RestBody, nearest_up: RestPoint) -> Stance:
    """Return the stance of a skeleton, in an armature whose axis `nearest_up` is the one nearest to up in the world."""
    above = Vector(nearest_up)
    for kind in (LEG, ARM):
        left, right = ([_places(body, limb.bones) for limb in body.limbs(kind) if limb.side == side] for side in "LR")
        if left and right:
            side = _middle(left, 0) - _middle(right, 0)
            up = _up_legs(left, right) if kind is LEG else _up_trunk(body) or above
            front = side.normalized().cross(up.normalized())
            if front.length > _FLAT:
                front = _squared(front.normalized())
                up = _squared(up.normalized())
                return Stance(front.freeze(), (up - front * up.dot(front)).normalized().freeze())
    front = Vector((0.0, 0.0, 1.0)) if above.y > _NEARLY else Vector((0.0, -1.0, 0.0))
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
    outwards = stance.outwards(part, _SIDES.get(side) or side_of(armature, stance, names))
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


def _up(armature: Object) -> Vector:
    """Return the axis of the armature that is nearest to up in the world."""
    way = armature.matrix_world.to_3x3().inverted_safe() @ Vector((0.0, 0.0, 1.0))
    return max((axis.copy() for axis in _AXES), key=way.dot) if way.length else Vector((0.0, 0.0, 1.0))


def _squared(way: Vector) -> Vector:
    """Return the armature's axis that a direction is near to: feet stand a little ahead of the hips, or behind them."""
    nearest = max(_AXES, key=way.dot)
    return nearest.copy() if nearest.dot(way) > _NEARLY else way

# SPDX-License-Identifier: GPL-3.0-or-later
"""Flexion axis of a limb, from its rest pose, for limits that suit bones of any roll.

The axis of an elbow is orthogonal to both its links, with the sign of the bend at rest.
"""

from collections.abc import Collection, Iterable, Sequence
from math import atan2, pi, radians, sin

from mathutils import Matrix, Quaternion, Vector

from .framed import Framed, unframed
from .freedom import EulerLimits, Freedom

_STRAIGHT = 0.01  # [rad] a limb that bends less than this at rest is straight
_LEAST_BEND = radians(5.0)  # bend at rest from which on it tells the axis of flexion: less is noise of modelling
_MOST_ASIDE = radians(45.0)  # angle to the axis that anatomy wants, up to which it does: knock-knees bend sideways
_CLEAR = radians(20.0)  # bend at rest from which on it tells the axis whatever anatomy wants, as of an animal's elbow
_FLEXES = 0.17  # [rad] of range to one side from which on a joint can flex to it
_MOSTLY = 0.5  # share of an axis that limits have to leave for a joint to flex about it
_ALONG = 1e-3  # relative length of the part orthogonal to a bone, up to which an axis is parallel to it


def flexion_axis(
    links: Sequence[Vector], joints: Iterable[int], least: float = _STRAIGHT, against: Collection[int] = ()
) -> Vector | None:
    """Mean axis about which these joints are bent at rest (unit vector); None if that is by less than `least` [rad].

    `links` are the vectors from joint to joint in armature space, the last one to the tip. Joints that are `against`
    the others, as a hock is against the knee, count with the opposite sign.
    """
    directions = [link.normalized() for link in links]
    bends = (directions[i - 1].cross(directions[i]) * (-1.0 if i in against else 1.0) for i in joints if i > 0)
    bend = sum(bends, Vector((0.0, 0.0, 0.0)))
    return bend.normalized() if bend.length > least else None


def bend_about(axis: Vector, before: Vector, after: Vector) -> float:
    """The angle [rad] about a unit axis from one link to the next."""
    first, second = (link - axis * link.dot(axis) for link in (before, after))
    return atan2(first.cross(second).dot(axis), first.dot(second))


def turn_to(rest: Matrix, axis: Vector | None) -> float:
    """The angle [rad] about a bone, its Y axis, that brings its X axis nearest to `axis`; 0 for None.

    `rest` is the bone's rest orientation (3x3) in armature space, where `axis` is as well.
    """
    if axis is None:
        return 0.0
    x, _, z = rest.transposed() @ axis
    return atan2(-z, x) if abs(x) + abs(z) > _ALONG * axis.length else 0.0


def to_quarter(angle: float) -> float:
    """The multiple of a quarter turn nearest to an angle [rad]."""
    return round(angle / (pi / 2.0)) * pi / 2.0


def anatomical_flexion(towards: Vector, upper: Vector, lower: Vector) -> Vector | None:
    """Return the axis about which an elbow or knee flexes that goes `towards` a direction when it bends; unit vector.

    `upper` and `lower` are the limb's two links at rest, in the same space. A bend at rest may tell the axis better
    (told_flexion()). None where the limb points in that direction itself.
    """
    middle: Vector = upper.normalized() + lower.normalized()
    wanted = Vector(towards.cross(middle))
    told = told_flexion([upper, lower], [1], wanted)
    if told is not None or wanted.length <= _ALONG * towards.length:
        return told
    return wanted.normalized()


def told_flexion(
    links: Sequence[Vector], joints: Iterable[int], wanted: Vector, against: Collection[int] = ()
) -> Vector | None:
    """Return the axis of flexion that the bend of these joints at rest tells (unit vector); None if it tells none.

    It does if the bend is more than noise of modelling and about the axis that anatomy wants, or clear. For joints that
    are `against` the others see flexion_axis().
    """
    joints = list(joints)
    told = flexion_axis(links, joints, sin(_LEAST_BEND), against)
    if told is None or flexion_axis(links, joints, sin(_CLEAR), against) is not None:
        return told
    return told if told.angle(wanted, 0.0) < _MOST_ASIDE else None


def hinge_axis(freedom: Freedom) -> Vector | None:
    """Return the axis about which a joint flexes by its Euler limits, signed; None unless it bends one way.

    In the joint's rest frame, see EulerLimits.hinge.
    """
    own = unframed(freedom)
    hinge = own.hinge if isinstance(own, EulerLimits) else None
    return freedom.frame @ hinge if hinge is not None and isinstance(freedom, Framed) else hinge


def allowed_flexion(freedom: Freedom, axis: Vector) -> Vector:
    """Return the unit axis nearest to `axis` about which a joint's limits let it bend from rest, signed as it can.

    Both are in the joint's rest frame. Where the limits leave too little of it, it is the way of the widest range.
    """
    coordinates = freedom.coordinates(Quaternion())
    left, widest = Vector((0.0, 0.0, 0.0)), (0.0, Vector(axis))
    for each in coordinates:
        share = axis.dot(each.axis)
        below, beyond = each.value - each.lower, each.upper - each.value
        if (beyond if share > 0.0 else below) > _FLEXES:
            left += share * each.axis
        # Of two equal ranges the one to the side of the axis.
        wide = max((beyond, share > 0.0, 1.0), (below, share <= 0.0, -1.0))
        if wide[0] > widest[0]:
            widest = wide[0], wide[2] * each.axis
    return left.normalized() if left.length > _MOSTLY else widest[1].normalized()

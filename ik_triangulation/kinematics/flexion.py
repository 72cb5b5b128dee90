# SPDX-License-Identifier: GPL-3.0-or-later
"""Flexion axis of a limb, from its rest pose, for limits that suit bones of any roll.

The axis of an elbow is orthogonal to both its links, with the sign of the bend at rest.
"""

from collections.abc import Iterable, Sequence
from math import atan2, pi

from mathutils import Matrix, Vector

_STRAIGHT = 0.01  # [rad] a limb that bends less than this at rest is straight
_ALONG = 1e-3  # relative length of the part orthogonal to a bone, up to which an axis is parallel to it


def flexion_axis(links: Sequence[Vector], joints: Iterable[int]) -> Vector | None:
    """Mean axis about which these joints are bent at rest (unit vector); None for a straight limb.

    `links` are the vectors from joint to joint in armature space, the last one to the tip.
    """
    directions = [link.normalized() for link in links]
    bend = sum((directions[i - 1].cross(directions[i]) for i in joints if i > 0), Vector((0.0, 0.0, 0.0)))
    return bend.normalized() if bend.length > _STRAIGHT else None


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

# SPDX-License-Identifier: GPL-3.0-or-later
"""Which way a limb bends, told from its rest pose: what limits need that shall suit rigs of any roll.

The axis of an elbow is the one square to both its links, in the sense in which the limb is bent at rest.
"""

from collections.abc import Iterable, Sequence
from math import atan2, pi

from mathutils import Matrix, Vector

_STRAIGHT = 0.01  # [rad] a limb that bends less than this at rest is straight
_ALONG = 1e-3  # of a length: an axis that is no longer than this square to a bone lies along it


def flexion_axis(links: Sequence[Vector], joints: Iterable[int]) -> Vector | None:
    """The axis about which these joints, together, are bent at rest; None for a straight limb.

    `links` are the ways from joint to joint in armature space, the last one to the tip.
    """
    ways = [link.normalized() for link in links]
    bend = sum((ways[joint - 1].cross(ways[joint]) for joint in joints if joint > 0), Vector((0.0, 0.0, 0.0)))
    return bend.normalized() if bend.length > _STRAIGHT else None


def bend_about(axis: Vector, before: Vector, after: Vector) -> float:
    """The angle [rad] about a unit axis from one link to the next."""
    first, second = (link - axis * link.dot(axis) for link in (before, after))
    return atan2(first.cross(second).dot(axis), first.dot(second))


def turn_to(rest: Matrix, axis: Vector | None) -> float:
    """The angle [rad] about a bone, its Y axis, that takes its X axis as near to `axis` as can be; 0 for None.

    `rest` is the bone's rest orientation (3x3) in armature space, where `axis` is as well.
    """
    if axis is None:
        return 0.0
    x, _, z = rest.transposed() @ axis
    return atan2(-z, x) if abs(x) + abs(z) > _ALONG * axis.length else 0.0


def to_quarter(angle: float) -> float:
    """The multiple of a quarter turn nearest to an angle [rad]."""
    return round(angle / (pi / 2.0)) * pi / 2.0

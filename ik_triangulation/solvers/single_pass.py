# SPDX-License-Identifier: GPL-3.0-or-later
"""The single-pass method: avoid a near target, then close one wide triangle with both parts of the chain straight.

Source: Mukundan 2009, "A robust inverse kinematics algorithm for animating a joint chain", section 4 and its
pseudo-code.

The remaining chain is split near its middle into parts a and b. While the aim, at distance c, requires a bend of more
than 90 degrees between them (a^2 + b^2 > c^2, eq. 4), only the first link rotates: to 20 degrees more or less than the
angle at which the next joint is at the same distance from the aim (eq. 5); more, if the bend would exceed 130 degrees.
Then the triangle is closed.

Deviations from the printed algorithm: eq. 3 has 2 a b below the angle between a and b, not 2 a c; the pseudo-code's 130
degrees contradicts the text's 135; parts are split at the middle of their length, as links may differ; in space all
this happens in one plane, fixed once; an angle from which the rest of the chain cannot reach gives way to the nearest
one from which it can, and two links are always closed to a triangle; links that were bent are made straight.
"""

from collections.abc import Sequence
from math import cos, pi, radians, sin

from mathutils import Vector

from ..kinematics import Pose
from ..kinematics.rotation import orthogonal
from .triangle import bend_plane, corner, opening, unit

ASIDE = radians(20.0)  # added to or subtracted from the angle at which a link keeps the distance to the aim
MUCH = radians(130.0)  # bend of the middle joint from which the chain first moves away from the aim
_EVEN = 1.0 + 1e-9  # ratio of lengths that are equal within rounding


def step(pose: Pose, aim: Vector) -> None:
    """One pass from the root, in which every joint rotates at most once (the root of a bent chain twice)."""
    along, across = bend_plane(pose, aim)
    normal = along.cross(across)
    lengths, spans, count = pose.lengths, pose.spans, len(pose)
    left = [sum(lengths), *(longest for _, longest in spans)]  # length of the chain from each joint on
    for i in range(count):
        k = middle(left, i)
        a, b, c = left[i] - left[k], left[k], (aim - pose.head(i)).length
        if a * a + b * b <= c * c or i >= count - 2:
            break
        angle = corner(lengths[i], c, c) + (ASIDE if pi - corner(a, b, c) > MUCH else -ASIDE)
        least, most = (opening(pose, lengths[i], c, distance) for distance in spans[i])
        pose.swing(i, pose.link(i), _beside(pose, i, aim, normal, min(max(angle, least), most)))
    towards = _beside(pose, i, aim, normal, opening(pose, a, c, b))
    for j in range(i, k):
        pose.swing(j, pose.link(j), towards)
    for j in range(k, count):
        pose.swing(j, pose.link(j), aim - pose.head(j))


def middle(left: Sequence[float], i: int) -> int:
    """The joint nearest to the middle of the chain from joint `i` on, the first one if two are.

    `left` has the length of the chain from each joint on, and last 0 for the end effector. A single link has no middle:
    its own joint is returned.
    """
    return next((k for k in range(i + 1, len(left) - 1) if left[k] + left[k + 1] <= left[i] * _EVEN), i)


def _beside(pose: Pose, i: int, aim: Vector, normal: Vector, angle: float) -> Vector:
    """Unit vector at `angle` [rad] to the direction from joint `i` to `aim`, rotated about `normal`."""
    to_aim = aim - pose.head(i)
    along = unit(to_aim if to_aim.length else pose.frame(i).col[1])
    across = orthogonal(normal.cross(along), along) or pose.bend(i, along)
    return along * cos(angle) + across * sin(angle)

# SPDX-License-Identifier: GPL-3.0-or-later
"""Rotations as Euler angles in any of Blender's orders, in double precision."""

from collections.abc import Sequence
from math import atan2, cos, pi, remainder, sin, sqrt, tau

from mathutils import Quaternion, Vector

from .rotation import wrap

EULER_ORDERS = ("XYZ", "XZY", "YXZ", "YZX", "ZXY", "ZYX")
# The axes an order turns about, the first one first, and the sign of its parity: an odd order is an even one seen in a
# mirror, in which every angle and every axis changes its sign.
AXES = {order: tuple("XYZ".index(letter) for letter in order) for order in EULER_ORDERS}
PARITY = {order: 1.0 if (j - i) % 3 == 1 else -1.0 for order, (i, j, k) in AXES.items()}

_POLE = 1e-9  # half-angle measure below which the outer two Euler axes coincide

Triple = tuple[float, float, float]


def to_euler(rotation: Quaternion, order: str) -> Triple:
    """Euler angles [rad] (x, y, z) of `rotation` in Blender's `order`, in double precision, the middle one in +-pi/2.

    At the poles of the middle axis, where only a sum is defined, the last angle of the order is 0. mathutils' own
    to_euler() is off by up to 7e-3 rad there. Source: Bernardes and Viollet 2022, "Quaternion to Euler angles
    conversion".
    """
    i, j, k = AXES[order]
    sign = PARITY[order]
    w, x, y, z = rotation[0], rotation[1 + i], rotation[1 + j], sign * rotation[1 + k]
    a, b, c, d = w - y, x + z, w + y, z - x
    below, above = sqrt(c * c + d * d), sqrt(a * a + b * b)  # 0 where the middle angle is -pi/2, pi/2
    half_sum, half_difference = atan2(b, a), atan2(d, c)
    angles = [0.0, 0.0, 0.0]
    angles[j] = 2.0 * atan2(below, above) - pi / 2.0
    if below > _POLE < above:
        angles[i] = remainder(half_sum - half_difference, tau)
        angles[k] = remainder(sign * (half_sum + half_difference), tau)
    else:
        angles[i] = remainder(2.0 * (half_sum if below < above else -half_difference), tau)
    return angles[0], angles[1], angles[2]


def from_euler(angles: Sequence[float], order: str) -> Quaternion:
    """Rotation of the Euler angles [rad] (x, y, z) applied in Blender's `order`, rounded to single precision once."""
    return Quaternion(_quaternion(angles, order))


def euler_axes(angles: Sequence[float], order: str) -> tuple[Vector, Vector, Vector]:
    """Axes (for x, y, z) about which small changes of the Euler `angles` [rad] turn, in the frame they are given in.

    The last axis of the order is fixed, the middle one is turned by the last angle, the first one by both.
    """
    i, j, k = AXES[order]
    sign = PARITY[order]
    c, s = cos(angles[k]), sign * sin(angles[k])
    across = cos(angles[j])
    first, middle, last = [0.0, 0.0, 0.0], [0.0, 0.0, 0.0], [0.0, 0.0, 0.0]
    first[i], first[j], first[k] = across * c, across * s, -sign * sin(angles[j])
    middle[i], middle[j] = -s, c
    last[k] = 1.0
    axes = [last, last, last]
    axes[i], axes[j] = first, middle
    return Vector(axes[0]), Vector(axes[1]), Vector(axes[2])


def other_euler(angles: Sequence[float], order: str) -> Triple:
    """The second Euler triple [rad] of the same rotation, whose middle angle lies on the far side of +-pi/2."""
    i, j, k = AXES[order]
    other = list(angles)
    other[i], other[j], other[k] = wrap(angles[i] + pi), wrap(pi - angles[j]), wrap(angles[k] + pi)
    return other[0], other[1], other[2]


def _quaternion(angles: Sequence[float], order: str) -> tuple[float, float, float, float]:
    i, j, k = AXES[order]
    sign = PARITY[order]
    half = 0.5 * sign
    a, b, c = half * angles[i], half * angles[j], half * angles[k]
    ci, si, cj, sj, ck, sk = cos(a), sin(a), cos(b), sin(b), cos(c), sin(c)
    v = [0.0, 0.0, 0.0]
    v[i] = sign * (ck * cj * si - sk * sj * ci)
    v[j] = sign * (ck * sj * ci + sk * cj * si)
    v[k] = sign * (sk * cj * ci - ck * sj * si)
    return ck * cj * ci + sk * sj * si, v[0], v[1], v[2]

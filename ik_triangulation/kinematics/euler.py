# SPDX-License-Identifier: GPL-3.0-or-later
"""Rotations as Euler angles in any of Blender's orders, and the nearest one in a box of angles, in double precision.

An odd order is an even one seen in a mirror, in which every angle and every axis changes its sign.
"""

from collections.abc import Iterator, Sequence
from math import atan2, cos, hypot, isinf, pi, sin

from mathutils import Quaternion, Vector

from .ranges import fit
from .rotation import about, wrap

EULER_ORDERS = ("XYZ", "XZY", "YXZ", "YZX", "ZXY", "ZYX")
_AXES = {order: tuple("XYZ".index(letter) for letter in order) for order in EULER_ORDERS}
_PARITY = {order: 1.0 if (j - i) % 3 == 1 else -1.0 for order, (i, j, k) in _AXES.items()}

_POLE = 1e-9  # half-angle measure below which the outer two Euler axes coincide
_SAME = 1e-9  # [rad] an angle is the one it was fitted from

Triple = tuple[float, float, float]


def to_euler(rotation: Quaternion, order: str) -> Triple:
    """Euler angles [rad] (x, y, z) of `rotation` in Blender's `order`, in double precision, the middle one in +-pi/2.

    At the poles of the middle axis, where only a sum is defined, the last angle of the order is 0. mathutils' own
    to_euler() is off by up to 7e-3 rad there. Source: Bernardes and Viollet 2022, "Quaternion to Euler angles
    conversion".
    """
    i, j, k = _AXES[order]
    sign = _PARITY[order]
    w, *v = rotation
    a, b, c, d = w - v[j], v[i] + sign * v[k], w + v[j], sign * v[k] - v[i]
    below, above = hypot(c, d), hypot(a, b)  # 0 where the middle angle is -pi/2, pi/2
    half_sum, half_difference = atan2(b, a), atan2(d, c)
    if min(below, above) > _POLE:
        first, last = half_sum - half_difference, half_sum + half_difference
    else:
        first, last = 2.0 * (half_sum if below < above else -half_difference), 0.0
    angles = [0.0, 0.0, 0.0]
    angles[i], angles[j], angles[k] = wrap(first), 2.0 * atan2(below, above) - pi / 2.0, wrap(sign * last)
    return angles[0], angles[1], angles[2]


def from_euler(angles: Sequence[float], order: str) -> Quaternion:
    """Rotation of the Euler angles [rad] (x, y, z) applied in Blender's `order`, rounded to single precision once."""
    return Quaternion(_quaternion(angles, order))


def euler_axes(angles: Sequence[float], order: str) -> tuple[Vector, Vector, Vector]:
    """Axes (for x, y, z) about which small changes of the Euler `angles` [rad] turn, in the frame they are given in."""
    i, j, k = _AXES[order]
    units = [Vector([float(n == axis) for n in range(3)]) for axis in range(3)]
    outer = about(units[k], angles[k])
    axes = [units[k]] * 3
    axes[j] = outer @ units[j]
    axes[i] = outer @ (about(units[j], angles[j]) @ units[i])
    return axes[0], axes[1], axes[2]


def other_euler(angles: Sequence[float], order: str) -> Triple:
    """The second Euler triple [rad] of the same rotation, whose middle angle lies on the far side of +-pi/2."""
    i, j, k = _AXES[order]
    other = list(angles)
    other[i], other[j], other[k] = wrap(angles[i] + pi), wrap(pi - angles[j]), wrap(angles[k] + pi)
    return other[0], other[1], other[2]


def nearest_in_box(rotation: Quaternion, order: str, lower: Sequence[float], upper: Sequence[float]) -> Triple:
    """Euler angles [rad] (x, y, z) from `lower` to `upper` of the rotation nearest to `rotation`, which lies outside.

    The cosine of half the angle between `rotation` and that of three Euler angles is linear in the cosine and sine of
    each half angle: eight numbers say it. The nearest rotation has at least one angle at a bound. With one angle held
    the best of the other two are the greatest singular value of a 2 x 2 matrix, and every other extremum is a saddle;
    so where those two stand outside their ranges, a second angle is at a bound too, and the third is the best one or
    the end of its range nearest to that. Closed forms throughout.
    """
    axes, sign = _AXES[order], _PARITY[order]
    w = rotation.w
    a, b, c = (sign * rotation[1 + axis] for axis in axes)
    agreement = (w, c, b, -a, a, b, -c, w)  # for the cosine (0) or sine (1) of each half angle, the last running first
    ranges = [sorted((sign * lower[axis], sign * upper[axis])) for axis in axes]
    best, nearest = -1.0, [0.0, 0.0, 0.0]
    for held, others in ((0, (1, 2)), (1, (0, 2)), (2, (0, 1))):
        for bound in _ends(ranges[held]):
            face = _hold(agreement, held, bound)
            value, *free = _greatest(face)
            if value <= best:
                continue
            fitted = [fit(angle, *ranges[n]) for angle, n in zip(free, others, strict=True)]
            if all(abs(wrap(angle - there)) < _SAME for angle, there in zip(free, fitted, strict=True)):
                best, nearest[held] = value, bound
                nearest[others[0]], nearest[others[1]] = fitted
                continue
            for n in (0, 1):
                second, third = others[n], others[1 - n]
                for end in _ends(ranges[second]):
                    x, y = _hold(face, n, end)
                    angle = fit(2.0 * atan2(y, x), *ranges[third])
                    value = abs(x * cos(angle / 2.0) + y * sin(angle / 2.0))
                    if value > best:
                        best, nearest[held], nearest[second], nearest[third] = value, bound, end, angle
    angles = [0.0, 0.0, 0.0]
    for axis, angle in zip(axes, nearest, strict=True):
        angles[axis] = min(max(sign * angle, lower[axis]), upper[axis])  # the mirror leaves no rounding behind
    return angles[0], angles[1], angles[2]


def _ends(ends: Sequence[float]) -> Iterator[float]:
    return (end for end in ends if not isinf(end))


def _hold(agreement: Sequence[float], axis: int, angle: float) -> list[float]:
    """What is left of the cosines and sines with one of the angles given: half as many numbers."""
    c, s, step = cos(angle / 2.0), sin(angle / 2.0), len(agreement) >> (axis + 1)
    return [c * agreement[n] + s * agreement[n + step] for n in range(len(agreement)) if not n & step]


def _greatest(face: Sequence[float]) -> Triple:
    """Greatest value of p cos cos + q cos sin + r sin cos + s sin sin of two half angles, and the two angles."""
    p, q, r, s = face
    value = (hypot(p + s, r - q) + hypot(p - s, q + r)) / 2.0
    difference, total = atan2(r - q, p + s), atan2(q + r, p - s)
    return value, total + difference, total - difference


def _quaternion(angles: Sequence[float], order: str) -> tuple[float, float, float, float]:
    i, j, k = _AXES[order]
    sign = _PARITY[order]
    (ci, si), (cj, sj), (ck, sk) = ((cos(half), sin(half)) for half in (sign * angles[n] / 2.0 for n in (i, j, k)))
    v = [0.0, 0.0, 0.0]
    v[i] = sign * (ck * cj * si - sk * sj * ci)
    v[j] = sign * (ck * sj * ci + sk * cj * si)
    v[k] = sign * (sk * cj * ci - ck * sj * si)
    return ck * cj * ci + sk * sj * si, v[0], v[1], v[2]

# SPDX-License-Identifier: GPL-3.0-or-later
"""Rotations between directions, about an axis and as Euler angles, where mathutils alone is not exact enough.

mathutils stores single precision. What is computed here in Python floats (double precision) is rounded once, at the
end.
"""

from collections.abc import Sequence
from math import atan2, cos, hypot, pi, remainder, sin, sqrt, tau

from mathutils import Quaternion, Vector

EULER_ORDERS = ("XYZ", "XZY", "YXZ", "YZX", "ZXY", "ZYX")
_AXES = {order: tuple("XYZ".index(letter) for letter in order) for order in EULER_ORDERS}
_PARITY = {order: 1.0 if (j - i) % 3 == 1 else -1.0 for order, (i, j, k) in _AXES.items()}

_NEARLY_OPPOSITE = 0.05  # cosine of half the angle, below which rotation_difference() loses more than 1e-6 rad
_POLE = 1e-9  # half-angle measure below which the outer two Euler axes coincide
_OBLIQUE = 0.3  # sine below which what rounding left along the direction is taken out a second time
_NEARLY_PARALLEL = 1e-5  # sine of an angle whose normal is rounding noise in single precision


def rotation_between(start: Vector, end: Vector) -> Quaternion:
    """Smallest rotation that turns the direction `start` onto `end`; the identity if either has no length.

    Opposite directions have no smallest rotation: a half turn about some axis orthogonal to `start` is returned.
    """
    rotation: Quaternion = start.rotation_difference(end)
    if rotation.w > _NEARLY_OPPOSITE:
        return rotation
    if not start.length or not end.length:
        return Quaternion()
    # Half round about an axis exactly orthogonal to start, then the small rest, which is well conditioned.
    half = Quaternion(orthogonal(start.cross(end), start) or start.orthogonal().normalized(), pi)
    return (-start).rotation_difference(end) @ half


def orthogonal(vector: Vector, direction: Vector) -> Vector | None:
    """Unit vector in the plane of both and orthogonal to `direction`; None if they are parallel."""
    part = vector - direction * (vector.dot(direction) / direction.length_squared)
    size, left = vector.length, part.length
    if left <= _NEARLY_PARALLEL * size:
        return None
    if left < _OBLIQUE * size:
        part -= direction * (part.dot(direction) / direction.length_squared)
    part.normalize()
    return part


def angle_between(start: Vector, end: Vector) -> float:
    """Angle [rad] in 0..pi between two vectors, exact near both ends where acos of a dot product is not."""
    return atan2(start.cross(end).length, start.dot(end))


def rotation_angle(start: Quaternion, end: Quaternion) -> float:
    """Angle [rad] in 0..pi of the rotation that leads from one orientation to the other."""
    _, x, y, z = difference = start.conjugated() @ end
    return 2.0 * atan2(sqrt(x * x + y * y + z * z), abs(difference.w))


def about(axis: Vector, angle: float) -> Quaternion:
    """Rotation by `angle` [rad] about the unit vector `axis`, with the sine and cosine taken in double precision."""
    x, y, z = axis
    s = sin(angle / 2.0)
    return Quaternion((cos(angle / 2.0), x * s, y * s, z * s))


def twist(rotation: Quaternion, axis: Vector) -> float:
    """Angle [rad] in -pi..pi of the part of `rotation` about the unit vector `axis` (swing-twist decomposition).

    It is also the angle of the rotation about `axis` that lies nearest to `rotation`.
    """
    w, x, y, z = rotation
    if w < 0.0:
        w, x, y, z = -w, -x, -y, -z
    along = x * axis.x + y * axis.y + z * axis.z
    return 2.0 * atan2(along, w) if w or along else 0.0


def to_euler(rotation: Quaternion, order: str) -> tuple[float, float, float]:
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


def nearest_euler(angles: Sequence[float], n: int, rotation: Quaternion, order: str) -> float:
    """The angle [rad] for axis `n` of the Euler `angles` that comes nearest to `rotation`, the other two kept."""
    at = list(angles)
    at[n] = 0.0
    along = sum(a * b for a, b in zip(_quaternion(at, order), rotation, strict=True))
    at[n] = pi
    across = sum(a * b for a, b in zip(_quaternion(at, order), rotation, strict=True))
    return wrap(2.0 * atan2(across, along))


def _quaternion(angles: Sequence[float], order: str) -> tuple[float, float, float, float]:
    i, j, k = _AXES[order]
    sign = _PARITY[order]
    # An odd order is an even one seen in a mirror, in which every angle and every axis changes its sign.
    (ci, si), (cj, sj), (ck, sk) = ((cos(half), sin(half)) for half in (sign * angles[n] / 2.0 for n in (i, j, k)))
    v = [0.0, 0.0, 0.0]
    v[i] = sign * (ck * cj * si - sk * sj * ci)
    v[j] = sign * (ck * sj * ci + sk * cj * si)
    v[k] = sign * (sk * cj * ci - ck * sj * si)
    return ck * cj * ci + sk * sj * si, v[0], v[1], v[2]


def other_euler(angles: Sequence[float], order: str) -> tuple[float, float, float]:
    """The second Euler triple [rad] of the same rotation, whose middle angle lies on the far side of +-pi/2."""
    i, j, k = _AXES[order]
    other = list(angles)
    other[i], other[j], other[k] = wrap(angles[i] + pi), wrap(pi - angles[j]), wrap(angles[k] + pi)
    return other[0], other[1], other[2]


def wrap(angle: float) -> float:
    """The same angle [rad] in -pi..pi."""
    return remainder(angle, tau)

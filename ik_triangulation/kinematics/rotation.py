# SPDX-License-Identifier: GPL-3.0-or-later
"""Rotations between directions, about an axis and as Euler angles, where mathutils alone is not exact enough.

mathutils stores single precision. Python floats have double precision, so results are rounded once, at the end.
"""

from collections.abc import Sequence
from math import atan2, cos, inf, pi, remainder, sin, sqrt, tau

from mathutils import Matrix, Quaternion, Vector

from ..items import EULER_ORDERS

_NEARLY_OPPOSITE = 0.05  # cosine of half the angle, below which rotation_difference() loses more than 1e-6 rad
_OBLIQUE = 0.3  # sine below which the projection is done twice to remove rounding
_NEARLY_PARALLEL = 1e-5  # sine below which the normal of an angle is rounding noise in single precision

# The axes an order turns about, the first one first, and the sign of its parity: an odd order is an even one seen in a
# mirror, in which every angle and every axis changes its sign.
AXES = {order: tuple("XYZ".index(letter) for letter in order) for order in EULER_ORDERS}
PARITY = {order: 1.0 if (j - i) % 3 == 1 else -1.0 for order, (i, j, k) in AXES.items()}

_POLE = 1e-9  # half-angle measure below which the outer two Euler axes coincide

Triple = tuple[float, float, float]


def rotation_between(start: Vector, end: Vector) -> Quaternion:
    """Smallest rotation from the direction `start` to `end`; the identity if either has no length.

    Opposite directions have no smallest rotation: a half turn about some axis orthogonal to `start` is returned.
    """
    rotation: Quaternion = start.rotation_difference(end)
    if rotation.w > _NEARLY_OPPOSITE:
        return rotation
    if not start.length or not end.length:
        return Quaternion()
    # A half turn about an axis exactly orthogonal to start, then the small rest, which is well conditioned.
    start, end = start.normalized(), end.normalized()  # or the product of long vectors overflows
    half = Quaternion(orthogonal(start.cross(end), start) or start.orthogonal().normalized(), pi)
    return (-start).rotation_difference(end) @ half


def orthogonal(vector: Vector, direction: Vector) -> Vector | None:
    """Unit vector in the plane of both and orthogonal to `direction`; None if they are parallel or have no length."""
    if not direction.length_squared:
        return None
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


def orientation(frame: Matrix) -> Quaternion:
    """Orientation of a frame (3x3) that may be scaled, sheared or mirrored, but not singular.

    Y, the axis of a bone, keeps its direction, Z stays in the plane of both, and X completes a right-handed frame.
    """
    _, y, z = frame.col
    y = y.normalized()
    z = orthogonal(z, y) or y.orthogonal().normalized()
    turned = Matrix((y.cross(z), y, z)).transposed().to_quaternion()
    turned.normalize()
    return turned


def rotation_angle(start: Quaternion, end: Quaternion) -> float:
    """Angle [rad] in 0..pi of the rotation from one orientation to the other."""
    w, x, y, z = (start.conjugated() @ end)[:]
    return 2.0 * atan2(sqrt(x * x + y * y + z * z), abs(w))


def about(axis: Vector, angle: float) -> Quaternion:
    """Rotation by `angle` [rad] about the unit vector `axis`, with sine and cosine in double precision."""
    x, y, z = axis
    s = sin(angle / 2.0)
    return Quaternion((cos(angle / 2.0), x * s, y * s, z * s))


def twist(rotation: Quaternion, axis: Vector) -> float:
    """Angle [rad] in -pi..pi of the part of `rotation` about the unit vector `axis` (swing-twist decomposition).

    It is also the angle of the rotation about `axis` that is nearest to `rotation`.
    """
    w, x, y, z = rotation[:]
    if w < 0.0:
        w, x, y, z = -w, -x, -y, -z
    along = x * axis.x + y * axis.y + z * axis.z
    return 2.0 * atan2(along, w) if w or along else 0.0


def rotation_vector(rotation: Quaternion) -> Vector:
    """Rotation vector (axis times angle [rad]) of a rotation, with an angle of at most pi."""
    vector = Vector((rotation.x, rotation.y, rotation.z))
    sine = vector.length
    if not sine:
        return vector
    return vector * (2.0 * atan2(sine, abs(rotation.w)) / (sine if rotation.w >= 0.0 else -sine))


def rejection(vector: Vector, unit: Vector) -> Vector:
    """The part of `vector` orthogonal to a unit vector."""
    return vector - unit * vector.dot(unit)


def wrap(angle: float) -> float:
    """The same angle [rad] in -pi..pi."""
    return remainder(angle, tau)


def clamp_to_range(angle: float, lower: float, upper: float) -> float:
    """Move `angle` [rad] by whole turns into the range; else return the end of the range nearest on the circle."""
    if lower <= angle <= upper:
        return angle
    if lower == -inf or upper == inf:
        # One-sided: whole turns always lead inside.
        return lower + (angle - lower) % tau if upper == inf else upper - (upper - angle) % tau
    above = lower + (angle - lower) % tau
    if above <= upper:
        return above
    return upper if above - upper <= lower - (above - tau) else lower


def to_euler(rotation: Quaternion, order: str) -> Triple:
    """Euler angles [rad] (x, y, z) of `rotation` in Blender's `order`, in double precision, the middle one in +-pi/2.

    At the poles of the middle axis, where only a sum is defined, the last angle of the order is 0. mathutils' own
    to_euler() is off by up to 7e-3 rad there. Source: Bernardes and Viollet 2022, "Quaternion to Euler angles
    conversion".
    """
    i, j, k = AXES[order]
    sign = PARITY[order]
    values = rotation[:]
    w, x, y, z = values[0], values[1 + i], values[1 + j], sign * values[1 + k]
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

# SPDX-License-Identifier: GPL-3.0-or-later
"""Rotations between directions and about an axis, where mathutils alone is not exact enough.

mathutils stores single precision. Python floats have double precision, so results are rounded once, at the end.
"""

from math import atan2, cos, pi, remainder, sin, sqrt, tau

from mathutils import Matrix, Quaternion, Vector

_NEARLY_OPPOSITE = 0.05  # cosine of half the angle, below which rotation_difference() loses more than 1e-6 rad
_OBLIQUE = 0.3  # sine below which the projection is done twice to remove rounding
_NEARLY_PARALLEL = 1e-5  # sine below which the normal of an angle is rounding noise in single precision


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
    _, x, y, z = difference = start.conjugated() @ end
    return 2.0 * atan2(sqrt(x * x + y * y + z * z), abs(difference.w))


def about(axis: Vector, angle: float) -> Quaternion:
    """Rotation by `angle` [rad] about the unit vector `axis`, with sine and cosine in double precision."""
    x, y, z = axis
    s = sin(angle / 2.0)
    return Quaternion((cos(angle / 2.0), x * s, y * s, z * s))


def twist(rotation: Quaternion, axis: Vector) -> float:
    """Angle [rad] in -pi..pi of the part of `rotation` about the unit vector `axis` (swing-twist decomposition).

    It is also the angle of the rotation about `axis` that is nearest to `rotation`.
    """
    w, x, y, z = rotation
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

# SPDX-License-Identifier: GPL-3.0-or-later
"""The rotation from one direction to another as the document on quaternion CCD prints it, twice."""

from math import radians, sqrt

from mathutils import Quaternion, Vector

from ik_triangulation.kinematics.rotation import angle_between


def deviations(random):
    """By how much both printed quaternions turn a direction beside another, for directions up to 0.1 degrees from
    opposite: the greatest angle [rad]; and the same of the first one for opposite directions.
    """
    off = [0.0, 0.0]
    for _ in range(2000):
        u, v = (Vector([random.gauss(0.0, 1.0) for _ in range(3)]).normalized() for _ in range(2))
        if angle_between(u, -v) > radians(0.1):
            for which, printed in enumerate((from_two_vectors, from_normals)):
                off[which] = max(off[which], angle_between(printed(u, v) @ u, v))
    u = Vector((0.6, 0.8, 0.0))
    return (*off, angle_between(from_two_vectors(u, -u) @ u, -u))


def from_two_vectors(u, v):
    """The first of the printed functions."""
    real = 1.0 + u.dot(v)
    if real < 1e-6:
        w = Vector((-u.y, u.x, 0.0)) if abs(u.x) > abs(u.z) else Vector((0.0, -u.z, u.y))
        return Quaternion((0.0, *w)).normalized()
    return Quaternion((real, *u.cross(v))).normalized()


def from_normals(a, b):
    """The second, which divides by zero for opposite directions."""
    k = 1.0 + a.dot(b)
    s = 1.0 / sqrt(max(0.0, 2.0 * k))
    return Quaternion((k * s, *(s * a.cross(b))))

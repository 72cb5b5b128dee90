# SPDX-License-Identifier: GPL-3.0-or-later
"""Vectors (..., 3, F), quaternions (..., 4, F; w first), matrices (..., 3, 3, F) and Euler angles of F poses.

The last axis runs over the poses, so that every operation reads memory in order. Everything is in double precision.
"""

from __future__ import annotations

from math import pi, tau
from typing import Any

import numpy as np

from ..arrays import Array, Columns, Indices, Numbers, einsum
from ..rotation import AXES, PARITY

IDENTITY = np.eye(3)[:, :, None]
_SMALL = 1e-12  # length below which a vector has no direction
_HALF_TURN = -0.99  # cosine of an angle so near to a half turn that its sine no longer tells the axis

_POLE = 1e-9  # half-angle measure below which the outer two Euler axes coincide, as in kinematics.rotation


def _table(*rows: str) -> Numbers:
    """Coefficients (r, 16) of rows such as "+wx-yz" for the products of two quaternions' components."""
    table = np.zeros((len(rows), 4, 4))
    for row, text in zip(table, rows, strict=True):
        for sign, i, j in zip(text[::3], text[1::3], text[2::3], strict=True):
            row["wxyz".index(i), "wxyz".index(j)] += 1.0 if sign == "+" else -1.0
    return table.reshape(-1, 16)


_PRODUCT = _table("+ww-xx-yy-zz", "+wx+xw+yz-zy", "+wy-xz+yw+zx", "+wz+xy-yx+zw")
_MATRIX = _table(
    *("+ww+xx-yy-zz", "+xy+xy-wz-wz", "+xz+xz+wy+wy"),
    *("+xy+xy+wz+wz", "+ww-xx+yy-zz", "+yz+yz-wx-wx"),
    *("+xz+xz-wy-wy", "+yz+yz+wx+wx", "+ww-xx-yy+zz"),
)
_FEW = 2000  # rotations up to which one product of tables is faster than its terms


def _bilinear(table: Numbers, a: Numbers, b: Numbers) -> Numbers:
    """Rows (..., r, F) of a table, of the products of two quaternions' components."""
    products = a[..., :, None, :] * b[..., None, :, :]
    rows: Numbers = table @ products.reshape(*products.shape[:-3], 16, products.shape[-1])
    return rows


def matrices(q: Numbers, out: Numbers | None = None) -> Numbers:
    """Rotation matrices of unit quaternions, written to `out` if that is given."""
    m = np.empty((*q.shape[:-2], 3, 3, q.shape[-1])) if out is None else out
    if q.size <= 4 * _FEW:
        m[...] = _bilinear(_MATRIX, q, q).reshape(m.shape)
        return m
    w, x, y, z = q[..., 0, :], q[..., 1, :], q[..., 2, :], q[..., 3, :]
    x2, y2, z2 = x + x, y + y, z + z
    xx, yy, zz, xy, xz, yz = x * x2, y * y2, z * z2, x * y2, x * z2, y * z2
    wx, wy, wz = w * x2, w * y2, w * z2
    m[..., 0, 0, :], m[..., 0, 1, :], m[..., 0, 2, :] = 1.0 - (yy + zz), xy - wz, xz + wy
    m[..., 1, 0, :], m[..., 1, 1, :], m[..., 1, 2, :] = xy + wz, 1.0 - (xx + zz), yz - wx
    m[..., 2, 0, :], m[..., 2, 1, :], m[..., 2, 2, :] = xz - wy, yz + wx, 1.0 - (xx + yy)
    return m


def quaternions(m: Numbers) -> Numbers:
    """Unit quaternions of rotation matrices (3, 3, F), each by its largest component."""
    diagonal = m[0, 0], m[1, 1], m[2, 2]
    trace = diagonal[0] + diagonal[1] + diagonal[2]
    a, b, c = m[2, 1] - m[1, 2], m[0, 2] - m[2, 0], m[1, 0] - m[0, 1]
    found = np.array((1.0 + trace, a, b, c))
    turned = (np.maximum(np.maximum(diagonal[0], diagonal[1]), diagonal[2]) > trace).nonzero()[0]
    if len(turned):  # so far that w is not the largest component
        a, b, c, m = a[turned], b[turned], c[turned], m[..., turned]
        d, e, f = m[1, 0] + m[0, 1], m[0, 2] + m[2, 0], m[2, 1] + m[1, 2]
        x, y, z = (1.0 + (2.0 * m[i, i] - trace[turned]) for i in range(3))
        first, second = (m[0, 0] >= m[1, 1]) & (m[0, 0] >= m[2, 2]), m[1, 1] >= m[2, 2]
        by_last = np.where(second, np.array((b, d, y, f)), np.array((c, e, f, z)))
        found[:, turned] = np.where(first, np.array((a, x, d, e)), by_last)
    return normalized(found)


def product(a: Numbers, b: Numbers) -> Numbers:
    """Quaternion product: `b` first, then `a`."""
    return _bilinear(_PRODUCT, a, b)


def conjugated(q: Numbers) -> Numbers:
    """Inverse of unit quaternions."""
    inverse: Numbers = q * np.array((1.0, -1.0, -1.0, -1.0))[:, None]
    return inverse


def normalized(v: Numbers) -> Numbers:
    """Vectors or quaternions of unit length."""
    unit: Numbers = v / lengths(v)[..., None, :]
    return unit


def signs_along(q: Numbers) -> Numbers:
    """Signs (b, F) with which each of several quaternions (b, 4, F) is near to the one before it."""
    against = einsum("bif,bif->bf", q[..., 1:], q[..., :-1]) < 0.0
    signs: Numbers = np.ones((len(q), q.shape[-1]))
    np.cumprod(np.where(against, -1.0, 1.0), -1, out=signs[:, 1:])
    return signs


def lengths(v: Numbers) -> Numbers:
    """Lengths (..., F) of vectors or quaternions."""
    size: Numbers = np.sqrt(einsum("...if,...if->...f", v, v))
    return size


def rotation_vectors(q: Numbers) -> Numbers:
    """Axis times angle [rad], at most a half turn, of unit quaternions."""
    v, w = q[..., 1:, :], q[..., 0, :]
    sine = lengths(v)
    angle = 2.0 * np.arctan2(sine, np.abs(w))
    share = np.where(sine > _SMALL, angle / np.maximum(sine, _SMALL), 2.0)
    return v * np.where(w < 0.0, -share, share)[..., None, :]


def angles_between(a: Numbers, b: Numbers) -> Numbers:
    """Angles (..., F) [rad] of the turns from unit quaternions (..., 4, F) to others, exact for small ones too."""
    sine = 0.5 * np.minimum(lengths(a - b), lengths(a + b))
    angles: Numbers = 4.0 * np.arcsin(np.minimum(sine, 1.0))
    return angles


def turn_vectors(m: Numbers) -> Numbers:
    """Axis times angle [rad], at most a half turn, of rotation matrices (3, 3, F)."""
    v = 0.5 * np.array((m[2, 1] - m[1, 2], m[0, 2] - m[2, 0], m[1, 0] - m[0, 1]))
    sine, cosine = lengths(v), 0.5 * (m[0, 0] + m[1, 1] + m[2, 2] - 1.0)
    v *= np.arctan2(sine, cosine) / np.maximum(sine, _SMALL)  # what is smaller is none
    far = cosine < _HALF_TURN
    if far.any():
        v[:, far] = rotation_vectors(quaternions(m[..., far]))
    return v


def exponential(v: Numbers) -> Numbers:
    """Unit quaternions of rotation vectors (axis times angle [rad])."""
    out = np.empty((*v.shape[:-2], 4, v.shape[-1]))
    angle = lengths(v)
    half = 0.5 * angle
    out[..., 0, :] = np.cos(half)
    share = np.where(angle > _SMALL, np.sin(half) / np.maximum(angle, _SMALL), 0.5)
    np.multiply(v, share[..., None, :], out=out[..., 1:, :])
    return out


def stepped(q: Numbers, v: Numbers) -> Numbers:
    """Unit quaternions turned further by rotation vectors in their own axes, to third order: enough for steps.

    It is the square of Cayley's map of a quarter of each vector, which needs no trigonometry.
    """
    turn = np.empty((*v.shape[:-2], 4, v.shape[-1]))
    turn[..., 0, :] = 1.0 - einsum("...if,...if->...f", v, v) / 16.0
    np.multiply(v, 0.5, out=turn[..., 1:, :])
    return normalized(product(q, turn))


def cross(a: Numbers, b: Numbers) -> Numbers:
    """Cross product of vectors."""
    out = np.empty(np.broadcast(a, b).shape)
    ax, ay, az = a[..., 0, :], a[..., 1, :], a[..., 2, :]
    bx, by, bz = b[..., 0, :], b[..., 1, :], b[..., 2, :]
    out[..., 0, :] = ay * bz - az * by
    out[..., 1, :] = az * bx - ax * bz
    out[..., 2, :] = ax * by - ay * bx
    return out


def dot(a: Numbers, b: Numbers) -> Numbers:
    """Dot product (..., F) of vectors."""
    product: Numbers = einsum("...if,...if->...f", a, b)
    return product


def rotate(m: Numbers, v: Numbers) -> Numbers:
    """Vectors rotated by matrices."""
    rotated: Numbers = einsum("...ijf,...jf->...if", m, v)
    return rotated


def rotate_back(m: Numbers, v: Numbers) -> Numbers:
    """Vectors rotated by the inverse of rotation matrices."""
    rotated: Numbers = einsum("...jif,...jf->...if", m, v)
    return rotated


def compose(a: Numbers, b: Numbers) -> Numbers:
    """Product of matrices: `b` (..., 3, n, F) first, then `a` (..., 3, 3, F)."""
    composed: Numbers = einsum("...ijf,...jkf->...ikf", a, b)  # no temporary array, which a sum of products has
    return composed


def square_to(way: Numbers) -> tuple[Numbers, Numbers]:
    """Two unit vectors orthogonal to each unit vector (3, F) and to each other, right-handed with it.

    Source: Duff et al. 2017, "Building an Orthonormal Basis, Revisited".
    """
    x, y, z = way
    sign = np.where(z >= 0.0, 1.0, -1.0)
    a = -1.0 / (sign + z)
    b = x * y * a
    return np.array((1.0 + sign * x * x * a, sign * b, -sign * x)), np.array((b, sign + y * y * a, -y))


def at(values: Numbers, columns: Columns) -> Numbers:
    """The columns of an array; one whose last axis is 1 holds for all of them."""
    return values if values.shape[-1] == 1 else values[..., columns]


def as_slice(indices: Indices) -> Any:
    """The indices as a slice if they are consecutive, which reads arrays without a copy."""
    if len(indices) and (np.diff(indices) == 1).all():
        return slice(int(indices[0]), int(indices[-1]) + 1)
    return indices


def euler_angles(rotations: Array, order: str) -> Array:
    """Return Euler angles (3, n) [rad] of rotations (4, n) as to_euler() does for one; the length does not matter."""
    i, j, k = AXES[order]
    sign = PARITY[order]
    w, x, y = rotations[0], rotations[1 + i], rotations[1 + j]
    z = rotations[1 + k] if sign > 0.0 else -rotations[1 + k]
    a, b, c, d = w - y, x + z, w + y, z - x
    below, above = np.sqrt(c * c + d * d), np.sqrt(a * a + b * b)
    half_sum, half_difference = np.arctan2(b, a), np.arctan2(d, c)
    angles: Array = np.empty((3, rotations.shape[1]))
    angles[j] = 2.0 * np.arctan2(below, above) - pi / 2.0
    angles[i] = half_sum - half_difference
    angles[k] = half_sum + half_difference
    if sign < 0.0:
        angles[k] *= -1.0
    pole = np.minimum(below, above) <= _POLE
    if pole.any():
        angles[i] = np.where(pole, 2.0 * np.where(below < above, half_sum, -half_difference), angles[i])
        angles[k] = np.where(pole, 0.0, angles[k])
    angles[i], angles[k] = to_half_turns(angles[i]), to_half_turns(angles[k])
    return angles


def euler_quaternions(angles: Array, order: str) -> Array:
    """Return unit quaternions (..., 4, n) of Euler angles (..., 3, n) [rad], as from_euler() does for one."""
    i, j, k = AXES[order]
    sign = PARITY[order]  # an odd order is the mirror image of an even one
    half = sign * angles / 2.0
    cosines, sines = np.cos(half), np.sin(half)
    ci, cj, ck = (cosines[..., axis, :] for axis in (i, j, k))
    si, sj, sk = (sines[..., axis, :] for axis in (i, j, k))
    result: Array = np.empty((*angles.shape[:-2], 4, angles.shape[-1]))
    result[..., 0, :] = ck * cj * ci + sk * sj * si
    result[..., 1 + i, :] = sign * (ck * cj * si - sk * sj * ci)
    result[..., 1 + j, :] = sign * (ck * sj * ci + sk * cj * si)
    result[..., 1 + k, :] = sign * (sk * cj * ci - ck * sj * si)
    return result


def other_angles(angles: Array, order: str) -> Array:
    """Return the second Euler triples (3, n) [rad] of the same rotations, as other_euler() does for one."""
    i, j, k = AXES[order]
    other = np.empty_like(angles)
    other[i], other[j], other[k] = angles[i] + pi, pi - angles[j], angles[k] + pi
    return to_half_turns(other)


def to_half_turns(angles: Array) -> Array:
    """Return the same angles [rad] in -pi..pi."""
    return np.asarray(angles - tau * np.rint(angles / tau))


def clamped_to_range(angles: Array, lower: Array | float, upper: Array | float) -> Array:
    """Move angles [rad] by whole turns into their range; else to its nearest end, as clamp_to_range() does for one."""
    inside = (lower <= angles) & (angles <= upper)
    if inside.all():
        return angles
    outside = ~inside
    lower, upper = np.broadcast_to(lower, inside.shape)[outside], np.broadcast_to(upper, inside.shape)[outside]
    moved: Array = np.broadcast_to(angles, inside.shape).copy()
    some = moved[outside]
    with np.errstate(invalid="ignore"):  # of infinite ends
        above = lower + (some - lower) % tau
        below = upper - (upper - some) % tau
        nearest = np.where(above - upper <= lower - (above - tau), upper, lower)
    moved[outside] = np.where(
        np.isinf(upper), above, np.where(np.isinf(lower), below, np.where(above <= upper, above, nearest))
    )
    return moved

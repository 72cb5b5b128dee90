# SPDX-License-Identifier: GPL-3.0-or-later
"""Vectors (..., 3, F), quaternions (..., 4, F; w first) and rotation matrices (..., 3, 3, F) of F poses.

The last axis runs over the poses, so that every operation reads memory in order. Everything is in double precision.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..arrays import Columns, Indices, Numbers

IDENTITY = np.eye(3)[:, :, None]
_SMALL = 1e-12  # length below which a vector has no direction
_HALF_TURN = -0.99  # cosine of an angle so near to a half turn that its sine no longer tells the axis


def matrices(q: Numbers, out: Numbers | None = None) -> Numbers:
    """Rotation matrices of unit quaternions, written to `out` if that is given."""
    w, x, y, z = q[..., 0, :], q[..., 1, :], q[..., 2, :], q[..., 3, :]
    x2, y2, z2 = x + x, y + y, z + z
    xx, yy, zz, xy, xz, yz = x * x2, y * y2, z * z2, x * y2, x * z2, y * z2
    wx, wy, wz = w * x2, w * y2, w * z2
    m = np.empty((*q.shape[:-2], 3, 3, q.shape[-1])) if out is None else out
    m[..., 0, 0, :], m[..., 0, 1, :], m[..., 0, 2, :] = 1.0 - (yy + zz), xy - wz, xz + wy
    m[..., 1, 0, :], m[..., 1, 1, :], m[..., 1, 2, :] = xy + wz, 1.0 - (xx + zz), yz - wx
    m[..., 2, 0, :], m[..., 2, 1, :], m[..., 2, 2, :] = xz - wy, yz + wx, 1.0 - (xx + yy)
    return m


def quaternions(m: Numbers) -> Numbers:
    """Unit quaternions of rotation matrices (3, 3, F), each by its largest component."""
    trace = m[0, 0] + m[1, 1] + m[2, 2]
    squares = np.stack((trace, *(2.0 * m[i, i] - trace for i in range(3))))
    a, b, c = m[2, 1] - m[1, 2], m[0, 2] - m[2, 0], m[1, 0] - m[0, 1]
    d, e, f = m[1, 0] + m[0, 1], m[0, 2] + m[2, 0], m[2, 1] + m[1, 2]
    rows = np.stack(
        (
            np.stack((1.0 + squares[0], a, b, c)),
            np.stack((a, 1.0 + squares[1], d, e)),
            np.stack((b, d, 1.0 + squares[2], f)),
            np.stack((c, e, f, 1.0 + squares[3])),
        )
    )
    return normalized(np.take_along_axis(rows, squares.argmax(0)[None, None], 0)[0])


def product(a: Numbers, b: Numbers) -> Numbers:
    """Quaternion product: `b` first, then `a`."""
    out = np.empty(np.broadcast_shapes(a.shape, b.shape))
    aw, ax, ay, az = a[..., 0, :], a[..., 1, :], a[..., 2, :], a[..., 3, :]
    bw, bx, by, bz = b[..., 0, :], b[..., 1, :], b[..., 2, :], b[..., 3, :]
    out[..., 0, :] = aw * bw - ax * bx - ay * by - az * bz
    out[..., 1, :] = aw * bx + ax * bw + ay * bz - az * by
    out[..., 2, :] = aw * by - ax * bz + ay * bw + az * bx
    out[..., 3, :] = aw * bz + ax * by - ay * bx + az * bw
    return out


def conjugated(q: Numbers) -> Numbers:
    """Inverse of unit quaternions."""
    inverse: Numbers = q * np.array((1.0, -1.0, -1.0, -1.0))[:, None]
    return inverse


def normalized(v: Numbers) -> Numbers:
    """Vectors or quaternions of unit length."""
    unit: Numbers = v / lengths(v)[..., None, :]
    return unit


def lengths(v: Numbers) -> Numbers:
    """Lengths (..., F) of vectors or quaternions."""
    size: Numbers = np.sqrt(np.einsum("...if,...if->...f", v, v))
    return size


def rotation_vectors(q: Numbers) -> Numbers:
    """Axis times angle [rad], at most a half turn, of unit quaternions."""
    v, w = q[..., 1:, :], q[..., 0, :]
    sine = lengths(v)
    angle = 2.0 * np.arctan2(sine, np.abs(w))
    share = np.where(sine > _SMALL, angle / np.maximum(sine, _SMALL), 2.0)
    return v * np.where(w < 0.0, -share, share)[..., None, :]


def turn_vectors(m: Numbers) -> Numbers:
    """Axis times angle [rad], at most a half turn, of rotation matrices (3, 3, F)."""
    v = 0.5 * np.stack((m[2, 1] - m[1, 2], m[0, 2] - m[2, 0], m[1, 0] - m[0, 1]))
    sine, cosine = lengths(v), 0.5 * (m[0, 0] + m[1, 1] + m[2, 2] - 1.0)
    v *= np.where(sine > _SMALL, np.arctan2(sine, cosine) / np.maximum(sine, _SMALL), 1.0)
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


def cross(a: Numbers, b: Numbers) -> Numbers:
    """Cross product of vectors."""
    out = np.empty(np.broadcast_shapes(a.shape, b.shape))
    ax, ay, az = a[..., 0, :], a[..., 1, :], a[..., 2, :]
    bx, by, bz = b[..., 0, :], b[..., 1, :], b[..., 2, :]
    out[..., 0, :] = ay * bz - az * by
    out[..., 1, :] = az * bx - ax * bz
    out[..., 2, :] = ax * by - ay * bx
    return out


def dot(a: Numbers, b: Numbers) -> Numbers:
    """Dot product (..., F) of vectors."""
    product: Numbers = a[..., 0, :] * b[..., 0, :] + a[..., 1, :] * b[..., 1, :] + a[..., 2, :] * b[..., 2, :]
    return product


def rotate(m: Numbers, v: Numbers) -> Numbers:
    """Vectors rotated by matrices."""
    x, y, z = v[..., None, 0, :], v[..., None, 1, :], v[..., None, 2, :]
    rotated: Numbers = m[..., :, 0, :] * x + m[..., :, 1, :] * y + m[..., :, 2, :] * z
    return rotated


def rotate_back(m: Numbers, v: Numbers) -> Numbers:
    """Vectors rotated by the inverse of rotation matrices."""
    x, y, z = v[..., None, 0, :], v[..., None, 1, :], v[..., None, 2, :]
    rotated: Numbers = m[..., 0, :, :] * x + m[..., 1, :, :] * y + m[..., 2, :, :] * z
    return rotated


def compose(a: Numbers, b: Numbers) -> Numbers:
    """Product of matrices: `b` (..., 3, n, F) first, then `a` (..., 3, 3, F)."""
    composed: Numbers = a[..., :, 0, None, :] * b[..., None, 0, :, :]
    composed += a[..., :, 1, None, :] * b[..., None, 1, :, :]
    composed += a[..., :, 2, None, :] * b[..., None, 2, :, :]
    return composed


def square_to(way: Numbers) -> tuple[Numbers, Numbers]:
    """Two unit vectors orthogonal to each unit vector (3, F) and to each other.

    Source: Duff et al. 2017, "Building an Orthonormal Basis, Revisited".
    """
    x, y, z = way
    sign = np.where(z >= 0.0, 1.0, -1.0)
    a = -1.0 / (sign + z)
    b = x * y * a
    return np.stack((1.0 + sign * x * x * a, sign * b, -sign * x)), np.stack((b, sign + y * y * a, -y))


def at(values: Numbers, columns: Columns) -> Numbers:
    """The columns of an array; one whose last axis is 1 holds for all of them."""
    return values if values.shape[-1] == 1 else values[..., columns]


def as_slice(indices: Indices) -> Any:
    """The indices as a slice if they are consecutive, which reads arrays without a copy."""
    if len(indices) and (np.diff(indices) == 1).all():
        return slice(int(indices[0]), int(indices[-1]) + 1)
    return indices

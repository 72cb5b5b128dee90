# SPDX-License-Identifier: GPL-3.0-or-later
"""Euler angles of many rotations at once. The last axis of every array runs over the rotations."""

from __future__ import annotations

from math import pi, tau

import numpy as np

from ..arrays import Array
from ..euler import AXES, PARITY

_POLE = 1e-9  # half-angle measure below which the outer two Euler axes coincide, as in kinematics.euler


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
    with np.errstate(invalid="ignore"):  # of infinite ends
        above = lower + (angles - lower) % tau
        below = upper - (upper - angles) % tau
        nearest = np.where(above - upper <= lower - (above - tau), upper, lower)
    moved = np.where(np.isinf(upper), above, np.where(np.isinf(lower), below, np.where(above <= upper, above, nearest)))
    return np.where(inside, angles, moved)

# SPDX-License-Identifier: GPL-3.0-or-later
"""Limit check before writing: values obey every joint limit in the single precision that Blender stores."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from mathutils import Quaternion

from ..errors import RigError
from ..kinematics import EulerLimits, Freedom
from ..kinematics.arrays import Array
from ..kinematics.batch.limit_arrays import Freedoms, LimitArrays, each_freedom
from ..kinematics.rotation import rotation_angle
from ..motion.batch import quaternions_of
from .channel_runs import euler_limits
from .rotation import rotation_from, values_for

LEAST = 2e-6  # [rad] rounding of a limit in single precision, for angles of few turns
_SURE = 0.5 * LEAST  # [rad] what the gate, which measures in single precision, certainly lets through


def within_limits(bone: str, values: Array, mode: str, freedoms: Freedoms) -> Array:
    """Return a bone's channel values (a row for each frame) in single precision, clamped to its limits.

    A rotation is at most 2e-6 rad outside, or as much as the rounding of angles of many turns; Euler angles with limits
    in the order of the `mode` are inside. `freedoms` is one for all frames, or one for each. Raises RigError if single
    precision has no such value.
    """
    stored = values.astype(np.float32)
    limits = LimitArrays(freedoms)
    if limits.free:
        return stored
    unsure = np.arange(len(stored))
    if stored.shape[1] == 3:
        unsure = np.flatnonzero(~_clamped(stored, mode, each_freedom(freedoms)))
    if len(unsure):
        some = stored if len(unsure) == len(stored) else stored[unsure]
        excess = limits.excess(quaternions_of(np.array(some.T, np.float64), mode), unsure)
        for row in unsure[excess > _SURE].tolist():
            _gate(bone, stored[row], mode, limits.freedom(row))
    return stored


def _clamped(stored: Array, mode: str, freedoms: Sequence[Freedom]) -> Array:
    """Clamp stored Euler angles to limits in their order; tell for each row whether that is enough."""
    limits, lower, upper = euler_limits(freedoms, mode)
    if not any(limits):
        return np.zeros(len(stored), bool)
    ends = _inward(lower.T, np.inf), _inward(upper.T, -np.inf)
    inside = np.clip(stored, *ends)
    far = np.abs(inside - stored).max(1) > _rounding(stored)
    near = ~far
    stored[near] = inside[near]
    for row in np.flatnonzero(far).tolist():
        limit = limits[row if len(limits) > 1 else 0]
        if limit:
            _turn_inside(stored[row], mode, limit)
    whole = np.array([limit is freedom for limit, freedom in zip(limits, freedoms, strict=True)])
    return np.asarray(near & whole)


def _gate(bone: str, row: Array, mode: str, freedom: Freedom) -> None:
    """Turn a row to the nearest allowed rotation if it is outside. Raises RigError if that does not help."""
    allowed = _allowed(row, mode, freedom)
    if allowed is not None:
        row[:] = values_for(allowed, mode, freedom, row.tolist())
        if _allowed(row, mode, freedom) is not None:
            raise RigError(f"'{bone}' cannot be kept inside its limits in single precision. Widen them a little.")


def _turn_inside(row: Array, mode: str, limits: EulerLimits) -> None:
    """Replace stored Euler angles by those of the nearest rotation inside the limits."""
    ends = _inward(np.array(limits.lower), np.inf), _inward(np.array(limits.upper), -np.inf)
    nearest = limits.nearest(rotation_from(row.tolist(), mode))
    row[:] = np.clip(np.float32(values_for(nearest, mode, limits, row.tolist())), *ends)


def _allowed(row: Array, mode: str, freedom: Freedom) -> Quaternion | None:
    """Return the nearest allowed rotation if the stored one is not allowed, otherwise None."""
    rotation = rotation_from(row.tolist(), mode)
    nearest = freedom.nearest(rotation)
    return nearest if rotation_angle(nearest, rotation) > _rounding(row) else None


def _rounding(rows: Array) -> Any:
    """Return the rounding of a limit in single precision [rad], which grows with the angle: one for each row."""
    return np.maximum(LEAST, 2.0 * np.spacing(np.abs(rows).max(-1)))


def _inward(exact: Array, inside: float) -> Array:
    """Return limits in single precision, rounded towards `inside` where they are not exact."""
    stored = exact.astype(np.float32)
    outside = stored < exact if inside > 0.0 else stored > exact
    return np.where(outside, np.nextafter(stored, np.float32(inside)), stored)

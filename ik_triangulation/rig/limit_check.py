# SPDX-License-Identifier: GPL-3.0-or-later
"""Limit check before writing: values obey every joint limit in the single precision that Blender stores."""

from collections.abc import Collection
from typing import Any

import numpy as np
from mathutils import Quaternion

from ..errors import RigError
from ..kinematics import EulerLimits, Free, Freedom
from ..kinematics.rotation import rotation_angle
from .rotation import rotation_from, values_for

LEAST = 2e-6  # [rad] rounding of a limit in single precision, for angles of few turns


def within_limits(
    bone: str, values: np.ndarray[Any, Any], mode: str, freedoms: Collection[Freedom]
) -> np.ndarray[Any, Any]:
    """Return a bone's channel values (a row for each frame) in single precision, clamped to its limits.

    A rotation is at most 2e-6 rad outside, or as much as the rounding of angles of many turns; Euler angles with limits
    in the order of the `mode` are inside. Raises RigError if single precision has no such value.
    """
    stored = values.astype(np.float32)
    if set(map(type, freedoms)) == {Free}:
        return stored
    for row, freedom in zip(stored, freedoms, strict=True):
        if isinstance(freedom, Free):
            continue
        limits = freedom.in_euler(mode) if len(row) == 3 else None
        if limits:
            _clamp(row, mode, limits)
        allowed = _allowed(row, mode, freedom)
        if allowed is not None:
            row[:] = values_for(allowed, mode, freedom, row.tolist())
            if _allowed(row, mode, freedom) is not None:
                raise RigError(f"'{bone}' cannot be kept inside its limits in single precision. Widen them a little.")
    return stored


def _clamp(row: np.ndarray[Any, Any], mode: str, limits: EulerLimits) -> None:
    """Clamp stored Euler angles to their limits: by rounding if that is enough, otherwise to the nearest rotation."""
    ends = _inward(limits.lower, np.inf), _inward(limits.upper, -np.inf)
    inside = np.clip(row, *ends)
    if np.abs(inside - row).max() > _rounding(row):
        nearest = limits.nearest(rotation_from(row.tolist(), mode))
        inside = np.clip(np.float32(values_for(nearest, mode, limits, row.tolist())), *ends)
    row[:] = inside


def _allowed(row: np.ndarray[Any, Any], mode: str, freedom: Freedom) -> Quaternion | None:
    """Return the nearest allowed rotation if the stored one is not allowed, otherwise None."""
    rotation = rotation_from(row.tolist(), mode)
    nearest = freedom.nearest(rotation)
    return nearest if rotation_angle(nearest, rotation) > _rounding(row) else None


def _rounding(row: np.ndarray[Any, Any]) -> float:
    """Return the rounding of a limit in single precision [rad], which grows with the angle."""
    return max(LEAST, 2.0 * float(np.spacing(np.abs(row).max())))


def _inward(limits: tuple[float, ...], inside: float) -> np.ndarray[Any, Any]:
    """Return limits in single precision, rounded towards `inside` where they are not exact."""
    exact = np.array(limits)
    stored = exact.astype(np.float32)
    outside = stored < exact if inside > 0.0 else stored > exact
    return np.where(outside, np.nextafter(stored, np.float32(inside)), stored)

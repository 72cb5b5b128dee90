# SPDX-License-Identifier: GPL-3.0-or-later
"""The write gate: whatever was solved, what is written obeys every limit as Blender stores it."""

from collections.abc import Collection
from typing import Any

import numpy as np
from mathutils import Quaternion

from ..errors import RigError
from ..kinematics import EulerLimits, Free, Freedom
from ..kinematics.rotation import rotation_angle
from .rotation import rotation_from, values_for

LEAST = 2e-6  # [rad] what single precision leaves of a limit, for angles of few turns


def within_limits(
    bone: str, values: np.ndarray[Any, Any], mode: str, freedoms: Collection[Freedom]
) -> np.ndarray[Any, Any]:
    """Channel values of a bone, a row a frame, in the single precision Blender stores, none of them outside its limits.

    A rotation is at most 2e-6 rad outside, or what single precision leaves of angles that have run on for many turns;
    Euler angles with limits in the order of the `mode` are inside. Raises RigError if that cannot be had.
    """
    stored = values.astype(np.float32)
    if set(map(type, freedoms)) == {Free}:
        return stored
    for row, freedom in zip(stored, freedoms, strict=True):
        if isinstance(freedom, Free):
            continue
        limits = freedom.in_euler(mode) if len(row) == 3 else None
        if limits:
            _fit(row, mode, limits)
        allowed = _allowed(row, mode, freedom)
        if allowed is not None:
            row[:] = values_for(allowed, mode, freedom, row.tolist())
            if _allowed(row, mode, freedom) is not None:
                raise RigError(f"'{bone}' cannot be kept inside its limits in single precision. Widen them a little.")
    return stored


def _fit(row: np.ndarray[Any, Any], mode: str, limits: EulerLimits) -> None:
    """Bring stored Euler angles inside their limits: by rounding if that does, else as the nearest allowed rotation."""
    ends = _inward(limits.lower, np.inf), _inward(limits.upper, -np.inf)
    inside = np.clip(row, *ends)
    if np.abs(inside - row).max() > _rounding(row):
        nearest = limits.nearest(rotation_from(row.tolist(), mode))
        inside = np.clip(np.float32(values_for(nearest, mode, limits, row.tolist())), *ends)
    row[:] = inside


def _allowed(row: np.ndarray[Any, Any], mode: str, freedom: Freedom) -> Quaternion | None:
    """The nearest allowed rotation, if that of stored values is not allowed."""
    rotation = rotation_from(row.tolist(), mode)
    nearest = freedom.nearest(rotation)
    return nearest if rotation_angle(nearest, rotation) > _rounding(row) else None


def _rounding(row: np.ndarray[Any, Any]) -> float:
    """What single precision leaves of a limit [rad]: it tells large angles apart less well."""
    return max(LEAST, 2.0 * float(np.spacing(np.abs(row).max())))


def _inward(limits: tuple[float, ...], inside: float) -> np.ndarray[Any, Any]:
    """Limits in single precision, rounded towards `inside` where they have to be."""
    exact = np.array(limits)
    stored = exact.astype(np.float32)
    outside = stored < exact if inside > 0.0 else stored > exact
    return np.where(outside, np.nextafter(stored, np.float32(inside)), stored)

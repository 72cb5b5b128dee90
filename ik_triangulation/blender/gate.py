# SPDX-License-Identifier: GPL-3.0-or-later
"""The write gate: whatever was solved, what is written obeys every limit as Blender stores it."""

from collections.abc import Iterable
from typing import Any

import numpy as np
from mathutils import Quaternion

from ..errors import RigError
from ..kinematics import Free, Freedom
from ..kinematics.rotation import rotation_angle
from .rotation import rotation_from, values_for

LEAST = 2e-6  # [rad] what single precision leaves of a limit


def within_limits(
    bone: str, values: np.ndarray[Any, Any], mode: str, freedoms: Iterable[Freedom]
) -> np.ndarray[Any, Any]:
    """Channel values of a bone, a row a frame, in the single precision Blender stores, none of them outside its limits.

    A rotation is at most 2e-6 rad outside; Euler angles with limits in the order of the `mode` are inside. Raises
    RigError if that cannot be had.
    """
    stored = values.astype(np.float32)
    for row, freedom in zip(stored, freedoms, strict=True):
        if isinstance(freedom, Free):
            continue
        limits = freedom.in_euler(mode) if len(row) == 3 else None
        if limits:
            np.clip(row, _inward(limits.lower, np.inf), _inward(limits.upper, -np.inf), out=row)
        allowed = _allowed(row, mode, freedom)
        if allowed is not None:
            row[:] = values_for(allowed, mode, freedom, row.tolist())
            if _allowed(row, mode, freedom) is not None:
                raise RigError(f"'{bone}' cannot be kept inside its limits in single precision. Widen them a little.")
    return stored


def _allowed(row: np.ndarray[Any, Any], mode: str, freedom: Freedom) -> Quaternion | None:
    """The nearest allowed rotation, if that of stored values is not allowed."""
    rotation = rotation_from(row.tolist(), mode)
    nearest = freedom.nearest(rotation)
    return nearest if rotation_angle(nearest, rotation) > LEAST else None


def _inward(limits: tuple[float, ...], inside: float) -> np.ndarray[Any, Any]:
    """Limits in single precision, rounded towards `inside` where they have to be."""
    exact = np.array(limits)
    stored = exact.astype(np.float32)
    outside = stored < exact if inside > 0.0 else stored > exact
    return np.where(outside, np.nextafter(stored, np.float32(inside)), stored)

# SPDX-License-Identifier: GPL-3.0-or-later
"""Rotation of a bone in its rotation mode: reading, writing, and the channels to key."""

from collections.abc import Iterable, Sequence
from itertools import chain
from math import atan2, dist, hypot, inf, tau
from typing import Any

import numpy as np
from bpy.types import PoseBone
from mathutils import Quaternion, Vector

from ..kinematics import Freedom
from ..kinematics.euler import from_euler, other_euler, to_euler
from ..kinematics.rotation import rotation_angle

# The property and the number of its channels; every Euler order has the default.
_CHANNELS = {"QUATERNION": ("rotation_quaternion", 4), "AXIS_ANGLE": ("rotation_axis_angle", 4)}
_EULER = ("rotation_euler", 3)
_NO_LOWER, _NO_UPPER = (-inf,) * 3, (inf,) * 3
PROPERTIES = ("rotation_quaternion", "rotation_axis_angle", "rotation_euler")

TWIST_FIRST = "YXZ"  # Euler order of limits on bones that have none: about the bone first, as in Blender's IK


def channel(bone: PoseBone) -> tuple[str, int]:
    """Return the name of the rotation property of the bone's mode, and its number of channels."""
    return _CHANNELS.get(bone.rotation_mode, _EULER)


def limit_order(bone: PoseBone) -> str:
    """Return the Euler order of the bone's limits and locked axes: its own, if it is in an Euler mode."""
    return TWIST_FIRST if bone.rotation_mode in _CHANNELS else bone.rotation_mode


def rotation_of(bone: PoseBone) -> Quaternion:
    """Return the rotation of the bone's matrix_basis, a unit quaternion; degenerate values are read as in Blender."""
    return rotation_from(getattr(bone, channel(bone)[0]), bone.rotation_mode)


def rotation_from(values: Sequence[float], mode: str) -> Quaternion:
    """Return the rotation of channel values in rotation `mode`, a unit quaternion."""
    if mode == "QUATERNION":
        rotation = Quaternion(values)
        rotation.normalize()
        return rotation
    if mode == "AXIS_ANGLE":
        angle, *axis = values
        axis = Vector(axis)
        return Quaternion(axis.normalized(), angle) if axis.length > 1e-8 else Quaternion()
    return from_euler(values, mode)


def values_for(rotation: Quaternion, mode: str, freedom: Freedom, previous: Sequence[float]) -> Sequence[float]:
    """Return the channel values of a rotation; of all equivalent ones, those nearest to `previous`.

    Euler angles with limits in the order of the mode stay inside them.
    """
    if mode == "QUATERNION":
        return rotation if rotation.dot(Quaternion(previous)) >= 0.0 else -rotation
    if mode == "AXIS_ANGLE":
        return _axis_angle(rotation, previous)
    return _euler(rotation, mode, freedom, previous)


def turn_between(values: Sequence[float], others: Sequence[float], mode: str, steps: int) -> float:
    """Return the angle through which a bone turns as its channels go from some values to others in equal steps [rad].

    It is more than the angle between the two rotations where the channels lead the long way round.
    """
    shares = np.linspace(np.array(values), np.array(others), steps + 1).tolist()
    way = [rotation_from(each, mode) for each in shares]
    return sum(map(rotation_angle, way, way[1:]))


def run_of(
    rotations: Sequence[Quaternion], mode: str, freedoms: Iterable[Freedom], previous: Sequence[float]
) -> np.ndarray[Any, Any]:
    """Return continuous channel values of successive rotations in rotation `mode`: a row for each.

    Of all equivalent values, those are taken that continue the row before, and first `previous`, without a jump: the
    sign of a quaternion, the sign and whole turns of an axis and angle, the Euler triple and its whole turns. Euler
    angles with limits in the order of the mode stay inside them.
    """
    if mode == "QUATERNION":
        return _quaternion_run(rotations, previous)
    rows = []
    for rotation, freedom in zip(rotations, freedoms, strict=True):
        previous = values_for(rotation, mode, freedom, previous)
        rows.append(previous)
    return np.array(rows)


def set_rotation(bone: PoseBone, values: Sequence[float]) -> None:
    """Write channel values of the bone's own mode."""
    setattr(bone, channel(bone)[0], values)


def _quaternion_run(rotations: Sequence[Quaternion], previous: Sequence[float]) -> np.ndarray[Any, Any]:
    rows = _numbers(rotations)
    first = np.dot(rows[0], previous)
    agreement = np.concatenate(((first,), np.einsum("ij,ij->i", rows[1:], rows[:-1])))
    if agreement.min() >= 0.0:
        return rows
    return rows * np.cumprod(np.where(agreement < 0.0, -1.0, 1.0))[:, None]


def _numbers(rotations: Sequence[Quaternion]) -> np.ndarray[Any, Any]:
    """Return an array with a row of four numbers for each rotation."""
    try:
        numbers = np.frombuffer(b"".join(rotations), np.float32)
    except TypeError:  # mathutils has no buffers before Blender 5
        numbers = np.fromiter(chain.from_iterable(rotation[:] for rotation in rotations), np.float32)
    return numbers.reshape(-1, 4)


def _euler(rotation: Quaternion, order: str, freedom: Freedom, previous: Sequence[float]) -> tuple[float, ...]:
    limits = freedom.in_euler(order)
    triple = limits.angles(rotation) if limits else to_euler(rotation, order)
    lower, upper = (limits.lower, limits.upper) if limits else (_NO_LOWER, _NO_UPPER)
    first, other = (
        tuple(map(_whole_turns, angles, previous, lower, upper)) for angles in (triple, other_euler(triple, order))
    )
    if not all(low <= angle <= high for low, angle, high in zip(lower, other, upper, strict=True)):
        return first
    return min(first, other, key=lambda angles: dist(angles, previous))


def _axis_angle(rotation: Quaternion, previous: Sequence[float]) -> tuple[float, ...]:
    w, x, y, z = rotation if rotation.w >= 0.0 else -rotation
    sine = hypot(x, y, z)
    angle = 2.0 * atan2(sine, w)  # mathutils takes the arc cosine, which is off by up to 1e-3 rad near rest
    before = Vector(previous[1:])
    if angle >= 1e-6:
        axis = Vector((x / sine, y / sine, z / sine))
    else:  # no axis: keep the previous one if it exists
        axis = before.normalized() if before.length else Vector((0.0, 1.0, 0.0))
    if axis.dot(before) < 0.0:
        axis, angle = -axis, -angle
    return angle + tau * round((previous[0] - angle) / tau), *axis


def _whole_turns(angle: float, before: float, lower: float, upper: float) -> float:
    """Return `angle` plus the whole turns that bring it nearest to `before`, unless that is outside the limits."""
    shifted = angle + tau * round((before - angle) / tau)
    return shifted if lower <= shifted <= upper else angle

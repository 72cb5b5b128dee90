# SPDX-License-Identifier: GPL-3.0-or-later
"""Rotation of a bone in its rotation mode: reading, writing, and the channels to key."""

from collections.abc import Sequence
from math import atan2, dist, hypot, inf, tau

import numpy as np
from bpy.types import Object, PoseBone
from mathutils import Quaternion, Vector

from ..kinematics import Freedom
from ..kinematics.euler import from_euler, other_euler, to_euler
from ..kinematics.rotation import rotation_angle

# The property and the number of its channels; every Euler order has the default.
_CHANNELS = {"QUATERNION": ("rotation_quaternion", 4), "AXIS_ANGLE": ("rotation_axis_angle", 4)}
_EULER = ("rotation_euler", 3)
_NO_LOWER, _NO_UPPER = (-inf,) * 3, (inf,) * 3
PROPERTIES = ("rotation_quaternion", "rotation_axis_angle", "rotation_euler")

NO_AXIS = 1e-8  # length of an axis that says no direction
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
        return Quaternion(axis.normalized(), angle) if axis.length > NO_AXIS else Quaternion()
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


def set_rotation(bone: PoseBone, values: Sequence[float]) -> None:
    """Write channel values of the bone's own mode."""
    setattr(bone, channel(bone)[0], values)


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


def delta_rotation(ob: Object) -> Quaternion:
    """Return the delta rotation of an object, from the property of its rotation mode."""
    if ob.rotation_mode in {"QUATERNION", "AXIS_ANGLE"}:
        return ob.delta_rotation_quaternion.normalized()
    return ob.delta_rotation_euler.to_quaternion()

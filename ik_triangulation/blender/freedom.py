# SPDX-License-Identifier: GPL-3.0-or-later
"""What a bone may do: read from Blender's own IK settings or from the extension's, with locked channels honoured."""

from math import inf

from bpy.types import PoseBone
from mathutils import Vector

from ..errors import ChainError
from ..kinematics import EulerLimits, Free, Freedom, Hinge, Locked
from ..kinematics.euler import to_euler
from .rotation import channel, limit_order, rotation_of

_AXES = (Vector((1.0, 0.0, 0.0)), Vector((0.0, 1.0, 0.0)), Vector((0.0, 0.0, 1.0)))


def freedom_of(bone: PoseBone) -> Freedom:
    """What the bone may do, in its rest frame; locked rotation channels are frozen where they are now.

    Raises FreedomError for settings that describe no rotation, ChainError for locks that cannot be combined with them.
    """
    settings = getattr(bone, "ik_triangulation_joint", None)
    freedom = (
        _blender_freedom(bone) if settings is None or settings.source == "BLENDER" else _own_freedom(bone, settings)
    )
    locks = locked_axes(bone)
    return _with_locks(bone, freedom, locks) if any(locks) else freedom


def keyed(bone: PoseBone) -> tuple[int, ...]:
    """Array indices of the rotation property that a solve writes.

    None of a bone that cannot turn; of an Euler bone those whose channel is not locked. Raises as freedom_of() does.
    """
    if isinstance(freedom_of(bone), Locked):
        return ()
    _, count = channel(bone)
    return tuple(index for index in range(count) if count == 4 or not bone.lock_rotation[index])


def stiffness_of(bone: PoseBone) -> float:
    """How reluctant the bone is to turn, 0..1."""
    settings = getattr(bone, "ik_triangulation_joint", None)
    if settings is not None and settings.source != "BLENDER":
        return float(settings.stiffness)
    return float(max(bone.ik_stiffness_x, bone.ik_stiffness_y, bone.ik_stiffness_z))


def locked_axes(bone: PoseBone) -> tuple[bool, bool, bool]:
    """Which Euler axes the bone's locked rotation channels freeze.

    A quaternion or axis-angle locked channel by channel has no axes that could be told apart: it is frozen whole.
    """
    by_channel = bone.rotation_mode in {"QUATERNION", "AXIS_ANGLE"} and bone.lock_rotations_4d
    if by_channel and (bone.lock_rotation_w or any(bone.lock_rotation)):
        return True, True, True
    x, y, z = bone.lock_rotation
    return x, y, z


def _blender_freedom(bone: PoseBone) -> Freedom:
    """The locks and limits of the bone's Inverse Kinematics panel."""
    locked = (bone.lock_ik_x, bone.lock_ik_y, bone.lock_ik_z)
    limited = (bone.use_ik_limit_x, bone.use_ik_limit_y, bone.use_ik_limit_z)
    ranges = ((bone.ik_min_x, bone.ik_max_x), (bone.ik_min_y, bone.ik_max_y), (bone.ik_min_z, bone.ik_max_z))
    ranges = tuple(ends if limit else (-inf, inf) for limit, ends in zip(limited, ranges, strict=True))
    free = [axis for axis in range(3) if not locked[axis]]
    if not free:
        return Locked()
    if len(free) == 1:
        return Hinge(_AXES[free[0]], *ranges[free[0]])
    if len(free) == 3 and not any(limited):
        return Free()
    ends = [(0.0, 0.0) if locked[axis] else ranges[axis] for axis in range(3)]
    return EulerLimits(limit_order(bone), tuple(low for low, _ in ends), tuple(high for _, high in ends))


def _own_freedom(bone: PoseBone, settings) -> Freedom:
    """The values of the extension's own joint settings."""
    if settings.kind == "HINGE":
        return (
            Hinge(Vector(settings.axis), settings.lower, settings.upper)
            if settings.use_limits
            else Hinge(settings.axis)
        )
    if settings.kind == "EULER":
        return EulerLimits(limit_order(bone), tuple(settings.minimum), tuple(settings.maximum))
    return Locked() if settings.kind == "LOCKED" else Free()


def _with_locks(bone: PoseBone, freedom: Freedom, locks: tuple[bool, bool, bool]) -> Freedom:
    """The same freedom with Euler axes frozen at the angles they have now."""
    if all(locks) or isinstance(freedom, Locked):
        return Locked()
    order = limit_order(bone)
    in_euler_mode = order == bone.rotation_mode
    now = tuple(bone.rotation_euler) if in_euler_mode else to_euler(rotation_of(bone), order)
    limits = freedom.in_euler(order)
    if limits is None and isinstance(freedom, Hinge):
        raise ChainError(
            f"'{bone.name}' has locked rotation channels and a hinge that lies on none of its axes. "
            "Unlock the channels or choose the X, Y or Z axis."
        )
    lower, upper = (limits.lower, limits.upper) if limits else ((-inf,) * 3, (inf,) * 3)
    frozen = EulerLimits(
        order,
        tuple(angle if lock else low for lock, angle, low in zip(locks, now, lower, strict=True)),
        tuple(angle if lock else high for lock, angle, high in zip(locks, now, upper, strict=True)),
    )
    return frozen if frozen.moves else Locked()

# SPDX-License-Identifier: GPL-3.0-or-later
"""What a bone may do: read from Blender's own IK settings, a Limit Rotation constraint or the extension's settings.

Locked channels are honoured whatever the source.
"""

from math import inf, pi

from bpy.types import PoseBone
from mathutils import Vector

from ..errors import ChainError
from ..kinematics import Cone, EulerLimits, Free, Freedom, Hinge, Locked
from ..kinematics.euler import EULER_ORDERS, to_euler
from .rotation import channel, limit_order, rotation_of

# [rad] from +-90 degrees of its middle axis a Limit Rotation constraint reads other angles than were meant: by 8e-6 at
# this distance, by half a radian at 1e-5.
_POLE = 1e-2

_AXES = (Vector((1.0, 0.0, 0.0)), Vector((0.0, 1.0, 0.0)), Vector((0.0, 0.0, 1.0)))


def freedom_of(bone: PoseBone) -> Freedom:
    """What the bone may do, in its rest frame; locked rotation channels are frozen where they are now.

    Raises FreedomError for settings that describe no rotation, ChainError for locks that cannot be combined with them
    and for a Limit Rotation constraint that is missing or cannot be held.
    """
    settings = getattr(bone, "ik_triangulation_joint", None)
    source = settings.source if settings else "BLENDER"
    if source == "OWN":
        freedom = _own_freedom(bone, settings)
    else:
        freedom = _constrained_freedom(bone) if source == "CONSTRAINT" else _blender_freedom(bone)
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
    if settings is not None and settings.source == "OWN":
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


def _constrained_freedom(bone: PoseBone) -> Freedom:
    """The limits of the bone's Limit Rotation constraint.

    What lies within them it leaves alone if it reads the same angles, and of both triples it reads the one with the
    smaller sum: so the middle angle is kept within 90 degrees, a little off the poles. That is not enough where all
    angles may add up to more than 270 degrees; what the constraint moves there is warned of.
    """
    limits = [c for c in bone.constraints if c.type == "LIMIT_ROTATION" and c.enabled and c.influence > 0.0]
    if len(limits) != 1:
        number = f"{len(limits)} active Limit Rotation constraints" if limits else "no active Limit Rotation constraint"
        raise ChainError(
            f"'{bone.name}' takes its limits from a constraint, but has {number}. Leave one, or choose Own."
        )
    limit = limits[0]
    if limit.owner_space != "LOCAL":
        raise ChainError(f"'{limit.name}' on '{bone.name}' is not in Local Space. Set it so, or choose other limits.")
    if limit.influence < 1.0:
        raise ChainError(
            f"'{limit.name}' on '{bone.name}' has an influence below 1. Set it to 1, or choose other limits."
        )
    order = limit.euler_order
    if order == "AUTO":
        order = bone.rotation_mode if bone.rotation_mode in EULER_ORDERS else "XYZ"
    lower, upper = [], []
    for letter in "XYZ":
        wide = pi / 2.0 - _POLE if letter == order[1] else inf
        limited = getattr(limit, f"use_limit_{letter.lower()}")
        ends = [getattr(limit, f"{end}_{letter.lower()}") for end in ("min", "max")] if limited else [-wide, wide]
        if limit.use_legacy_behavior and limited:  # it knows no angles beyond half a turn
            wide = min(wide, pi)
        lower.append(max(ends[0], -wide))
        upper.append(min(ends[1], wide))
    return EulerLimits(order, tuple(lower), tuple(upper))


def _own_freedom(bone: PoseBone, settings) -> Freedom:
    """The values of the extension's own joint settings."""
    if settings.kind == "HINGE":
        ends = (settings.lower, settings.upper) if settings.use_limits else (-inf, inf)
        return Hinge(Vector(settings.axis), *ends)
    if settings.kind == "EULER":
        order = limit_order(bone) if settings.order == "AUTO" else settings.order
        return EulerLimits(order, tuple(settings.minimum), tuple(settings.maximum))
    if settings.kind == "CONE":
        twists = (settings.twist_lower, settings.twist_upper) if settings.use_limits else (-inf, inf)
        return Cone(settings.swing, *twists)
    return Locked() if settings.kind == "LOCKED" else Free()


def _with_locks(bone: PoseBone, freedom: Freedom, locks: tuple[bool, bool, bool]) -> Freedom:
    """The same freedom with Euler axes frozen at the angles they have now."""
    if all(locks) or isinstance(freedom, Locked):
        return Locked()
    order = limit_order(bone)
    in_euler_mode = order == bone.rotation_mode
    now = tuple(bone.rotation_euler) if in_euler_mode else to_euler(rotation_of(bone), order)
    limits = freedom.in_euler(order)
    if limits is None and not isinstance(freedom, Free):
        raise ChainError(
            f"'{bone.name}' has locked rotation channels, and limits that are not about its own axes one by one. "
            "Unlock the channels, or choose a hinge about X, Y or Z, or Euler limits in the bone's own order."
        )
    lower, upper = (limits.lower, limits.upper) if limits else ((-inf,) * 3, (inf,) * 3)
    frozen = EulerLimits(
        order,
        tuple(angle if lock else low for lock, angle, low in zip(locks, now, lower, strict=True)),
        tuple(angle if lock else high for lock, angle, high in zip(locks, now, upper, strict=True)),
    )
    return frozen if frozen.moves else Locked()

# SPDX-License-Identifier: GPL-3.0-or-later
"""Joint limits of a bone, read from Blender's IK settings, a Limit Rotation constraint or the extension's settings.

Locked rotation channels are respected with each of these sources.
"""

from collections.abc import Iterable, Sequence
from math import inf, isinf, pi, tau

from bpy.types import Constraint, PoseBone
from mathutils import Quaternion, Vector

from ..errors import ChainError
from ..items import EULER_ORDERS
from ..kinematics import Cone, EulerLimits, Framed, Free, Freedom, Hinge, Locked, framed, unframed
from ..kinematics.rotation import clamp_to_range, to_euler, wrap
from .rotation import channel, limit_order, rotation_of

_FIRST_TRIPLE = 1.5 * pi - 1e-5  # [rad] sum of Euler angles below which the other triple's is certainly greater
_SAME = 1e-6  # [rad]
_AXES = (Vector((1.0, 0.0, 0.0)), Vector((0.0, 1.0, 0.0)), Vector((0.0, 0.0, 1.0)))


def freedom_of(bone: PoseBone) -> Freedom:
    """Return the bone's freedom in its rest frame; locked rotation channels keep their present values.

    Raises FreedomError for settings that do not describe a rotation, ChainError for locks that cannot be combined with
    them and for a Limit Rotation constraint that is missing or cannot be obeyed.
    """
    freedom, locks = limits_of(bone), locked_axes(bone)
    return _with_locks(bone, freedom, locks) if any(locks) else freedom


def limits_of(bone: PoseBone) -> Freedom:
    """Return the bone's freedom by the source of its limits, without regard to locked rotation channels.

    Raises FreedomError and ChainError as freedom_of() does.
    """
    settings = getattr(bone, "ik_triangulation_joint", None)
    source = settings.source if settings else "AUTO"
    if source == "OWN":
        return framed(_own_freedom(bone, settings), Quaternion(settings.frame).normalized())
    if source == "AUTO":
        return _automatic(bone)[0]
    return _constrained_freedom(bone) if source == "CONSTRAINT" else _blender_freedom(bone)


def limit_notes(bones: Iterable[PoseBone]) -> list[str]:
    """Return warnings about Limit Rotation constraints that are not obeyed, and about limits that exclude each other.

    The constraints that are ignored are in one warning, by their bones; on bones with custom limits, as of a preset,
    those that Blender ignores or that it applies in part. Those that limit nothing are left out, as are those on bones
    that do not turn or whose limits were chosen to be Blender's.
    """
    reasons, notes = dict[str, list[str]](), list[str]()
    for bone in bones:
        settings = getattr(bone, "ik_triangulation_joint", None)
        if settings is None or settings.source not in {"AUTO", "OWN"} or not can_turn(bone):
            continue
        found, is_own = _constraints(bone), settings.source == "OWN"
        for reason in dict.fromkeys(_ignored(limit) if is_own else why for limit, why in found if _limits_axis(limit)):
            if reason:
                reasons.setdefault(reason, []).append(f"'{bone.name}'")
        notes += [] if is_own else _automatic(bone)[1]
    if reasons:
        listed = ", ".join(f"{', '.join(names)} ({reason})" for reason, names in reasons.items())
        notes.insert(0, f"Limit Rotation constraints are not obeyed on {listed}.")
    return notes


def store(freedom: Freedom, stiffness: float, settings) -> None:
    """Store a freedom and stiffness in the joint `settings`, from which limits_of() reads the same.

    Values of other types of joint stay. An unlimited axis becomes a full turn where there is no other way to store it,
    and the Euler order is always explicit, so that the limits survive a change of the rotation mode.
    """
    settings.source, settings.stiffness = "OWN", stiffness
    settings.frame = freedom.frame if isinstance(freedom, Framed) else Quaternion()
    freedom = unframed(freedom)
    if isinstance(freedom, Hinge):
        settings.kind, settings.axis = "HINGE", freedom.axis
        settings.use_limits = _limited(freedom.lower, freedom.upper)
        if settings.use_limits:
            settings.lower, settings.upper = freedom.lower, freedom.upper
    elif isinstance(freedom, EulerLimits):
        settings.kind, settings.order = "EULER", freedom.order
        ranges = list(zip(freedom.lower, freedom.upper, strict=True))
        ranges = [ends if _limited(*ends) else (-pi, pi) for ends in ranges]
        settings.minimum, settings.maximum = zip(*ranges, strict=True)
    elif isinstance(freedom, Cone):
        settings.kind, settings.swing = "CONE", freedom.swing
        settings.use_limits = _limited(freedom.twist_lower, freedom.twist_upper)
        if settings.use_limits:
            settings.twist_lower, settings.twist_upper = freedom.twist_lower, freedom.twist_upper
    else:
        settings.kind = "LOCKED" if isinstance(freedom, Locked) else "FREE"


def keyed(bone: PoseBone, freedom: Freedom | None = None) -> tuple[int, ...]:
    """Return the array indices of the rotation property that a solve writes.

    A bone that cannot rotate has none; an Euler bone has those that are not locked. The bone's `freedom` is read if it
    is not known, which raises what freedom_of() does.
    """
    if isinstance(freedom or freedom_of(bone), Locked):
        return ()
    _, count = channel(bone)
    return tuple(index for index in range(count) if count == 4 or not bone.lock_rotation[index])


def can_turn(bone: PoseBone) -> bool:
    """Tell whether any rotation channel is unlocked: bones between the controls of a rig often have none."""
    return not all(locked_axes(bone))


def is_unlimited(bone: PoseBone) -> bool:
    """Tell whether a bone's rotation was never limited, stiffened or locked, nor the source of its limits chosen."""
    chosen = bone.ik_triangulation_joint.is_property_set("source")
    return not (chosen or any(locked_axes(bone)) or stiffness_of(bone)) and isinstance(_automatic(bone)[0], Free)


def stiffness_of(bone: PoseBone) -> float:
    """Return the bone's resistance to rotation, from 0 to 1."""
    settings = getattr(bone, "ik_triangulation_joint", None)
    if settings is not None and settings.source == "OWN":
        return float(settings.stiffness)
    return float(max(bone.ik_stiffness_x, bone.ik_stiffness_y, bone.ik_stiffness_z))


def mass_of(bone: PoseBone) -> float:
    """Return the mass of a bone for its length."""
    settings = getattr(bone, "ik_triangulation_joint", None)
    return float(settings.mass) if settings is not None else 1.0


def locked_axes(bone: PoseBone) -> tuple[bool, bool, bool]:
    """Return whether locked rotation channels freeze each Euler axis of the bone.

    The channels of a quaternion or an axis and angle do not belong to single axes: if one is locked, all axes are.
    """
    by_channel = bone.rotation_mode in {"QUATERNION", "AXIS_ANGLE"} and bone.lock_rotations_4d
    if by_channel and (bone.lock_rotation_w or any(bone.lock_rotation)):
        return True, True, True
    x, y, z = bone.lock_rotation
    return x, y, z


def _blender_freedom(bone: PoseBone) -> Freedom:
    """Return the freedom given by the locks and limits of the bone's Inverse Kinematics panel."""
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


def limit_rotation(bone: PoseBone) -> Constraint:
    """Return the Limit Rotation constraint that limits the bone.

    Raises ChainError unless exactly one is active, in Local Space and of full influence.
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
    return limit


def _limited(lower: float, upper: float) -> bool:
    """Tell whether a range limits anything: with one open end, whole turns bring any angle inside."""
    return not (isinf(lower) or isinf(upper))


def _automatic(bone: PoseBone) -> tuple[Freedom, list[str]]:
    """Return what both the IK panel and the Limit Rotation constraints in Local Space allow, and notes.

    Where they allow nothing in common about an axis, the constraint counts, as Blender applies it in any case.
    """
    panel, notes = _blender_freedom(bone), list[str]()
    limits = [limit for limit, reason in _constraints(bone) if not reason]
    if not limits or isinstance(panel, Locked):
        return panel, notes
    ranges = _panel_ranges(panel)
    for limit in limits:
        for axis, letter in enumerate("xyz"):
            ends, before = _constrained_range(limit, letter), ranges[axis]
            if ends is None or before is None:
                ranges[axis] = before if ends is None else ends
                continue
            both = max(ends[0], before[0]), min(ends[1], before[1])
            if both[0] > both[1]:
                notes.append(
                    f"'{limit.name}' on '{bone.name}' and its other limits have no angle about {letter.upper()} in "
                    "common. The constraint counts."
                )
            ranges[axis] = both if both[0] <= both[1] else ends
    return _told_apart(bone, limits[0], ranges), notes


def _constraints(bone: PoseBone) -> list[tuple[Constraint, str]]:
    """Return the Limit Rotation constraints of a bone, each with the reason why it is ignored; empty if it counts."""
    found, order = [], ""
    for limit in (each for each in bone.constraints if each.type == "LIMIT_ROTATION"):
        reason = _ignored(limit)
        if not reason and order and _order_of(limit, bone) != order:
            reason = "another Euler order than the first"
        order = order or ("" if reason else _order_of(limit, bone))
        found.append((limit, reason))
    return found


def _ignored(limit: Constraint) -> str:
    """Return why a Limit Rotation constraint is ignored by itself; empty if it is not."""
    if not limit.enabled:
        return "disabled"
    if limit.owner_space != "LOCAL":
        return "not in Local Space"
    return "influence below 1" if limit.influence < 1.0 else ""


def _limits_axis(limit: Constraint) -> bool:
    """Tell whether a Limit Rotation constraint limits any axis."""
    return any(_constrained_range(limit, letter) for letter in "xyz")


def _order_of(limit: Constraint, bone: PoseBone) -> str:
    """Return the Euler order in which a Limit Rotation constraint limits a bone."""
    if limit.euler_order != "AUTO":
        return str(limit.euler_order)
    return bone.rotation_mode if bone.rotation_mode in EULER_ORDERS else "XYZ"


def _panel_ranges(panel: Freedom) -> list[tuple[float, float] | None]:
    """Return the range about each axis that the IK panel allows; None if unlimited."""
    if isinstance(panel, Hinge):
        ends = (panel.lower, panel.upper)
        return [None if x and not _limited(*ends) else ends if x else (0.0, 0.0) for x in panel.axis]
    if isinstance(panel, EulerLimits):
        return [ends if _limited(*ends) else None for ends in zip(panel.lower, panel.upper, strict=True)]
    return [None, None, None]


def _constrained_freedom(bone: PoseBone) -> Freedom:
    """Return the freedom of rotations that the bone's Limit Rotation constraint does not change."""
    limit = limit_rotation(bone)
    return _told_apart(bone, limit, [_constrained_range(limit, letter) for letter in "xyz"])


def _told_apart(bone: PoseBone, limit: Constraint, ranges: list[tuple[float, float] | None]) -> Freedom:
    """Return Euler limits of these ranges that a constraint reads as they are meant.

    Of the two Euler triples of a rotation, Blender limits the one with the smaller sum of absolute angles, at most 270
    degrees. The allowed angles therefore add up to no more here: axes without limits get equal shares of the angle that
    the others leave, and of ranges that are too wide the widest are cut. Raises ChainError where that leaves nothing.
    """
    open_axes = sum(ends is None for ends in ranges)
    if open_axes == 3:
        return Free()
    farthest = [pi if ends is None else _farthest(*ends) for ends in ranges]
    room = _FIRST_TRIPLE - sum(far for far, ends in zip(farthest, ranges, strict=True) if ends)
    share = min(room / open_axes, pi) if open_axes else 0.0
    if room < 0.0 or (open_axes and share <= 0.0):
        share = _share(farthest)
        ranges = [ends and (max(ends[0], -share), min(ends[1], share)) for ends in ranges]
        if any(ends and ends[0] > ends[1] for ends in ranges):
            raise ChainError(
                f"'{limit.name}' on '{bone.name}' is too wide to be held: Blender tells Euler angles apart only up to "
                "270 degrees in all. Narrow it, or choose other limits."
            )
    lower, upper = zip(*(ends or (-share, share) for ends in ranges), strict=True)
    return EulerLimits(_order_of(limit, bone), lower, upper)


def _share(farthest: Sequence[float]) -> float:
    """Return the angle [rad] to which angles are cut so that they add up to what Blender tells apart."""
    room, left = _FIRST_TRIPLE, len(farthest)
    for far in sorted(farthest):
        if far * left >= room:
            break
        room, left = room - far, left - 1
    return room / left


def _constrained_range(limit: Constraint, axis: str) -> tuple[float, float] | None:
    """Return the range of angles [rad] about an axis that a Limit Rotation constraint allows; None if unlimited."""
    lower, upper = getattr(limit, f"min_{axis}"), getattr(limit, f"max_{axis}")
    if limit.use_legacy_behavior:  # angles beyond half a turn do not exist in it
        lower, upper = max(lower, -pi), min(upper, pi)
    return (lower, upper) if getattr(limit, f"use_limit_{axis}") and upper - lower < tau else None


def _farthest(lower: float, upper: float) -> float:
    """Return the greatest angular distance [rad] from 0 in a range."""
    return pi if abs(wrap(clamp_to_range(pi, lower, upper) - pi)) < _SAME else max(abs(wrap(lower)), abs(wrap(upper)))


def _own_freedom(bone: PoseBone, settings) -> Freedom:
    """Return the freedom given by the extension's own joint settings."""
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
    """Return the freedom with locked Euler axes fixed at their present angles.

    Raises ChainError for limits that are not about the bone's own axes.
    """
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

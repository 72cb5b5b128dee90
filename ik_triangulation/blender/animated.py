# SPDX-License-Identifier: GPL-3.0-or-later
"""Settings that are animated: those that are read at every frame, and those whose keys are ignored."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

from bpy.types import ID, FCurve, PoseBone, bpy_struct

from ..settings import TABLE, IKT_PG_limb
from .nla import keyed_curves

# Settings of a limb that are read at every frame where they are animated.
PER_FRAME = tuple(name for name, row in TABLE[IKT_PG_limb].items() if row.per_frame)

_NAME = re.compile(r"\w*")
# Settings of a bone that say which joint it is. The others only bound it, and are read at every frame.
_ONCE = re.compile(r"(source|kind|stiffness|(lock_ik|ik_stiffness)_[xyz]|lock_rotation\w*|rotation_mode)$")
_BOUNDS = re.compile(r"(use_ik_limit|ik_min|ik_max)_[xyz]$")
_ONCE_CONSTRAINT = re.compile(r"(influence|enabled|mute|owner_space)$")


def moving_curves(owner: ID) -> Iterator[FCurve]:
    """The F-Curves and drivers of a data-block that are not muted."""
    animation = owner.animation_data
    if animation is None:
        return
    yield from (curve for curve in animation.drivers if not curve.mute)
    yield from (curve for curve in keyed_curves(animation) if not curve.mute)


def animated_settings(bone: PoseBone, names: Iterable[str]) -> frozenset[str]:
    """Those of the settings of these names that are animated on a limb's tip bone."""
    paths = (curve.data_path for curve in moving_curves(bone.id_data))
    return frozenset(names).intersection(_below(bone.path_from_id("ik_triangulation") + ".", paths))


def moving_limits(bones: Sequence[PoseBone]) -> frozenset[str]:
    """Names of the bones of an armature whose limits are animated, while they are the same joints at all frames."""
    paths = {curve.data_path for curve in moving_curves(bones[0].id_data)}
    return frozenset(bone.name for bone in bones if _has_moving_limits(bone, paths))


def _has_moving_limits(bone: PoseBone, paths: Iterable[str]) -> bool:
    start = bone.path_from_id() + "."
    found = [path for path, _ in _joint_settings(bone, _below(start, paths))]
    return bool(found) and not any(map(_is_once, found))


def ignored(solved: Sequence[PoseBone]) -> list[str]:
    """Warnings that name the settings whose keys are ignored, of a limb and of its solved bones from root to tip."""
    tip = solved[-1]
    paths = _varying(tip.id_data, tip.path_from_id("ik_triangulation") + ".")
    of_limb = [_label(tip.ik_triangulation, path) for path in paths if _first(path) not in PER_FRAME]
    warnings = [_warning(of_limb, tip)] if of_limb else []
    for bone in solved:
        below = _varying(bone.id_data, bone.path_from_id() + ".")
        names = [_label(holder, path) for path, holder in _joint_settings(bone, below) if _is_once(path)]
        warnings += [_warning(names, bone)] if names else []
    return warnings


def _joint_settings(bone: PoseBone, paths: Iterable[str]) -> Iterator[tuple[str, bpy_struct]]:
    """Those of the paths, from the bone on, that say what it may do: as paths in what has the setting, and that."""
    own = bone.ik_triangulation_joint
    for path in paths:
        holder, _, name = path.rpartition(".")
        if holder == "ik_triangulation_joint":
            yield name, own
        elif not holder and (_ONCE.match(name) or _BOUNDS.match(name)):
            yield name, bone
        elif own.source == "CONSTRAINT" and holder.startswith("constraints["):
            constraint = bone.path_resolve(holder)
            if constraint.type == "LIMIT_ROTATION":
                yield f"constraint.{name}", constraint


def _is_once(path: str) -> bool:
    """Whether a setting of a joint is read only once."""
    constraint, _, name = path.rpartition(".")
    return bool((_ONCE_CONSTRAINT if constraint else _ONCE).match(name))


def _varying(owner: ID, start: str) -> Iterator[str]:
    """The paths below one that have more than one value, from there on."""
    return _below(start, dict.fromkeys(curve.data_path for curve in moving_curves(owner) if _varies(curve)))


def _below(start: str, paths: Iterable[str]) -> Iterator[str]:
    """The paths that begin so, from there on."""
    return (path[len(start) :] for path in paths if path.startswith(start))


def _warning(names: Sequence[str], bone: PoseBone) -> str:
    listed = ", ".join(f"'{name}'" for name in dict.fromkeys(names))
    return f"Keys on {listed} of '{bone.name}' are ignored: the whole range has one value there. Delete these keys."


def _label(holder: bpy_struct, path: str) -> str:
    """The name in the interface of the setting that a path leads to."""
    return str(holder.bl_rna.properties[_first(path.rpartition("constraint.")[2])].name)


def _first(path: str) -> str:
    """The name of the property that a path begins with."""
    return _NAME.match(path)[0]


def _varies(curve: FCurve) -> bool:
    """Whether a curve has more than one value, or may have."""
    generated = curve.driver or len(curve.modifiers) or len(curve.sampled_points)
    return bool(generated) or len({key.co.y for key in curve.keyframe_points}) > 1

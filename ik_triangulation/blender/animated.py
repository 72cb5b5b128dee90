# SPDX-License-Identifier: GPL-3.0-or-later
"""Settings that are animated: those that are read at every frame, and those whose keys are ignored."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from bpy.types import ID, Constraint, FCurve, PoseBone, bpy_struct

from .nla import keyed_curves

# Settings of a limb that are read at every frame where they are animated: all that says what a frame aims at and when
# it is there.
PER_FRAME = (
    "shape",
    "orientation",
    "orient_weight",
    "use_offset",
    "offset_location",
    "offset_rotation",
    "pole_angle",
    "pole_weight",
    "effort_weight",
    "rest_weight",
    "rest_pose",
    "obstacle_margin",
    "obstacle_weight",
    "influence",
    "tolerance",
    "angle_tolerance",
)

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


class _Setting(NamedTuple):
    """An animated setting of a joint: its path from the bone on, its name in the interface, if it is read once."""

    path: str
    label: str
    once: bool


def moving_limits(bones: Sequence[PoseBone]) -> frozenset[str]:
    """Names of the bones of an armature whose limits are animated, while they are the same joints at all frames."""
    paths = {curve.data_path for curve in moving_curves(bones[0].id_data)}
    found = {bone.name: list(_joint_settings(bone, paths)) for bone in bones}
    return frozenset(name for name, settings in found.items() if settings and not any(each.once for each in settings))


def ignored(solved: Sequence[PoseBone]) -> list[str]:
    """Warnings that name the settings whose keys are ignored, of a limb and of its solved bones from root to tip.

    Keys that never change a value are not told of.
    """
    tip = solved[-1]
    curves: dict[str, list[FCurve]] = {}
    for curve in moving_curves(tip.id_data):
        curves.setdefault(curve.data_path, []).append(curve)
    warnings = _ignored(tip, list(_limb_settings(tip, curves)), curves)
    for bone in solved:
        warnings += _ignored(bone, list(_joint_settings(bone, curves)), curves)
    return warnings


def _ignored(bone: PoseBone, settings: Sequence[_Setting], curves: Mapping[str, Sequence[FCurve]]) -> list[str]:
    start = bone.path_from_id() + "."
    once = [each.label for each in settings if each.once and any(map(_varies, curves[start + each.path]))]
    if not once:
        return []
    listed = ", ".join(f"'{label}'" for label in dict.fromkeys(once))
    return [f"Keys on {listed} of '{bone.name}' are ignored: the whole range has one value there. Delete these keys."]


def _limb_settings(tip: PoseBone, paths: Iterable[str]) -> Iterator[_Setting]:
    """The settings of a limb that are among animated paths."""
    of_limb = "ik_triangulation."
    for path in _below(tip.path_from_id() + ".", paths):
        if path.startswith(of_limb):
            name = _NAME.match(path, len(of_limb))[0]
            yield from _setting(path, tip.ik_triangulation, name, name not in PER_FRAME)


def _joint_settings(bone: PoseBone, paths: Iterable[str]) -> Iterator[_Setting]:
    """The settings that say what a bone may do that are among animated paths."""
    own = bone.ik_triangulation_joint
    for path in _below(bone.path_from_id() + ".", paths):
        holder, _, name = path.rpartition(".")
        if holder == "ik_triangulation_joint":
            yield from _setting(path, own, name, bool(_ONCE.match(name)))
        elif not holder and (_ONCE.match(name) or _BOUNDS.match(name)):
            yield from _setting(path, bone, name, bool(_ONCE.match(name)))
        elif own.source == "CONSTRAINT" and holder in (places := _limits_of(bone)):
            yield from _setting(path, places[holder], name, bool(_ONCE_CONSTRAINT.match(name)))


def _limits_of(bone: PoseBone) -> dict[str, Constraint]:
    """The Limit Rotation constraints of a bone by their paths from it on."""
    start = len(bone.path_from_id()) + 1
    return {each.path_from_id()[start:]: each for each in bone.constraints if each.type == "LIMIT_ROTATION"}


def _setting(path: str, holder: bpy_struct, name: str, once: bool) -> Iterator[_Setting]:
    """The setting, unless there is none of that name: keys outlive what they were made for."""
    prop = holder.bl_rna.properties.get(name)
    if prop is not None:
        yield _Setting(path, prop.name, once)


def _below(start: str, paths: Iterable[str]) -> Iterator[str]:
    """The paths that begin so, from there on."""
    return (path[len(start) :] for path in paths if path.startswith(start))


def _varies(curve: FCurve) -> bool:
    """Whether a curve has more than one value, or may have."""
    generated = curve.driver or len(curve.modifiers) or len(curve.sampled_points)
    return bool(generated) or len({key.co.y for key in curve.keyframe_points}) > 1

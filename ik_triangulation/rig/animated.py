# SPDX-License-Identifier: GPL-3.0-or-later
"""Animated settings: those that are read at every frame, and those whose keyframes are ignored."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from bpy.types import ID, Constraint, FCurve, PoseBone, bpy_struct

from ..settings import TABLE, IKT_PG_limb
from .timeline import actions_of, keyed_curves

# Settings of a limb that are read at every frame where they are animated.
PER_FRAME = tuple(name for name, row in TABLE[IKT_PG_limb].items() if row.per_frame)

_OF_A_BONE = re.compile(r'pose\.bones\["(?:[^"\\]|\\.)*"\]\.')
_NAME = re.compile(r"\w*")
# Settings of a bone that define its type of joint. The others only limit it, and are read at every frame.
_ONCE = re.compile(r"(source|kind|stiffness|mass|(lock_ik|ik_stiffness)_[xyz]|lock_rotation\w*|rotation_mode)$")
_BOUNDS = re.compile(r"(use_ik_limit|ik_min|ik_max)_[xyz]$")
_ONCE_CONSTRAINT = re.compile(r"(influence|enabled|mute|owner_space)$")


def moving_curves(owner: ID) -> Iterator[FCurve]:
    """Yield the F-curves and drivers of a data-block that are not muted."""
    animation = owner.animation_data
    if animation is None:
        return
    yield from (curve for curve in animation.drivers if not curve.mute)
    yield from (curve for curve in keyed_curves(animation) if not curve.mute)


class MovingPaths:
    """The F-curves and drivers on the bones of an object that are not muted, read once for all limbs of a bake."""

    def __init__(self, owner: ID) -> None:
        self._counts = _counts(owner)
        self._by_bone: dict[str, dict[str, list[FCurve]]] = {}
        for curve in moving_curves(owner):
            path = curve.data_path
            place = _OF_A_BONE.match(path)
            if place:
                below = self._by_bone.setdefault(place[0], {})
                below.setdefault(path[place.end() :], []).append(curve)

    def suits(self, owner: ID) -> bool:
        """Tell whether the object still has as many curves in the same actions; of changes in these Blender tells."""
        return self._counts == _counts(owner)

    def below(self, bone: PoseBone) -> Mapping[str, Sequence[FCurve]]:
        """Return the curves on properties of a bone, by their paths from the bone on."""
        return self._by_bone.get(f"{bone.path_from_id()}.", {})


def _counts(owner: ID) -> tuple[int, ...]:
    """Return the actions, slots and counts of the curves that animate a data-block, in a form that can be compared."""
    animation = owner.animation_data
    if animation is None:
        return ()
    found = [len(animation.drivers)]
    for action, slot in actions_of(animation):
        if action and slot:
            bags = [strip.channelbag(slot) for layer in action.layers for strip in layer.strips]
            found += [action.session_uid, slot.handle, *(len(bag.fcurves) for bag in bags if bag)]
    return tuple(found)


def animated_settings(bone: PoseBone, names: Iterable[str], moving: MovingPaths | None = None) -> frozenset[str]:
    """Return the names of the settings, of those given, that are animated on a limb's tip bone."""
    if not hasattr(bone, "ik_triangulation"):  # a script that registers nothing
        return frozenset()
    paths = (moving or MovingPaths(bone.id_data)).below(bone)
    return frozenset(names).intersection(_without("ik_triangulation.", paths))


class _Setting(NamedTuple):
    """An animated setting: its path from the bone on, its name in the interface, and whether it is read only once."""

    path: str
    label: str
    once: bool


def moving_limits(bones: Sequence[PoseBone], moving: MovingPaths | None = None) -> frozenset[str]:
    """Return the names of the bones whose limits are animated while their type of joint stays the same."""
    moving = moving or MovingPaths(bones[0].id_data)
    found = {bone.name: list(_joint_settings(bone, moving.below(bone))) for bone in bones}
    return frozenset(name for name, settings in found.items() if settings and not any(each.once for each in settings))


def ignored(solved: Sequence[PoseBone], moving: MovingPaths | None = None) -> list[str]:
    """Return warnings that name the settings whose keyframes are ignored, of a limb and of its solved bones.

    `solved` runs from root to tip. Keyframes that never change a value give no warning.
    """
    tip, moving = solved[-1], moving or MovingPaths(solved[-1].id_data)
    warnings = _ignored(tip, list(_limb_settings(tip, moving.below(tip))), moving)
    for bone in solved:
        warnings += _ignored(bone, list(_joint_settings(bone, moving.below(bone))), moving)
    return warnings


def _ignored(bone: PoseBone, settings: Sequence[_Setting], moving: MovingPaths) -> list[str]:
    curves = moving.below(bone)
    once = [each.label for each in settings if each.once and any(map(_varies, curves[each.path]))]
    if not once:
        return []
    listed = ", ".join(f"'{label}'" for label in dict.fromkeys(once))
    return [f"Keys on {listed} of '{bone.name}' are ignored: the whole range has one value there. Delete these keys."]


def _limb_settings(tip: PoseBone, paths: Iterable[str]) -> Iterator[_Setting]:
    """Yield the settings of a limb that are among animated paths from the bone on."""
    of_limb, stored = "ik_triangulation.", getattr(tip, "ik_triangulation", None)
    for path in paths:
        if stored and path.startswith(of_limb):
            name = _NAME.match(path, len(of_limb))[0]
            yield from _setting(path, stored, name, name not in PER_FRAME)


def _joint_settings(bone: PoseBone, paths: Iterable[str]) -> Iterator[_Setting]:
    """Yield the settings of a joint and its limits that are among animated paths from the bone on."""
    own = getattr(bone, "ik_triangulation_joint", None)  # None in a script that registers nothing
    for path in paths:
        holder, _, name = path.rpartition(".")
        if own and holder == "ik_triangulation_joint":
            yield from _setting(path, own, name, bool(_ONCE.match(name)))
        elif not holder and (_ONCE.match(name) or _BOUNDS.match(name)):
            yield from _setting(path, bone, name, bool(_ONCE.match(name)))
        elif own and own.source in {"AUTO", "CONSTRAINT"} and holder in (places := _limits_of(bone)):
            yield from _setting(path, places[holder], name, bool(_ONCE_CONSTRAINT.match(name)))


def _limits_of(bone: PoseBone) -> dict[str, Constraint]:
    """Return the Limit Rotation constraints of a bone by their paths from the bone on."""
    start = len(bone.path_from_id()) + 1
    return {each.path_from_id()[start:]: each for each in bone.constraints if each.type == "LIMIT_ROTATION"}


def _setting(path: str, holder: bpy_struct, name: str, once: bool) -> Iterator[_Setting]:
    """Yield the setting if it exists: keyframes may outlive the property that they were made for."""
    prop = holder.bl_rna.properties.get(name)
    if prop is not None:
        yield _Setting(path, prop.name, once)


def _without(start: str, paths: Iterable[str]) -> Iterator[str]:
    """Yield the paths that begin with `start`, without it."""
    return (path[len(start) :] for path in paths if path.startswith(start))


def _varies(curve: FCurve) -> bool:
    """Tell whether a curve has more than one value, or may have."""
    generated = curve.driver or len(curve.modifiers) or len(curve.sampled_points)
    return bool(generated) or len({key.co.y for key in curve.keyframe_points}) > 1

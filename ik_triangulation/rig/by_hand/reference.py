# SPDX-License-Identifier: GPL-3.0-or-later
"""The reference: the hand-made pose of a limb or a body at each frame, near which a solve stays.

That of a limb is made of the keyframes that no bake has made and those that bakes have replaced; without any, of the
pose before the extension wrote to the limb; and of rest where that is not known. What was solved or baked never counts,
so that solving again with nothing changed starts from the same.

That of a body is its animation without the bakes and poses of the extension. What constraints, drivers, strips and
modifiers make of an animation is known only where Blender evaluates it; so meanwhile hand-made keys replace generated
ones, and earlier poses the present ones.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from typing import NamedTuple, Protocol

import numpy as np
from bpy.types import ActionChannelbag, FCurve, NlaStrip, Object, PoseBone, Scene, ViewLayer

from ...kinematics.arrays import Array, Numbers
from ..body import RigBody
from ..frames.curve_values import rotation_quaternions, values_at, values_of_keys
from ..keyframes import AnimatedValues, generated
from ..keyframes.arrays import KeyArrays, get_keys, put_keys
from ..keyframes.channelbags import channelbag_of, find_curves, is_muted
from ..keyframes.reading import replaced_in
from ..rotation import channel, rotation_of, set_rotation
from ..timeline import Clock, evaluated_time, strip_times
from .keys import (
    HandKeys,
    HandMade,
    given_by_strips,
    hips_locations,
    is_moved_by_hand,
    keys_by_hand,
    layered_bags,
    location_path,
    made_by_hand_of,
    place_before_bake,
    remember_before,
)

_SAME = 1e-6  # difference of channel values that rounding explains


class Boned(Protocol):
    """A limb or a whole body: bones of an armature."""

    @property
    def armature(self) -> Object: ...

    @property
    def bones(self) -> Sequence[str]: ...


def reference_rotations(
    limb: Boned, frames: Sequence[float], scene: Scene, without: tuple[float, float] | None = None
) -> Numbers:
    """Return the reference of every bone of a limb or body at these frames: unit quaternions (bones, 4, F).

    The bones are those of `limb.bones`, from root to tip, in their own rest axes; (bones, 4, 1) if nothing moves. Keys
    that correct a bake between the two times in `without` are left out.
    """
    bones = _bones(limb)
    made = made_by_hand_of(bones, scene, without)
    moving = any(each.layers for each in made)
    values = [np.array(each.values, np.float64)[:, None] for each in made]
    if moving:
        values = [np.repeat(each, len(frames), axis=1) for each in values]
        for strip, layer in _layers(made):
            _paint(values, strip, layer, limb.armature, frames, scene)
    result: Numbers = np.empty((len(bones), 4, len(frames) if moving else 1))
    for row, bone in enumerate(bones):
        result[row] = rotation_quaternions(values[row], bone.rotation_mode)
    return result


class _Some(NamedTuple):
    """Some bones of an armature."""

    armature: Object
    bones: Sequence[str]


def body_by_hand(
    rig: RigBody,
    frames: Sequence[float],
    scene: Scene,
    without: tuple[float, float] | None = None,
    bones: Sequence[str] | None = None,
) -> tuple[Numbers, Numbers]:
    """Return rotations (n, 4, F) of bones, by default all, and locations (3, F) of the hips as they were made by hand.

    A body is one pose: where its hips were moved by hand without keys, all is by hand as it is shown. Keys that correct
    a bake between the two times (in the action) in `without` are left out.
    """
    some = _Some(rig.armature, rig.bones if bones is None else bones)
    locations = hips_locations(rig.armature, rig.hips, frames, scene, without)
    if is_moved_by_hand(rig.armature, rig.hips):
        rotations = np.array([rotation_of(bone)[:] for bone in _bones(some)], float)[:, :, None]
    else:
        rotations = reference_rotations(some, frames, scene, without)
    return np.broadcast_to(rotations, (*rotations.shape[:2], len(frames))), locations


def hold_reference(
    bones: Sequence[PoseBone], scene: Scene, undo: ExitStack | None = None
) -> dict[str, tuple[float, ...]]:
    """Remember the pose made by hand of the bones of a limb or body, which are about to be posed.

    Returns their channel values in that pose, by name. Closing `undo` restores what was remembered before.
    """
    held = {}
    for bone, made in zip(bones, made_by_hand_of(bones, scene), strict=True):
        remember_before(bone, made.values, undo)
        held[bone.name] = made.values
    return held


def _bones(limb: Boned) -> list[PoseBone]:
    return [limb.armature.pose.bones[name] for name in limb.bones]


def _layers(made: Sequence[HandMade]) -> list[tuple[NlaStrip | None, dict[int, HandKeys]]]:
    """Return the layers of all bones, the topmost last: the keyframes in each, by the bone's number."""
    found: dict[int, tuple[NlaStrip | None, dict[int, HandKeys]]] = {}
    for row, each in enumerate(made):
        for layer in each.layers:
            found.setdefault(layer.order, (layer.strip, {}))[1][row] = layer
    return [found[order] for order in sorted(found)]


def _paint(
    values: Sequence[Array],
    strip: NlaStrip | None,
    layer: Mapping[int, HandKeys],
    armature: Object,
    frames: Sequence[float],
    scene: Scene,
) -> None:
    """Write the values of a layer's keyframes over those of the bones (channels, frames) where the layer is played."""
    if strip is None:
        clock = Clock(scene, armature)
        times, played = np.array([clock.time(frame) for frame in frames]), slice(None)
    else:
        times, played = strip_times(strip, np.array(frames, np.float64) * evaluated_time(scene, 1.0))
    times = times.astype(np.float32).astype(np.float64)  # as Blender evaluates them
    whole = [(row, index) for row, keys in layer.items() for index in keys.curves]
    parts = [(row, index) for row, keys in layer.items() for index in keys.keys]
    curves = values_at([layer[row].curves[index] for row, index in whole], times)
    keys = values_of_keys([layer[row].keys[index] for row, index in parts], times)
    for (row, index), line in zip((*whole, *parts), (*curves, *keys), strict=True):
        values[row][index, played] = line[played]


class _Values(NamedTuple):
    """The values that a property of a bone has where no keys by hand animate it."""

    bone: PoseBone
    prop: str
    path: str
    values: tuple[float, ...]

    @property
    def differ(self) -> bool:
        """Whether these are not the present ones."""
        present = getattr(self.bone, self.prop)
        return any(abs(a - b) > _SAME for a, b in zip(present, self.values, strict=True))

    def put(self) -> None:
        if self.prop == "location":
            self.bone.location = self.values
        else:
            set_rotation(self.bone, self.values)


@contextmanager
def shown_by_hand(
    rig: RigBody, scene: Scene, view_layer: ViewLayer, without: tuple[float, float] | None = None
) -> Iterator[None]:
    """Give the bones of a body, while they are evaluated, the animation made by hand; afterwards all is as it was.

    Keys that correct a bake between the two times (in the action) in `without` are left out.
    """
    armature = rig.armature
    values, baked = _values_by_hand(rig, scene, without), _baked(rig)
    with ExitStack() as undo:
        if baked or any(each.differ for each in values):
            saved = AnimatedValues(armature, [each.path for each in values])
            undo.callback(saved.update_and_restore, view_layer)
            for each in values:
                each.put()
            before = {each.path: each.values for each in values}
            for curve, keys, is_below in _without_bakes(armature, [*before], without):
                undo.callback(put_keys, curve, get_keys(curve))
                if not len(keys["co"]) and is_below:
                    undo.callback(setattr, curve, "mute", False)
                    curve.mute = True
                    continue
                if not len(keys["co"]):
                    keys = {name: column[:1].copy() for name, column in get_keys(curve).items()}
                    keys["co"][0, 1] = before[curve.data_path][curve.array_index]
                put_keys(curve, keys)
        yield


def is_as_by_hand(rig: RigBody, scene: Scene) -> bool:
    """Tell whether what is shown of a body is the animation made by hand, as nothing was baked or posed."""
    return not _baked(rig) and not any(each.differ for each in _values_by_hand(rig, scene, None))


def _values_by_hand(rig: RigBody, scene: Scene, without: tuple[float, float] | None) -> list[_Values]:
    """Return the rotations of all bones of a body, and the location of its hips, below the keys."""
    armature, bones = rig.armature, rig.pose_bones
    if is_moved_by_hand(armature, rig.hips):  # then all is by hand as it is shown
        made = [tuple(getattr(bone, channel(bone)[0])) for bone in bones]
    else:
        made = [each.values for each in made_by_hand_of(bones, scene, without)]
    found = []
    for bone, each in zip(bones, made, strict=True):
        prop, _ = channel(bone)
        found.append(_Values(bone, prop, bone.path_from_id(prop), each))
    hips, path = armature.pose.bones[rig.hips], location_path(armature, rig.hips)
    found.append(_Values(hips, "location", path, place_before_bake(armature, rig.hips, channelbag_of(armature))))
    return _unkeyed(armature, found)


def _unkeyed(armature: Object, found: list[_Values]) -> list[_Values]:
    """Return the values with the present ones where keys animate a channel: these are shown whatever they are."""
    bags, result = [bag for _, bag in layered_bags(armature)], []
    for each in found:
        keyed = {index for bag in bags for index in find_curves(bag, each.path, len(each.values))}
        present = getattr(each.bone, each.prop)
        kept = tuple(
            float(present[index]) if index in keyed and not _is_generated(bags, each.path, index) else value
            for index, value in enumerate(each.values)
        )
        result.append(each._replace(values=kept))
    return result


def _is_generated(bags: list[ActionChannelbag], path: str, index: int) -> bool:
    return any(generated(curve).any() for bag in bags if (curve := find_curves(bag, path).get(index)) is not None)


def _baked(rig: RigBody) -> bool:
    """Tell whether the bones of a body have baked keys, or its hips."""
    return has_baked_below(rig) or _have_generated(rig.armature, [location_path(rig.armature, rig.hips)])


def has_baked_below(of: Boned) -> bool:
    """Tell whether bakes have left keys of these bones in the active action, or in strips that replace others."""
    return _have_generated(of.armature, [bone.path_from_id(channel(bone)[0]) for bone in _bones(of)])


def _have_generated(armature: Object, paths: Sequence[str]) -> bool:
    bags = [bag for _, bag in layered_bags(armature)]
    return any(generated(curve).any() for bag in bags for path in paths for curve in find_curves(bag, path).values())


def _without_bakes(
    armature: Object, paths: list[str], without: tuple[float, float] | None
) -> Iterator[tuple[FCurve, KeyArrays, bool]]:
    """Yield each F-curve with baked keys, its keys by hand, and whether layers below it have such, or strips."""
    below = given_by_strips(armature)
    for strip, bag in layered_bags(armature):
        for path in paths:
            known = replaced_in(bag, path)
            for index, curve in find_curves(bag, path).items():
                mask = generated(curve)
                if is_muted(curve):
                    continue
                if mask.any():
                    keys = keys_by_hand(curve, ~mask, known, index, without if strip is None else None)
                    yield curve, keys, (path, index) in below
                    if not len(keys["co"]):
                        continue
                below.add((path, index))

# SPDX-License-Identifier: GPL-3.0-or-later
"""The hand-made part of bones' animation: keys that no bake made, and poses without a key.

Memory of the pose that a bone had before the extension wrote to it, which tells what is posed by hand. It is saved with
the bone and undone with its pose. Where nothing is registered, bones have no memory. Of hips the location counts as
well.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from typing import Any, NamedTuple

import bpy
import numpy as np
from bpy.types import ActionChannelbag, FCurve, NlaStrip, Object, PoseBone, Scene

from ...kinematics import Free
from ...kinematics.arrays import Mask, Numbers
from ...kinematics.rotation import rotation_angle
from ..frames.curve_values import values_at, values_of_keys
from ..keyframes import Channel, check_curves, check_not_hidden, generated
from ..keyframes.arrays import KeyArrays, get_keys, in_range
from ..keyframes.channelbags import channelbag_of, find_curves, is_muted
from ..keyframes.reading import Replaced, replaced_in, together
from ..rotation import channel, rotation_from, set_rotation, values_for
from ..timeline import Clock, curves_in, layered_strips, strips_of

_SAME_VALUE = 1e-5  # difference of channel values that rounding explains
_MEMORY = "ik_triangulation_posed"
_FREE = Free()

_SAME = 1e-3  # angle that rounding explains [rad]
_NO_KEYS: KeyArrays = {"co": np.empty((0, 2))}
_REST = {"QUATERNION": (1.0, 0.0, 0.0, 0.0), "AXIS_ANGLE": (0.0, 0.0, 1.0, 0.0)}


def values_before_writing(bone: PoseBone) -> tuple[float, ...]:
    """Return the channel values that a bone had before the extension wrote to it; the present ones if it never did."""
    present, memory = _present(bone), _memory(bone)
    return values_in_mode(memory.before, memory.mode, bone.rotation_mode, present) if memory else present


def is_as_written(bone: PoseBone, which: Collection[int]) -> bool:
    """Tell whether the present values of the channels `which` are those that the extension wrote last."""
    memory = _memory(bone)
    if memory is None:
        return False
    present = _present(bone)
    written = values_in_mode(memory.written, memory.mode, bone.rotation_mode, present)
    return all(abs(written[index] - present[index]) <= _SAME_VALUE for index in which)


def is_posed_since(bone: PoseBone, which: Collection[int]) -> bool:
    """Tell whether the channels `which` were changed by hand since the extension wrote them."""
    return _memory(bone) is not None and not is_as_written(bone, which)


def remember_before(bone: PoseBone, values: Sequence[float], undo: ExitStack | None = None) -> None:
    """Remember channel values as those before the extension writes; closing `undo` restores what was remembered."""
    memory = getattr(bone, _MEMORY, None)
    if memory is None:
        return
    if undo is not None:
        undo.callback(_put, memory, memory.mode, tuple(memory.before), tuple(memory.written))
    _put(memory, bone.rotation_mode, _padded_to_four(values), tuple(memory.written))


def remember_written(bones: Iterable[PoseBone]) -> None:
    """Remember the present values of the bones, whose pose before is known, as written by the extension."""
    for bone in bones:
        memory = getattr(bone, _MEMORY, None)
        if memory is not None:
            memory.written = _padded_to_four(_present(bone))


def location_before_writing(bone: PoseBone) -> tuple[float, ...]:
    """Return the location that a bone had before the extension wrote to it; the present one if it was changed since.

    A body is one pose: where a bone of the armature was turned by hand since, the location is by hand as well.
    """
    memory = getattr(bone, _MEMORY, None)
    if memory is None or not memory.is_moved or is_moved_since(bone):
        return tuple(bone.location)
    posed = [other for other in bone.id_data.pose.bones if is_posed_since(other, range(len(_present(other))))]
    animated = _animated(bone.id_data) if posed else set()
    by_hand = any(is_posed_since(other, _not_among(other, range(len(_present(other))), animated)) for other in posed)
    return tuple(bone.location) if by_hand else tuple(memory.place_before)


def is_moved_since(bone: PoseBone) -> bool:
    """Tell whether the location of a bone was changed by hand since the extension wrote it.

    Values from drivers do not count.
    """
    memory = getattr(bone, _MEMORY, None)
    if memory is None or not memory.is_moved:
        return False
    written, path = memory.place_written, bone.path_from_id("location")
    changed = [axis for axis in range(3) if abs(bone.location[axis] - written[axis]) > _SAME_VALUE]
    return bool(changed) and not {(path, axis) for axis in changed} <= _driven(bone.id_data)


def remember_place(bones: Iterable[PoseBone]) -> None:
    """Remember the present location of those bones whose location the extension wrote before as written."""
    for bone in bones:
        memory = getattr(bone, _MEMORY, None)
        if memory is not None and memory.is_moved:
            memory.place_written = tuple(bone.location)


def remember_location(bone: PoseBone, before: Sequence[float], undo: ExitStack) -> None:
    """Remember the present location of a bone as written, and that `before`; closing `undo` restores what was known."""
    memory = getattr(bone, _MEMORY, None)
    if memory is not None:
        _keep_place(memory, undo)
        _put_place(memory, True, before, tuple(bone.location))


def keep_place(bone: PoseBone, undo: ExitStack) -> None:
    """Have the closing of `undo` restore what is remembered of the location of a bone."""
    memory = getattr(bone, _MEMORY, None)
    if memory is not None:
        _keep_place(memory, undo)


def keep_location(bone: PoseBone, undo: ExitStack) -> None:
    """Have the closing of `undo` restore the location of a bone and the memory of it."""
    undo.callback(setattr, bone, "location", tuple(bone.location))
    keep_place(bone, undo)


def keep_pose(bones: Iterable[PoseBone], undo: ExitStack) -> None:
    """Have the closing of `undo` pose the bones as they are now, with what is remembered of them."""
    for bone in bones:
        undo.callback(set_rotation, bone, _present(bone))
        memory = getattr(bone, _MEMORY, None)
        if memory is not None:
            undo.callback(_put, memory, memory.mode, tuple(memory.before), tuple(memory.written))


def values_in_mode(values: Sequence[float], mode: str, other: str, near: Sequence[float]) -> tuple[float, ...]:
    """Return channel values of rotation `mode` in the `other` one; of all equivalent ones, those nearest to `near`."""
    values = tuple(values)[: len(near) if mode == other else 4 if mode in {"QUATERNION", "AXIS_ANGLE"} else 3]
    return values if mode == other else tuple(values_for(rotation_from(values, mode), other, _FREE, near))


def given_by_strips(armature: Object) -> set[tuple[str, int]]:
    """Return data paths and array indices of the channels that strips animate in any blending, but no bake does.

    The baked keys of layers, which are blended with what is below, are among them.
    """
    animation = armature.animation_data
    strips = strips_of(animation, muted=False) if animation and animation.use_nla else ()
    found = set()
    for strip in strips:
        for curve in curves_in(strip.action, strip.action_slot):
            if not is_muted(curve) and (strip.blend_type != "REPLACE" or not generated(curve).any()):
                found.add(_place_of(curve))
    return found


def _driven(armature: Object) -> set[tuple[str, int]]:
    """Return the data paths and array indices of what drivers give its values."""
    animation = armature.animation_data
    return {_place_of(each) for each in animation.drivers} if animation else set()


def _animated(armature: Object) -> set[tuple[str, int]]:
    """Return the data paths and array indices of what drivers, strips or the active action give their values."""
    curves = (curve for _, bag in layered_bags(armature) for curve in bag.fcurves if not is_muted(curve))
    return {_place_of(curve) for curve in curves} | given_by_strips(armature) | _driven(armature)


def _place_of(curve: FCurve) -> tuple[str, int]:
    return curve.data_path, curve.array_index


def _not_among(bone: PoseBone, which: Iterable[int], without: Collection[tuple[str, int]]) -> list[int]:
    """Return those of the rotation channels `which` of a bone that are not among these paths and array indices."""
    path = bone.path_from_id(channel(bone)[0])
    return [index for index in which if (path, index) not in without]


def _memory(bone: PoseBone) -> Any:
    """Return the memory of a bone that the extension wrote to, else None."""
    memory = getattr(bone, _MEMORY, None)
    return memory if memory is not None and memory.mode else None


def _present(bone: PoseBone) -> tuple[float, ...]:
    return tuple(getattr(bone, channel(bone)[0]))


def _put(memory: Any, mode: str, before: Sequence[float], written: Sequence[float]) -> None:
    memory.mode, memory.before, memory.written = mode, before, written


def _keep_place(memory: Any, undo: ExitStack) -> None:
    undo.callback(_put_place, memory, memory.is_moved, tuple(memory.place_before), tuple(memory.place_written))


def _put_place(memory: Any, is_moved: bool, before: Sequence[float], written: Sequence[float]) -> None:
    memory.is_moved, memory.place_before, memory.place_written = is_moved, before, written


def _padded_to_four(values: Sequence[float]) -> tuple[float, ...]:
    """Return values with as many zeros as make four."""
    return (*values, 0.0)[:4]


class HandKeys(NamedTuple):
    """F-curves of a rotation property that are by hand as a whole, or in these keyframes, by array index.

    They are those of an NLA strip, or of the active action; `order` is greater for what is above.
    """

    order: int
    strip: NlaStrip | None
    curves: Mapping[int, FCurve]
    keys: Mapping[int, tuple[FCurve, KeyArrays]]


class HandMade(NamedTuple):
    """The part of a bone's rotation made by hand: keyframes in layers, the topmost last, and the values below them."""

    values: tuple[float, ...]
    layers: Sequence[HandKeys]


class _Baked(NamedTuple):
    """F-curves with generated keyframes, whether they are of the active action, and what these have replaced."""

    curves: Mapping[int, FCurve]
    is_active: bool
    replaced: Replaced | None


def made_by_hand_of(
    bones: Sequence[PoseBone], scene: Scene, without: tuple[float, float] | None = None
) -> list[HandMade]:
    """Return what was made by hand of each of the bones, which are those of one limb.

    A limb is one pose: if one of its bones has been posed since the extension wrote to it, all count as by hand. Keys
    between two times in the active action are left out where generated ones are beside them: they correct a bake.
    """
    bags = [*layered_bags(bones[0].id_data)] if bones else []
    read = [_read(bone, bags, without) for bone in bones]
    given = _driven(bones[0].id_data) | given_by_strips(bones[0].id_data) if bones else set()
    posed = any(_is_posed(bone, *each, given, scene) for bone, each in zip(bones, read, strict=True))
    made = []
    for bone, (layers, baked) in zip(bones, read, strict=True):
        values, unkeyed = tuple(getattr(bone, channel(bone)[0])), _unkeyed(bone, layers)
        if baked and not (posed and unkeyed):
            values = _before_bake(bone, baked, values)
        elif unkeyed and not posed:
            values = values_before_writing(bone)
        made.append(HandMade(values, layers))
    return made


def layered_bags(armature: Object) -> Iterator[tuple[NlaStrip | None, ActionChannelbag]]:
    """Yield the channelbags that animate an armature, the topmost last."""
    for strip in layered_strips(armature):
        found = [each.channelbag(strip.action_slot) for layer in strip.action.layers for each in layer.strips]
        yield from ((strip, bag) for bag in found if bag)
    active = channelbag_of(armature)
    if active:
        yield None, active


def _read(
    bone: PoseBone,
    bags: Sequence[tuple[NlaStrip | None, ActionChannelbag]],
    without: tuple[float, float] | None,
) -> tuple[list[HandKeys], _Baked | None]:
    """Return the keyframes by hand of a bone's rotation, and the topmost bake of it."""
    prop, count = channel(bone)
    path = bone.path_from_id(prop)
    layers, baked = [], None
    for order, (strip, bag) in enumerate(bags):
        curves = {index: curve for index, curve in find_curves(bag, path, count).items() if not is_muted(curve)}
        left_out = without if strip is None else None
        others = {index: ~mask for index, curve in curves.items() if (mask := generated(curve)).any()}
        whole = {index: curve for index, curve in curves.items() if index not in others}
        known = replaced_in(bag, path) if others else None
        keys = {index: keys_by_hand(curves[index], own, known, index, left_out) for index, own in others.items()}
        keys = {index: (curves[index], each) for index, each in keys.items() if len(each["co"])}
        if whole or keys:
            layers.append(HandKeys(order, strip, whole, keys))
        if others:
            baked = _Baked(curves, strip is None, known)
    return layers, baked


def keys_by_hand(
    curve: FCurve, own: Mask, known: Replaced | None, index: int, without: tuple[float, float] | None = None
) -> KeyArrays:
    """Return the keyframes of a curve in the mask `own`, merged with those that bakes have replaced.

    Those of a motion that was copied from another character count instead of the replaced ones.

    Own ones between the two times in `without` are left out.
    """
    others = known.reference(index) if known else None
    if own.any():
        keys = get_keys(curve)
        own = own if without is None else own & ~in_range(keys, *without)
        return together({name: column[own] for name, column in keys.items()}, others)
    return _NO_KEYS if others is None else others


def _unkeyed(bone: PoseBone, layers: Sequence[HandKeys]) -> Collection[int]:
    """Return the channels without keyframes by hand."""
    keyed = {index for layer in layers for index in (*layer.curves, *layer.keys)}
    return [index for index in range(channel(bone)[1]) if index not in keyed]


def _is_posed(
    bone: PoseBone,
    layers: Sequence[HandKeys],
    baked: _Baked | None,
    given: Collection[tuple[str, int]],
    scene: Scene,
) -> bool:
    """Tell whether a bone without hand-made animation was posed by hand since it was written to.

    Channels that drivers or strips change are `given` by paths and indices.
    """
    unkeyed = _not_among(bone, _unkeyed(bone, layers), given)
    if not unkeyed or baked is None:
        return bool(unkeyed) and is_posed_since(bone, unkeyed)
    if not baked.is_active or scene != bpy.context.scene or is_as_written(bone, unkeyed):
        return False  # what is shown is known only of the scene in the window
    return not _is_shown(bone, baked.curves, scene)


def _is_shown(bone: PoseBone, curves: Mapping[int, FCurve], scene: Scene) -> bool:
    """Tell whether a bone is posed as its curves show it at the present frame."""
    present = tuple(getattr(bone, channel(bone)[0]))
    time = Clock(scene, bone.id_data).time(scene.frame_current + scene.frame_subframe)
    shown = [curves[index].evaluate(time) if index in curves else value for index, value in enumerate(present)]
    now, then = (rotation_from(each, bone.rotation_mode) for each in (present, shown))
    return rotation_angle(now, then) <= _SAME


def _before_bake(bone: PoseBone, baked: _Baked, present: Sequence[float]) -> tuple[float, ...]:
    """Return the values that a bone had before it was baked; those of rest if they are not known."""
    known, mode = baked.replaced, bone.rotation_mode
    return values_in_mode(known.before, known.mode, mode, present) if known else _REST.get(mode, (0.0, 0.0, 0.0))


def location_path(armature: Object, hips: str) -> str:
    """Return the data path of the location of a bone."""
    return str(armature.pose.bones[hips].path_from_id("location"))


def hips_locations(
    armature: Object,
    hips: str,
    frames: Sequence[float],
    scene: Scene,
    without: tuple[float, float] | None = None,
) -> Numbers:
    """Return the location channels of the hips (3, F) that were made by hand, at frames of the timeline.

    Keys that correct a bake between the two times in `without` are left out.
    """
    path, bag, clock = location_path(armature, hips), channelbag_of(armature), Clock(scene, armature)
    curves = find_curves(bag, path, 3) if bag else {}
    times = np.array([clock.time(frame) for frame in frames]).astype(np.float32).astype(np.float64)
    known = replaced_in(bag, path)
    located: Numbers = np.empty((3, len(times)))
    for index, value in enumerate(place_before_bake(armature, hips, bag)):
        located[index] = value
        if index in curves and not curves[index].mute:
            keys = _by_hand(curves[index], known, index, without)
            if keys is None:
                located[index] = values_at([curves[index]], times)[0]
            elif len(keys["co"]):
                located[index] = values_of_keys([(curves[index], keys)], times)[0]
    return located


def is_moved_by_hand(armature: Object, hips: str) -> bool:
    """Tell whether hips without keys were moved by hand since the extension wrote their location."""
    path = location_path(armature, hips)
    keyed = any(find_curves(bag, path, 3) for _, bag in layered_bags(armature))
    return not keyed and is_moved_since(armature.pose.bones[hips])


def check_hips(armature: Object, hips: str, destination: str = "ACTION", is_moved: bool = True) -> None:
    """Raise AnimationError if the location of the hips cannot be keyed there, or would not be played back.

    Only hips that a bake moves are keyed.
    """
    if destination == "NLA_TRACK" and is_moved:
        check_not_hidden(armature, {hips: [location_path(armature, hips)]})
    bag = channelbag_of(armature) if destination == "ACTION" else None
    if bag:
        check_curves(list(find_curves(bag, location_path(armature, hips), 3).values()), f"location of '{hips}'")


def location_channel(armature: Object, hips: str, locations: Numbers) -> Channel:
    """Return the channel that keys locations (3, F) of the hips along the axes that are not locked."""
    locks = armature.pose.bones[hips].lock_location
    indices = [index for index in range(3) if not locks[index]]
    return Channel(hips, location_path(armature, hips), np.ascontiguousarray(locations.T, np.float32), indices)


def located_by_hand(armature: Object, hips: str, first: float, last: float) -> list[float]:
    """Return the times from `first` to `last` (in the action) of location keys beside generated ones, made by hand."""
    times: list[float] = []
    for curve in find_curves(channelbag_of(armature), location_path(armature, hips), 3).values():
        keys, mask = get_keys(curve, ["co"]), generated(curve)
        if mask.any():
            times += keys["co"][~mask & in_range(keys, first, last), 0].tolist()
    return sorted(set(times))


def place_before_bake(armature: Object, hips: str, bag: ActionChannelbag | None) -> tuple[float, ...]:
    """Return the location of the hips before a bake; the present one if they were not baked."""
    path = location_path(armature, hips)
    curves = find_curves(bag, path, 3) if bag else {}
    baked = any(generated(curve).any() for curve in curves.values())
    if not baked:
        return location_before_writing(armature.pose.bones[hips])
    known = replaced_in(bag, path)
    return known.before if known else (0.0, 0.0, 0.0)


def _by_hand(
    curve: FCurve, known: Replaced | None, index: int, without: tuple[float, float] | None
) -> KeyArrays | None:
    """Return the keys of a curve that were made by hand; None if all of it was."""
    mask = generated(curve)
    return keys_by_hand(curve, ~mask, known, index, without) if mask.any() else None

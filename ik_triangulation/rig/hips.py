# SPDX-License-Identifier: GPL-3.0-or-later
"""The place of hips: their location keys made by hand, and what a bake replaces of them."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from bpy.types import ActionChannelbag, FCurve, Object, Scene

from ..kinematics.arrays import Numbers
from .by_hand.keys import is_moved_since, keys_by_hand, layered_bags, location_before_writing
from .frames.curve_values import values_at, values_of_keys
from .keyframes import Channel, check_curves, check_not_hidden, generated
from .keyframes.arrays import KeyArrays, get_keys, in_range
from .keyframes.channelbags import channelbag_of, find_curves
from .keyframes.reading import Replaced, replaced_in
from .timeline import Clock


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
    """Tell whether somebody has moved hips without keys since the extension wrote their location."""
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
    """Return the channel that keys locations (3, F) of the hips, those that are not locked."""
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

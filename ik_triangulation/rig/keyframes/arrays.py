# SPDX-License-Identifier: GPL-3.0-or-later
"""Keyframes as arrays: an array for each attribute of a keyframe, with an entry for each keyframe of an F-curve.

Reading and writing arrays is hundreds of times faster than keyframe by keyframe.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from functools import cache
from typing import Any

import numpy as np
from bpy.types import FCurve, Keyframe

KeyArrays = dict[str, "np.ndarray[Any, Any]"]

# All attributes of a keyframe, in the order in which writing them back is exact: coordinates after the handle types.
_ATTRIBUTES = {
    "interpolation": (1, np.uint8),
    "easing": (1, np.uint8),
    "type": (1, np.uint8),
    "amplitude": (1, np.float32),
    "period": (1, np.float32),
    "back": (1, np.float32),
    "handle_left_type": (1, np.uint8),
    "handle_right_type": (1, np.uint8),
    "select_control_point": (1, np.bool_),
    "select_left_handle": (1, np.bool_),
    "select_right_handle": (1, np.bool_),
    "co": (2, np.float32),
    "handle_left": (2, np.float32),
    "handle_right": (2, np.float32),
}
# Attributes that a keyframe has right when it is added to a curve: it is selected and eased automatically.
SET_WHEN_ADDED = {"easing", "select_control_point", "select_left_handle", "select_right_handle"}
# Attributes that differ from channel to channel.
PER_CHANNEL = {"co", "handle_left", "handle_right", "handle_left_type", "handle_right_type"}
SAME_FRAME = 1e-3  # frames; Blender takes keyframes closer than that for one


def get_keys(curve: FCurve) -> KeyArrays:
    """Return all keyframes of an F-curve."""
    keys: KeyArrays = {}
    for name, (width, dtype) in _ATTRIBUTES.items():
        flat: np.ndarray[Any, Any] = np.empty(len(curve.keyframe_points) * width, dtype)
        curve.keyframe_points.foreach_get(name, flat)
        keys[name] = flat.reshape(-1, 2) if width == 2 else flat
    return keys


def put_keys(curve: FCurve, keys: KeyArrays, left_as_added: Collection[str] = ()) -> None:
    """Replace an F-curve's keyframes, bit by bit; attributes `left_as_added` keep what a new keyframe has.

    There is no update(), which would move the handles of keyframes that are not ours.
    """
    points = curve.keyframe_points
    points.clear()
    points.add(len(keys["co"]))
    for name in _ATTRIBUTES:  # in their order
        if name not in left_as_added:
            points.foreach_set(name, keys[name].ravel())


def new_keys(
    frames: Sequence[float],
    values: np.ndarray[Any, Any],
    interpolation: str,
    kind: str,
    left: np.ndarray[Any, Any],
    right: np.ndarray[Any, Any],
) -> KeyArrays:
    """Return keyframes at `frames`, with handles a third of the way to their neighbours along the slopes on each side.

    `values` and the slopes `left` and `right` have a row for each frame and a column for each channel. Attributes in
    PER_CHANNEL have one more dimension in front, for the channels.
    """
    columns, count = values.shape[1], len(frames)
    times = np.asarray(frames, np.float64)
    steps = np.diff(times, prepend=times[0] - 1.0, append=times[-1] + 1.0)[:, None] / 3.0
    alike = _defaults(interpolation, kind)
    keys: KeyArrays = {
        name: np.full((columns, count) if name in PER_CHANNEL else count, number, _ATTRIBUTES[name][1])
        for name, number in alike.items()
    }
    for name, offset, slopes in (
        ("co", 0.0, left),
        ("handle_left", -steps[:-1], left),
        ("handle_right", steps[1:], right),
    ):
        points = np.empty((columns, count, 2), np.float32)
        points[:, :, 0] = (times[:, None] + offset).T
        points[:, :, 1] = (values + slopes * offset).T
        keys[name] = points
    return keys


def fitted_handles(left: np.ndarray[Any, Any], right: np.ndarray[Any, Any]) -> KeyArrays:
    """Return handle types that Blender leaves as they are; handles in one line stay so when they are edited."""
    aligned, free = enum_number("handle_left_type", "ALIGNED"), enum_number("handle_left_type", "FREE")
    types = np.where(left == right, aligned, free).T.astype(np.uint8)
    return {"handle_left_type": types, "handle_right_type": types}


def merge_keys(old: KeyArrays, new: KeyArrays, first: float, last: float, only: int | None = None) -> KeyArrays:
    """Merge the old keyframes outside the range with the new ones, in order of time.

    If `only` keyframes of that type are to be replaced, the others inside the range stay too, and new keyframes at
    their frames are dropped.
    """
    stays = ~in_range(old, first, last)
    if only is not None:
        stays |= old["type"] != only
    free = _apart(new["co"][:, 0], old["co"][stays, 0])
    order = np.argsort(np.concatenate((old["co"][stays, 0], new["co"][free, 0])), kind="stable")
    return {name: np.concatenate((column[stays], new[name][free]))[order] for name, column in old.items()}


def in_range(keys: KeyArrays, first: float, last: float) -> np.ndarray[Any, Any]:
    """Return a mask of the keyframes inside the range."""
    times = keys["co"][:, 0]
    inside: np.ndarray[Any, Any] = (times >= first - SAME_FRAME) & (times <= last + SAME_FRAME)
    return inside


@cache
def enum_number(prop: str, item: str) -> int:
    """Return the number that an enumeration property of keyframes has for an item."""
    return int(Keyframe.bl_rna.properties[prop].enum_items[item].value)


def _apart(times: np.ndarray[Any, Any], others: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """Return a mask of the times that are not among the sorted `others`."""
    others = np.concatenate(([-np.inf], others, [np.inf]))
    after = np.searchsorted(others, times)
    apart: np.ndarray[Any, Any] = np.minimum(others[after] - times, times - others[after - 1]) > SAME_FRAME
    return apart


def _defaults(interpolation: str, kind: str) -> dict[str, float]:
    """Return the attributes of a keyframe made by hand: selected, and ready for elastic and back easing."""
    handle = enum_number("handle_left_type", "AUTO_CLAMPED")
    plain = {name: 0 for name, (width, _) in _ATTRIBUTES.items() if width == 1}
    return {
        **plain,
        "interpolation": enum_number("interpolation", interpolation),
        "type": enum_number("type", kind),
        "handle_left_type": handle,
        "handle_right_type": handle,
        "amplitude": 0.8,
        "period": 4.1,
        "back": 1.70158,
        "select_control_point": True,
        "select_left_handle": True,
        "select_right_handle": True,
    }
